// Ctrl-C stops cleanly. The first SIGINT (or SIGTERM) only raises a flag that long work polls, so
// that finished measurements are printed and written. The second one ends the process at once.
// Threads: Interrupted() from any thread.
#pragma once

namespace schedq {

// Installs the handlers. The program calls it once, before other threads start.
void CatchInterrupts();

// True once a SIGINT or SIGTERM has arrived. One relaxed load: may be polled often.
bool Interrupted();

}  // namespace schedq
