// How the process ends before its time: a signal, a crash.
//
// Purpose: the first SIGINT, SIGTERM, SIGHUP or SIGPIPE (of stdout, without a reader) only raises a
// flag that long work polls, so that what was measured is printed and written. Work that does not
// poll is no excuse: kEndingMax after the first signal the process ends, wherever it is, and a
// second signal ends it at once.
// Threads: Interrupted() and InterruptSignal() from any thread; the rest from the main thread.
// Invariants:
//  1. However it ends but for SIGKILL, the process removes its temporary files and folders
//     (perf/files/leftovers.h) and kills the child that runs.
//  2. The exit code after a signal is 128 and the signal's number.
// Memory: static.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace schedq {

// From the first signal to the end of work that does not poll. A LastResort (bench/last_resort.h)
// acts after kPollingMax.
inline constexpr std::chrono::milliseconds kPollingMax{700};
inline constexpr std::chrono::milliseconds kEndingMax{1500};
// The exit code of a process that a signal ends is this and the signal's number.
inline constexpr int kSignalBase = 128;

// Installs the handlers. The program calls it once, before other threads start. SIGINT, SIGTERM and
// SIGHUP stay ignored where the process was started so.
void CatchInterrupts();

// True once such a signal has arrived. One relaxed load: may be polled often.
bool Interrupted();
// The first signal; 0: none has arrived.
int InterruptSignal();

// Blocks until a signal arrives or EndAwaiting is called.
void AwaitInterrupt();
void EndAwaiting();

// Lets the process end with this exit code after a time, whatever it does then.
void EndWithin(std::chrono::milliseconds time, int exit_code);

// Removes leftovers and kills the child. May be called in a signal handler.
void CleanUpBeforeEnd();

// The process group that is killed when this process ends early; 0: none.
void SetChildGroup(pid_t group);

}  // namespace schedq
