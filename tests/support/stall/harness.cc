#include "tests/support/stall/harness.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace schedq::stall {

namespace {

// Counts the victim's atomic steps and freezes it before step number `freeze_at`.
class StepFreezer final : public Freezer {
 public:
  explicit StepFreezer(uint64_t freeze_at) : freeze_at_(freeze_at) {}

  void Step() override {
    if (++steps_ != freeze_at_) return;
    std::unique_lock lock(mutex_);
    frozen_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
  }

  // The number of steps so far.
  uint64_t steps() const { return steps_; }

  bool AwaitFrozen(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return frozen_; });
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  const uint64_t freeze_at_;
  uint64_t steps_ = 0;  // Only the victim accesses it.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool frozen_ = false;
  bool released_ = false;
};

// The phase of a round; the harness writes it, and the round's threads read it.
enum class Phase : uint32_t { kBefore, kFrozen, kAfter };

class Round {
 public:
  Round(const Options& options, Subject& subject, uint32_t victim, uint64_t freeze_at)
      : options_(options),
        subject_(subject),
        victim_(victim),
        freezer_(freeze_at),
        done_(options.threads) {}

  // Returns what is wrong; empty: nothing.
  std::string Run() {
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < options_.threads; ++thread) {
      threads.emplace_back([this, thread] {
        if (thread == victim_) {
          RunVictim();
        } else {
          RunOtherThread(thread);
        }
      });
    }
    const bool frozen = freezer_.AwaitFrozen(options_.block_timeout);
    phase_.store(Phase::kFrozen);
    const std::string blocked = frozen ? AwaitOthers() : "the victim did not reach its step";
    phase_.store(Phase::kAfter);
    freezer_.Release();
    for (std::thread& thread : threads) thread.join();
    return blocked.empty() ? subject_.Check() : blocked;
  }

 private:
  void RunVictim() {
    freezer = &freezer_;
    for (uint64_t turn = 0; phase_.load() != Phase::kAfter; ++turn) {
      subject_.Operate(victim_, turn);
    }
    freezer = nullptr;
  }

  void RunOtherThread(uint32_t thread) {
    // Only an operation that began after the freeze counts.
    for (uint64_t turn = 0; phase_.load() != Phase::kAfter; ++turn) {
      const bool counts = phase_.load() == Phase::kFrozen;
      if (counts && done_[thread].load() >= options_.operations) return;
      subject_.Operate(thread, turn);
      if (counts) done_[thread].fetch_add(1);
    }
  }

  std::string AwaitOthers() {
    const auto give_up = std::chrono::steady_clock::now() + options_.block_timeout;
    for (uint32_t thread = 0; thread < options_.threads; ++thread) {
      while (thread != victim_ && done_[thread].load() < options_.operations) {
        if (std::chrono::steady_clock::now() > give_up) {
          return "thread " + std::to_string(thread) + " completed only " +
                 std::to_string(done_[thread].load()) + " of " +
                 std::to_string(options_.operations) + " operations while the victim was frozen";
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    return {};
  }

  const Options& options_;
  Subject& subject_;
  const uint32_t victim_;
  StepFreezer freezer_;
  std::atomic<Phase> phase_{Phase::kBefore};
  // The operations completed during the freeze; each thread writes its own element.
  std::vector<std::atomic<uint64_t>> done_;
};

// The number of atomic steps that a thread's first operations take when it runs alone.
uint64_t CountSteps(const Options& options, const MakeSubject& make_subject) {
  const std::unique_ptr<Subject> subject = make_subject();
  StepFreezer counter(0);
  freezer = &counter;
  for (uint64_t turn = 0; turn < options.operations_before_freeze; ++turn) {
    subject->Operate(0, turn);
  }
  freezer = nullptr;
  return counter.steps();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Report& report) {
  out << report.rounds << " rounds, " << report.operations
      << " operations while a thread was frozen, at steps up to " << report.steps_seen;
  return report.passed() ? out << ", passed" : out << "\n" << report.failure;
}

Report Run(const Options& options, const MakeSubject& make_subject) {
  Report report;
  const uint64_t steps = CountSteps(options, make_subject);
  if (steps == 0 || options.threads < 2) {
    report.failure = "nothing to freeze: the operations take no atomic step";
    return report;
  }
  std::mt19937_64 random(options.seed);
  for (uint32_t round = 0; round < options.rounds; ++round) {
    const auto victim = static_cast<uint32_t>(random() % options.threads);
    const uint64_t freeze_at = 1 + random() % steps;
    const std::unique_ptr<Subject> subject = make_subject();
    const std::string wrong = Round(options, *subject, victim, freeze_at).Run();
    ++report.rounds;
    if (!wrong.empty()) {
      report.failure = "round " + std::to_string(round) + " of seed " +
                       std::to_string(options.seed) + ", thread " + std::to_string(victim) +
                       " frozen before its step " + std::to_string(freeze_at) + ": " + wrong;
      return report;
    }
    report.operations += options.operations * (options.threads - 1);
    report.steps_seen = std::max(report.steps_seen, freeze_at);
  }
  return report;
}

}  // namespace schedq::stall
