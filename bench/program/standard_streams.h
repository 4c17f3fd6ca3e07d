// stdout and stderr that never fail while something is printed, and say at the end that they did.
//
// Purpose: what was measured is written to files even where the table cannot be shown: stdout is
// closed, its disk is full, or its reader has gone. A failure is remembered, and decides the exit
// code.
// Threads: TakeOverStreams is called once, before other threads start. The streams are stdio's.
#pragma once

namespace schedq {

// Replaces the stdio streams stdout and stderr. A descriptor that is closed is filled, so that no
// file which is opened later becomes stdout.
void TakeOverStreams();

// Writes out what is buffered. The errno of the first write to stdout that failed; 0: none did.
int FinishStdout();

}  // namespace schedq
