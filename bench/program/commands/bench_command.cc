#include "bench/program/commands/bench_command.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ios>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_driver.h"
#include "bench/lab/micro/suites.h"
#include "bench/last_resort.h"
#include "bench/program/command_line.h"
#include "bench/program/flag_values.h"
#include "bench/program/output_file.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/bars_report.h"
#include "bench/program/reports/tables.h"
#include "bench/program/usage_error.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/document.h"
#include "perf/documents/environment.h"
#include "perf/files/file_io.h"
#include "perf/text/pattern.h"
#include "perf/text/table.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(50, [] { return std::make_unique<BenchCommand>(); });

constexpr uint64_t kRounds = 7;
constexpr uint64_t kQuickRounds = 3;
// A group that takes longer has fewer rounds, unless a number of rounds was asked for.
constexpr std::chrono::seconds kPatience{15};
constexpr uint64_t kBarsRounds = 5;
constexpr uint64_t kQuickBarsRounds = 1;

void InitializeLibrary(const std::vector<std::string>& flags) {
  // The library keeps pointing at the first of them for its reports.
  static std::vector<std::string> texts;
  texts.assign(1, "schedq");
  texts.insert(texts.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  SCHEDQ_CHECK(count == 1, "google-benchmark refused a flag that was already judged");
}

void TellOnStderr(const Status& status) {
  if (!status) fmt::print(stderr, "schedq bench: {}\n", OneLine(status.error().message()));
}

}  // namespace

CommandText BenchCommand::Text() const {
  CommandText text;
  text.name = "bench";
  text.purpose = "Micro-benchmarks by area, with rivals in the same run";
  text.examples = {
      {"schedq bench --bars --quick", "What must be held, at tiny sizes", true},
      {"schedq bench engine/active_queue", "The cases whose name says so, with their rivals"},
      {"schedq bench --list", "The names of all cases"}};
  text.no = "an answer was wrong, or with --bars a path falls short of its bar";
  text.notes =
      "google-benchmark's own flags work too: --benchmark_filter,\n"
      "--benchmark_list_tests, --benchmark_repetitions (rounds; by default 7, but 3 at\n"
      "least once a group has taken 15 s), --benchmark_min_time, --benchmark_out.";
  return text;
}

void BenchCommand::Declare(CLI::App& app) {
  app_ = &app;
  app.add_option("regex", pattern_, "Run only cases whose full name it matches")
      ->type_name("REGEX");
  app.add_flag("--list", lists_, "Print the names of the cases and exit");
  app.add_flag("--bars", shows_bars_, "One table: what the product is held to; REGEX chooses rows");
  app.add_option("--json", json_path_,
                 "Write bench.json (or bars.json) here (docs/bench.schema.json, bars.schema.json)")
      ->type_name("FILE")
      ->check(SomeName());
  app.add_flag("--wide", is_wide_, "All columns of the tables, however wide they become");
  app.add_flag("--quick", is_quick_, "For CI: the same cases and checks at tiny sizes");
  AddSeedFlag(&app, &seed_, "Seed of the order in which rivals take turns");
  // For --benchmark_*; ReadFlags refuses everything else.
  app.allow_extras();
}

Result<ExitCode> BenchCommand::Run() {
  const Result<BenchmarkFlags> flags = ReadFlags();
  if (!flags.ok()) return flags.error();
  if (shows_bars_) return MeasureTheBars(flags.value());
  const Result<std::vector<Group>> groups = Select(flags.value());
  if (!groups.ok()) return groups.error();
  if (!lists_ && !flags.value().lists_tests) return Measure(groups.value(), flags.value());
  for (const Group& group : groups.value()) {
    for (const BenchmarkCase& one : group) fmt::print("{}\n", one.FullName());
  }
  return ExitCode::kGood;
}

