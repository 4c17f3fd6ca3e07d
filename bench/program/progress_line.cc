#include "bench/program/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace schedq {

ProgressLine::ProgressLine() : is_watched_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Show(const std::string& text) {
  // \r returns to the start of the line, \033[K erases what was there.
  if (is_watched_) fmt::print(stderr, "\r\033[K{}", text);
}

void ProgressLine::Clear() { Show(""); }

}  // namespace schedq
