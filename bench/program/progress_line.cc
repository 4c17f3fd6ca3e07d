#include "bench/program/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "perf/text/table.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

// Nobody needs to know more exactly.
std::string RoughTime(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

}  // namespace

ProgressLine::ProgressLine(std::vector<double> weights)
    : is_watched_(IsTerminal(STDERR_FILENO)), weights_(std::move(weights)) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Next(const std::string& what) {
  step_ = std::min(step_ + 1, weights_.size());
  what_ = what;
  detail_.clear();
  Draw();
}

void ProgressLine::Show(const std::string& detail) {
  constexpr std::chrono::milliseconds kInterval{100};
  if (Clock::now() - drawn_ < kInterval) return;
  detail_ = detail;
  Draw();
}

void ProgressLine::Clear() {
  // \r returns to the start of the line, \033[K erases what was there.
  if (is_watched_ && step_ > 0) fmt::print(stderr, "\r\033[K");
}

// By what the steps before took; unknown during the first.
std::optional<double> ProgressLine::SecondsLeft() const {
  if (step_ < 2) return std::nullopt;
  const auto current = weights_.begin() + static_cast<std::ptrdiff_t>(step_) - 1;
  const double done = std::accumulate(weights_.begin(), current, 0.0);
  const double all = std::accumulate(current, weights_.end(), done);
  if (done <= 0) return std::nullopt;
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  return elapsed * (all - done) / done;
}

void ProgressLine::Draw() {
  if (!is_watched_) return;
  drawn_ = Clock::now();
  const std::string what = detail_.empty() ? what_ : what_ + ": " + detail_;
  const size_t width = TerminalColumns(STDERR_FILENO).value_or(0);
  fmt::print(stderr, "\r\033[K{}",
             ProgressText(step_, weights_.size(), what, SecondsLeft(), width));
}

std::string ProgressText(size_t step, size_t steps, const std::string& what,
                         std::optional<double> seconds_left, size_t width) {
  const std::string front = fmt::format("{}/{} ", step, steps);
  const std::string end =
      seconds_left ? fmt::format(", about {} left", RoughTime(*seconds_left)) : "";
  const size_t taken = front.size() + end.size() + 1;
  if (taken >= width) return Shortened(front + what, width == 0 ? 0 : width - 1);
  return front + Shortened(what, width - taken) + end;
}

}  // namespace schedq
