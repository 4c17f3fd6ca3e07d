// One line on stderr that is written over as work goes on; nothing where nobody watches.
//
// It says which step of how many is under way, and when the last one may end: "3/30
// Basic/500Nodes: 2.1 s of virtual time, about 20 s left". It never wraps.
// Threads: the main thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace schedq {

class ProgressLine {
 public:
  // How long each step takes, compared with the others.
  explicit ProgressLine(std::vector<double> weights);
  // Clears the line, so that what follows starts on a clean one.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The next step begins. Steps beyond the weights that were given are not counted.
  void Next(const std::string& what);
  // How far the step has come. Called often, it draws ten times a second.
  void Show(const std::string& detail);
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<double> SecondsLeft() const;
  void Draw();

  const bool is_watched_;
  const std::vector<double> weights_;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point drawn_{};
  size_t step_ = 0;  // From 1; 0 before the first.
  std::string what_;
  std::string detail_;
};

// The line in less than `width` columns: what does not fit of the middle is left out.
std::string ProgressText(size_t step, size_t steps, const std::string& what,
                         std::optional<double> seconds_left, size_t width);

}  // namespace schedq
