#include "tests/support/model/explore.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <system_error>

#include "engine/base/sanitizers.h"
#include "tests/support/model/choice.h"
#include "tests/support/model/clock.h"
#include "tests/support/model/search.h"

namespace schedq::model {

namespace {

constexpr uint32_t kUnbounded = 1'000'000;
constexpr size_t kTraceLinesMax = 100;
constexpr char kReplayVariable[] = "SCHEDQ_MODEL_REPLAY";

// During its lifetime an abort or a fault in a run fails the run and does not end the process.
class CrashGuard {
 public:
  CrashGuard() {
    struct sigaction action {};
    action.sa_handler = &Handle;
    // The handler never returns, because it leaves the fiber. The signal must therefore stay
    // unblocked.
    action.sa_flags = SA_NODEFER;
    for (size_t i = 0; i < kSignals; ++i) sigaction(signals_[i], &action, &before_[i]);
  }
  ~CrashGuard() {
    for (size_t i = 0; i < kSignals; ++i) sigaction(signals_[i], &before_[i], nullptr);
  }
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  static void Handle(int signal) {
    if (Runtime* run = Runtime::Current()) {
      run->Fail(FailureKind::kCheck, signal == SIGABRT ? "the code aborted (see stderr)"
                                                       : "the code touched memory it may not");
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }

#if defined(SCHEDQ_ADDRESS_SANITIZER)
  static constexpr size_t kSignals = 1;  // AddressSanitizer reports faults.
#elif defined(SCHEDQ_THREAD_SANITIZER)
  static constexpr size_t kSignals = 0;  // ThreadSanitizer requires handlers to return.
#else
  static constexpr size_t kSignals = 3;
#endif
  static constexpr int signals_[3] = {SIGABRT, SIGSEGV, SIGBUS};
  struct sigaction before_[kSignals];
};

// A recorded schedule: "<name>:<choices>", or with a frozen thread "<name>@<thread>.<step>:...".
struct Recording {
  Freeze freeze;
  std::vector<uint8_t> choices;
};

std::string FormatRecording(const std::string& name, Freeze freeze,
                            const std::vector<uint8_t>& choices) {
  std::string text = name;
  if (freeze.step != 0) {
    text += '@' + std::to_string(freeze.thread) + '.' + std::to_string(freeze.step);
  }
  return text + ':' + FormatChoices(choices);
}

bool ParseFreeze(std::string_view text, Freeze& freeze) {
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, freeze.thread);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '.') return false;
  parsed = std::from_chars(parsed.ptr + 1, end, freeze.step);
  return parsed.ec == std::errc() && parsed.ptr == end && freeze.thread < kFibersMax;
}

// The schedule that the environment asks for; nullopt where it is of another exploration.
std::optional<Recording> RecordingFor(const std::string& name) {
  const char* value = std::getenv(kReplayVariable);
  if (value == nullptr || name.empty()) return std::nullopt;
  std::string_view text = value;
  if (text.substr(0, name.size()) != name) return std::nullopt;
  text.remove_prefix(name.size());
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || (colon > 0 && text[0] != '@')) return std::nullopt;
  Recording recording;
  const bool fine = (colon == 0 || ParseFreeze(text.substr(1, colon - 1), recording.freeze)) &&
                    ParseChoices(text.substr(colon + 1), recording.choices);
  if (!fine) {
    std::cerr << kReplayVariable << ": expected <name>[@<thread>.<step>]:<choices>, found '"
              << value << "'\n";
    std::exit(2);
  }
  return recording;
}

// Explores one body; Exhaust, Sweep and ExhaustStalls give it different choosers.
class Explorer {
 public:
  Explorer(const Options& options, const Body& body, bool sweeps)
      : options_(options),
        budgets_{sweeps || Search::Wanted().Draws() ? kUnbounded : options.preemptions_max,
                 sweeps ? kUnbounded : options.stale_reads_max, options.early_returns_max,
                 options.weak_failures_max, options.steps_max},
        body_([this, &body] {
          Trial trial(runtime_);
          body(trial);
        }) {
    report_.name = options.name;
  }

  // Runs the chooser's schedules, at most `schedules_max`. Returns true when all of them were run
  // and passed.
  bool Explore(Chooser& chooser, Freeze freeze, uint64_t schedules_max) {
    for (uint64_t count = 1;; ++count) {
      if (!RunOnce(chooser, freeze)) return false;
      if (!chooser.Next()) return true;
      if (count >= schedules_max) return false;
    }
  }

  // Runs a recorded schedule and prints its steps.
  void Repeat(const Recording& recording) {
    Replay replay(recording.choices);
    RunOnce(replay, recording.freeze);
    std::cerr << "schedule of " << options_.name << ":\n";
    for (const std::string& line : runtime_.trace()) std::cerr << line << '\n';
  }

  const Outcome& last() const { return last_; }
  // Whether a schedule since ForgetFreezes() froze a thread.
  bool froze() const { return froze_; }
  void ForgetFreezes() { froze_ = false; }
  Report& report() { return report_; }
  Report Finish() {
    report_.observations = runtime_.observations();
    return std::move(report_);
  }

 private:
  bool RunOnce(Chooser& chooser, Freeze freeze) {
    last_ = runtime_.Execute(body_, chooser, budgets_, freeze, options_.heap_policy, false);
    ++report_.schedules;
    froze_ |= last_.froze;
    if (last_.steps > report_.steps_most) report_.steps_most = last_.steps;
    Search::Wanted().Count(last_.failed);
    if (last_.failed) Describe(chooser, freeze);
    return !last_.failed;
  }

