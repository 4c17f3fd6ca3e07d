#include "bench/command/terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace schedq {
namespace {

bool MayColour(int file_descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return !refused && isatty(file_descriptor) == 1;
}

}  // namespace

bool ColourOnStdout() { return MayColour(STDOUT_FILENO); }
bool ColourOnStderr() { return MayColour(STDERR_FILENO); }
bool ProgressIsWatched() { return isatty(STDERR_FILENO) == 1; }

}  // namespace schedq