Result<BenchmarkFlags> BenchCommand::ReadFlags() const {
  const std::vector<std::string> rest = app_->remaining();
  for (const std::string& argument : rest) {
    if (!IsBenchmarkFlag(argument)) return Error(UnknownArgument(*app_, argument));
  }
  Result<BenchmarkFlags> flags = ParseBenchmarkFlags(rest);
  if (!flags.ok()) return flags;
  const bool asks_for_cases = lists_ || flags->lists_tests || !flags->out.empty();
  if (shows_bars_ && asks_for_cases) {
    return Error("--bars: expected no --list and no --benchmark_out beside it");
  }
  if ((lists_ || flags->lists_tests) && !json_path_.empty()) {
    return Error("--json: expected no --list beside it, which measures nothing");
  }
  if (flags->filter && !pattern_.empty()) {
    return Error("--benchmark_filter: expected either it or REGEX, not both");
  }
  const Status files = CheckFiles({{"--json", json_path_}, {"--benchmark_out", flags->out}}, {});
  if (!files) return files.error();
  return flags;
}

Result<std::vector<BenchCommand::Group>> BenchCommand::Select(const BenchmarkFlags& flags) const {
  const std::string pattern = flags.filter.value_or(pattern_);
  const Result<Pattern> chosen = Pattern::Parse(pattern);
  if (!chosen) return chosen.error();
  std::vector<Group> groups;
  const BenchmarkList list = AllBenchmarks(is_quick_ ? BenchmarkSize::kTiny : BenchmarkSize::kFull);
  for (const BenchmarkCase& one : list.cases()) {
    if (!chosen->IsFoundIn(one.FullName())) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&one](const Group& group) {
      return group.front().group == one.group;
    });
    if (same == groups.end()) {
      groups.push_back({one});
    } else {
      same->push_back(one);
    }
  }
  if (groups.empty()) {
    return Error(
        fmt::format("'{}': matches no benchmark (schedq bench --list prints them)", pattern));
  }
  return groups;
}

BenchmarkRunOptions BenchCommand::OptionsOf(const BenchmarkFlags& flags, uint64_t rounds) const {
  BenchmarkRunOptions options;
  options.rounds = flags.rounds.value_or(rounds);
  if (!flags.rounds) options.group_time_max = kPatience;
  options.seed = seed_;
  options.chooses_operations = flags.has_min_time;
  return options;
}

Result<ExitCode> BenchCommand::MeasureTheBars(const BenchmarkFlags& flags) {
  BarsOptions options;
  options.pattern = flags.filter.value_or(pattern_);
  options.is_tiny = is_quick_;
  options.run = OptionsOf(flags, is_quick_ ? kQuickBarsRounds : kBarsRounds);
  InitializeLibrary(flags.passed_on);
  const EnvironmentRecorder recorder(CommandLineText());
  Record record;
  options.keep = [&record](const BarsDocument& measured) {
    const std::lock_guard lock(record.mutex);
    record.bars = measured;
  };
  std::vector<std::string> faults;
  {
    LastResort last_resort([&](EarlyEnd end) {
      // What ran out has its line on stderr.
      if (end == EarlyEnd::kShortage && record.bars.rows.empty()) return;
      TellOnStderr(FinishBars(recorder, /*is_whole=*/false, &record));
    });
    std::optional<Result<BarsDocument>> document;
    last_resort.Guard([&] { document.emplace(MeasureBars(options, &faults)); });
    if (!document->ok()) return document->error();
    last_resort.Disarm();
    record.bars = std::move(**document);
  }
  const Status written = FinishBars(recorder, !Interrupted(), &record);
  for (const std::string& fault : faults) fmt::print(stderr, "schedq bench: {}\n", fault);
  if (!written) return written.error();
  // Tiny sizes show that the table works; what they reach means nothing.
  const bool is_short = !is_quick_ && FallsShort(record.bars);
  if (is_short)
    fmt::print(stderr, "schedq bench: a path falls short of its bar; the table says which\n");
  return faults.empty() && !is_short ? ExitCode::kGood : ExitCode::kNo;
}

