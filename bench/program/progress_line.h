// One line on stderr that is written over as work goes on; nothing where nobody watches.
//
// It says which step of how many is under way, and when the last one may end: "3/30
// Basic/500Nodes: 2.1 s of virtual time, about 20 s left". Of steps side by side it names all, and
// counts those that have begun. It never wraps.
// Threads: Begin, Show of a step and End from any; the rest from the main thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
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

  // The next step begins, and the one before has ended. Steps beyond the weights that were given
  // are not counted.
  void Next(const std::string& what);
  // How far that step has come. Called often, it draws ten times a second.
  void Show(const std::string& detail) { Show(next_ - 1, detail); }

  // The same for steps side by side, by their numbers from 0.
  void Begin(size_t step, const std::string& what);
  void Show(size_t step, const std::string& detail);
  void End(size_t step);

  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  struct Step {
    std::string what;
    std::string detail;
  };

  // All three under the lock.
  std::optional<double> SecondsLeft() const;
  std::string StepsUnderWay() const;
  void Draw();

  const bool is_watched_;
  const std::vector<double> weights_;
  const Clock::time_point started_ = Clock::now();
  size_t next_ = 0;  // The step that Next begins.

  std::mutex mutex_;  // Guards the members below.
  Clock::time_point drawn_{};
  std::map<size_t, Step> under_way_;
  size_t begun_ = 0;  // Steps that are or were under way.
  double done_ = 0;   // Weights of the steps that have ended.
};

// The line in less than `width` columns: what does not fit of the middle is left out.
std::string ProgressText(size_t step, size_t steps, const std::string& what,
                         std::optional<double> seconds_left, size_t width);

}  // namespace schedq
