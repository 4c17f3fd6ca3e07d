// Ctrl-C stops cleanly: the first SIGINT (or SIGTERM) only raises a flag that long work polls, so
// that what was measured is printed and written; the second one ends the process at once.
// Threads: Interrupted() from any thread.
#pragma once

namespace schedq {

// Installs the handlers. Called once, by the program, before other threads start.
void CatchInterrupts();

// True once a SIGINT or SIGTERM has arrived. One relaxed load: may be polled often.
bool Interrupted();

}  // namespace schedq