Status BenchCommand::FinishBars(const EnvironmentRecorder& recorder, bool is_whole,
                                Record* record) const {
  const std::lock_guard lock(record->mutex);
  record->bars.environment = recorder.Finish();
  fmt::print("{}\n{}", BarsText(record->bars, LayoutOf(STDOUT_FILENO, is_wide_)),
             MachineLine(record->bars.environment));
  std::fflush(stdout);
  const bool has_measured = !record->bars.rows.empty();
  if (json_path_.empty() || !HasResultFor(json_path_, has_measured, is_whole)) {
    return Status::Ok();
  }
  return WriteDocument(record->bars, ResultPath(json_path_, is_whole));
}

Result<ExitCode> BenchCommand::Measure(const std::vector<Group>& groups,
                                       const BenchmarkFlags& flags) {
  const BenchmarkRunOptions options = OptionsOf(flags, is_quick_ ? kQuickRounds : kRounds);
  InitializeLibrary(flags.passed_on);
  const EnvironmentRecorder recorder(CommandLineText());
  Record record;
  record.document.seed = options.seed;
  record.document.rounds = options.rounds;
  fmt::print("{}", MachineLine(recorder.Finish()));
  {
    LastResort last_resort([&](EarlyEnd end) {
      if (end == EarlyEnd::kShortage && record.document.cases.empty()) return;
      TellOnStderr(Finish(recorder, flags.out, /*is_whole=*/false, &record));
    });
    last_resort.Guard([&] { MeasureGroups(groups, options, !flags.out.empty(), &record); });
    last_resort.Disarm();
  }
  const Status written = Finish(recorder, flags.out, !Interrupted(), &record);
  for (const std::string& fault : record.faults) fmt::print(stderr, "schedq bench: {}\n", fault);
  if (!written) return written.error();
  return record.faults.empty() ? ExitCode::kGood : ExitCode::kNo;
}

void BenchCommand::MeasureGroups(const std::vector<Group>& groups,
                                 const BenchmarkRunOptions& options, bool has_mirror,
                                 Record* record) const {
  std::ostringstream mirror;
  // A stream keeps it to itself that memory runs out, and what it has is cut.
  mirror.exceptions(std::ios::badbit);
  const TableLayout layout = LayoutOf(STDOUT_FILENO, is_wide_);
  {
    BenchmarkDriver driver(options, has_mirror ? &mirror : nullptr);
    ProgressLine line(std::vector<double>(groups.size(), 1));
    for (const Group& group : groups) {
      if (Interrupted()) break;
      line.Next(group.front().group);
      BenchCase measured = driver.RunGroup(group, [&](const std::string&, uint64_t round) {
        line.Show(fmt::format("round {} of {}", round, options.rounds));
      });
      line.Clear();
      const std::string table = BenchTable(measured, layout);
      const std::lock_guard lock(record->mutex);
      fmt::print("\n{}", table);
      std::fflush(stdout);
      record->document.cases.push_back(std::move(measured));
      record->faults = driver.faults();
    }
  }
  // The driver's end completes it.
  const std::lock_guard lock(record->mutex);
  record->mirror = mirror.str();
}

Status BenchCommand::Finish(const EnvironmentRecorder& recorder, const std::string& mirror_path,
                            bool is_whole, Record* record) const {
  const std::lock_guard lock(record->mutex);
  record->document.environment = recorder.Finish();
  fmt::print("{}", BenchSummary(record->document, record->faults.size(),
                                LayoutOf(STDOUT_FILENO, is_wide_).width_max));
  std::fflush(stdout);
  Status written;
  if (!json_path_.empty() && HasResultFor(json_path_, !record->document.cases.empty(), is_whole)) {
    written = WriteDocument(record->document, ResultPath(json_path_, is_whole));
  }
  // Without its end it is no JSON.
  if (!record->mirror.empty()) {
    Status mirrored = WriteFileAtomically(ResultPath(mirror_path, is_whole), record->mirror);
    if (written.ok()) written = std::move(mirrored);
  }
  return written;
}

}  // namespace schedq
