// What the standard streams are connected to.
#pragma once

namespace schedq {

// Whether results on stdout, or progress on stderr, may be coloured: a terminal, and no NO_COLOR.
bool ColourOnStdout();
bool ColourOnStderr();

// Whether a person watches stderr, so that progress is worth printing.
bool ProgressIsWatched();

}  // namespace schedq
