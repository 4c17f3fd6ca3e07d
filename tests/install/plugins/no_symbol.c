/* Without the entry symbol. */
int something_else(void);
int something_else(void) { return 1; }
