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
  if (next_ > 0) End(next_ - 1);
  Begin(next_++, what);
}

void ProgressLine::Begin(size_t step, const std::string& what) {
  const std::lock_guard lock(mutex_);
  const bool is_new = under_way_.insert_or_assign(step, Step{what, ""}).second;
  if (is_new) begun_ = std::min(begun_ + 1, weights_.size());
  Draw();
}

void ProgressLine::Show(size_t step, const std::string& detail) {
  constexpr std::chrono::milliseconds kInterval{100};
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(step);
  if (found == under_way_.end()) return;
  found->second.detail = detail;
  if (Clock::now() - drawn_ >= kInterval) Draw();
}

void ProgressLine::End(size_t step) {
  const std::lock_guard lock(mutex_);
  if (under_way_.erase(step) > 0 && step < weights_.size()) done_ += weights_[step];
}

void ProgressLine::Clear() {
  const std::lock_guard lock(mutex_);
  // \r returns to the start of the line, \033[K erases what was there.
  if (is_watched_ && begun_ > 0) fmt::print(stderr, "\r\033[K");
}

// By what the steps before took; unknown until one has ended.
std::optional<double> ProgressLine::SecondsLeft() const {
  if (done_ <= 0) return std::nullopt;
  const double all = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  return elapsed * std::max(0.0, all - done_) / done_;
}

std::string ProgressLine::StepsUnderWay() const {
  std::string text;
  for (const auto& [number, step] : under_way_) {
    if (!text.empty()) text += "; ";
    text += step.detail.empty() ? step.what : step.what + ": " + step.detail;
  }
  return text;
}

void ProgressLine::Draw() {
  if (!is_watched_) return;
  drawn_ = Clock::now();
  // As wide as a table may be: steps side by side have long names together.
  constexpr size_t kWidthMax = 100;
  const size_t width = std::min(TerminalColumns(STDERR_FILENO).value_or(0), kWidthMax);
  fmt::print(stderr, "\r\033[K{}",
             ProgressText(begun_, weights_.size(), StepsUnderWay(), SecondsLeft(), width));
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