  // Runs the failed schedule once more for its trace.
  void Describe(Chooser& chooser, Freeze freeze) {
    const std::vector<uint8_t> choices = runtime_.choices();
    Failure failure;
    failure.kind = last_.kind;
    failure.message = last_.message;
    failure.replay = FormatRecording(options_.name, freeze, choices);
    if (auto* seeded = dynamic_cast<Seeded*>(&chooser)) failure.seed = seeded->seed();
    Replay replay(choices);
    const Observations before = runtime_.observations();
    const Outcome again =
        runtime_.Execute(body_, replay, budgets_, freeze, options_.heap_policy, true);
    runtime_.observations() = before;
    failure.trace = runtime_.trace();
    if (!again.failed || again.kind != failure.kind) {
      failure.message += " (and the same choices led elsewhere when run again)";
    }
    report_.failure = std::move(failure);
  }

  const Options& options_;
  const Budgets budgets_;
  const CrashGuard crash_guard_;
  Runtime runtime_;
  Runtime::Body body_;
  Outcome last_;
  bool froze_ = false;
  Report report_;
};

// Draws schedules as the environment asks, with a thread frozen at a step that is drawn too, or
// with none.
Report DrawSchedules(Explorer* explorer, bool freezes) {
  const Search& search = Search::Wanted();
  const bool is_random = search.way == Search::Way::kRandom;
  // Odd seeds switch at random, even ones have priorities (choice.h).
  Seeded chooser(2 * search.first_seed + (is_random ? 1 : 0), /*stride=*/2);
  Draw draw(search.first_seed);
  Freeze freeze;
  for (uint64_t i = 0; i < search.schedules; ++i) {
    explorer->Explore(chooser, freeze, 1);
    if (!freezes) continue;
    // A thread that ends before the step is not frozen.
    const Outcome& last = explorer->last();
    if (last.threads < 2) continue;
    freeze = {1 + draw.Below(last.threads - 1), 1 + draw.Below(last.steps)};
  }
  // Not to end a test that goes on to its next exploration only then.
  explorer->report().complete = true;
  return explorer->Finish();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Report& report) {
  out << report.name << ": " << report.schedules << " schedules of up to " << report.steps_most
      << " steps" << (report.complete ? ", all within the bounds" : "");
  if (report.freezes > 0) out << ", " << report.freezes << " freezes";
  if (!report.failure) return out << ", passed\n";
  const Failure& failure = *report.failure;
  out << "\n" << FailureName(failure.kind) << ": " << failure.message << "\n";
  if (failure.seed) out << "seed " << *failure.seed << "\n";
  out << "replay with " << kReplayVariable << "='" << failure.replay << "' "
      << program_invocation_name;
  if (const auto* test = testing::UnitTest::GetInstance()->current_test_info()) {
    out << " --gtest_filter=" << test->test_suite_name() << "." << test->name();
  }
  out << "\n";
  const size_t lines = failure.trace.size();
  const size_t skipped = lines > kTraceLinesMax ? lines - kTraceLinesMax : 0;
  if (skipped > 0) out << "(" << skipped << " earlier lines; a replay prints all)\n";
  for (size_t i = skipped; i < lines; ++i) out << failure.trace[i] << "\n";
  return out;
}

Report Exhaust(const Options& options, const Body& body) {
  Explorer explorer(options, body, false);
  if (const auto recording = RecordingFor(options.name)) {
    explorer.Repeat(*recording);
    return explorer.Finish();
  }
  if (Search::Wanted().Draws()) return DrawSchedules(&explorer, /*freezes=*/false);
  DepthFirst chooser;
  explorer.report().complete = explorer.Explore(chooser, Freeze{}, options.schedules_max);
  return explorer.Finish();
}

Report Sweep(const Options& options, uint64_t schedules, const Body& body) {
  Explorer explorer(options, body, true);
  if (const auto recording = RecordingFor(options.name)) {
    explorer.Repeat(*recording);
    return explorer.Finish();
  }
  if (Search::Wanted().Draws()) return DrawSchedules(&explorer, /*freezes=*/false);
  Seeded chooser(options.seed);
  explorer.Explore(chooser, Freeze{}, schedules);
  return explorer.Finish();
}

Report ExhaustStalls(const Options& options, const Body& body) {
  Explorer explorer(options, body, false);
  if (const auto recording = RecordingFor(options.name)) {
    explorer.Repeat(*recording);
    return explorer.Finish();
  }
  if (Search::Wanted().Draws()) return DrawSchedules(&explorer, /*freezes=*/true);
  Report& report = explorer.report();
  report.complete = true;
  for (uint32_t victim = 1; victim < kFibersMax; ++victim) {
    // The loop ends at a step that no schedule reaches, or at a thread that does not exist.
    for (uint32_t step = 1;; ++step) {
      DepthFirst chooser;
      explorer.ForgetFreezes();
      if (!explorer.Explore(chooser, {victim, step}, options.schedules_max)) {
        report.complete = false;
      }
      if (!report.passed() || victim >= explorer.last().threads) return explorer.Finish();
      if (!explorer.froze()) break;
      ++report.freezes;
    }
  }
  return explorer.Finish();
}

uint32_t PreemptionsOr(uint32_t usual) {
  const char* wanted = std::getenv("SCHEDQ_MODEL_PREEMPTIONS");
  return wanted == nullptr ? usual : static_cast<uint32_t>(std::atoi(wanted));
}

void FailCheck(const char* file, int line, const char* condition, const std::string& message) {
  Runtime* run = Runtime::Current();
  if (run == nullptr) std::abort();
  run->Fail(FailureKind::kCheck,
            std::string(file) + ":" + std::to_string(line) + ": " + condition + ": " + message);
}

}  // namespace schedq::model
