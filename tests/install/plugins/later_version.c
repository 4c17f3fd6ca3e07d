/* For another version of the interface. */
#include <schedq/schedq.h>

const schedq_plugin_library* schedq_plugin_library_v1(void) {
  static const schedq_plugin_library library = {.size = sizeof(library), .abi_version = 7};
  return &library;
}
