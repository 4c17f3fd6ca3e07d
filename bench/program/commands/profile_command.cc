#include "bench/program/commands/profile_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "bench/interrupt.h"
#include "bench/kep/scenario/scenario.h"
#include "bench/lab/floor/floor.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/lab/profile/callgrind.h"
#include "bench/lab/profile/instruction_counts.h"
#include "bench/lab/profile/profiler.h"
#include "bench/last_resort.h"
#include "bench/memory_guard.h"
#include "bench/program/command_line.h"
#include "bench/program/flag_values.h"
#include "bench/program/output_file.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/profile_answer.h"
#include "bench/program/reports/profile_tables.h"
#include "bench/program/reports/tables.h"
#include "bench/program/reports/words.h"
#include "bench/program/usage_error.h"
#include "perf/documents/document.h"
#include "perf/documents/environment.h"
#include "perf/documents/scenario_document.h"
#include "perf/statistics/measurement.h"
#include "perf/text/number_text.h"
#include "perf/text/pattern.h"
#include "perf/text/table.h"
#include "perf/text/terminal.h"
#include "schedq/assembly_options.h"
#include "schedq/plugin_library.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(60, [] { return std::make_unique<ProfileCommand>(); });

const std::vector<uint64_t> kSizes = {1000,   2000,    5000,    10'000,  20'000,
                                      50'000, 100'000, 200'000, 500'000, 1'000'000};
const std::vector<uint64_t> kQuickSizes = {100, 200, 400};
constexpr uint64_t kSizeMax = 10'000'000;
constexpr uint64_t kRounds = 3;
constexpr uint64_t kRoundsMax = 1000;

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const ProfileKind& kind : AllProfileKinds()) names.push_back(kind.name);
  return names;
}

std::string KindsText() {
  std::string text = "Kinds:\n";
  for (const ProfileKind& kind : AllProfileKinds()) {
    text += fmt::format("  {:10} {}\n", kind.name, Wrapped(kind.summary, 66, 13));
  }
  text.pop_back();
  return text;
}

}  // namespace

CommandText ProfileCommand::Text() const {
  CommandText text;
  text.name = "profile";
  text.purpose = "Cost against size: fitted exponents, memory, and where the time goes";
  text.examples = {
      {"schedq profile requeue --quick", "Why requeueing is quadratic", true},
      {"schedq profile requeue", "The same up to a million pods, in minutes"},
      {"schedq profile backoff --only lockfree --sizes 1000,10000", "One engine, two sizes"}};
  text.no = "an answer was wrong, or a promise does not hold";
  text.notes = KindsText();
  return text;
}

void ProfileCommand::Declare(CLI::App& app) {
  std::string kinds;
  for (const std::string& name : KindNames()) kinds += (kinds.empty() ? "" : "|") + name;
  CLI::Option* const once =
      app.add_flag("--run-once", runs_once_,
                   "Run one series at one size and print what it did: for perf and debuggers");
  app.add_option("KIND", kind_, "What to profile")->type_name(kinds);
  app.add_option("--sizes", sizes_, "Values of N, ascending (1000 to 1000000 by default)")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(WholeNumber(1, kSizeMax));
  app.add_option("--only", only_, "Only series and scenarios whose name it matches")
      ->type_name("REGEX");
  app.add_option("--plugin", plugin_,
                 "requeue: of the first plugin of this shared library, not DynamicResources")
      ->type_name("FILE.so");
  app.add_option("--rounds", rounds_, "Runs of every series at every size (3 by default)")
      ->type_name("N")
      ->check(WholeNumber(1, kRoundsMax))
      ->excludes(once);
  app.add_option("--limit", limit_seconds_,
                 "A series stops before a size at which a run would take longer")
      ->type_name("SECONDS")
      ->check(FiniteNumber(/*is_above_zero=*/true));
  app.add_option(
         "--memory", memory_,
         "A series stops before a size that would take more; by default most of what is free")
      ->type_name("SIZE");
  AddSeedFlag(&app, &seed_, "Seed of scenarios, and of the order in which series take turns");
  app.add_flag("--callgrind", counts_instructions_,
               "Count instructions too, with valgrind: takes minutes")
      ->excludes(once);
  app.add_option("--json", json_path_, "Write profile.json here (docs/profile.schema.json)")
      ->type_name("FILE")
      ->check(SomeName())
      ->excludes(once);
  app.add_flag("--wide", is_wide_, "All columns of the tables, however wide they become");
  app.add_flag("--quick", is_quick_, "For CI: tiny sizes, no large scenarios, the same checks");
  app.add_option("--operations", operations_max_, "With --run-once: at most so many operations")
      ->type_name("N")
      ->check(WholeNumber(1))
      ->needs(once);
}

Result<ProfileKind> ProfileCommand::SelectKind() const {
  if (kind_.empty()) {
    return Error("a kind is missing; " + ExpectedOneOf("", KindNames()));
  }
  std::vector<ProfileKind> kinds = AllProfileKinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [this](const ProfileKind& kind) { return kind.name == kind_; });
  if (found == kinds.end()) {
    return Error(fmt::format("unknown kind '{}'; {}", kind_, ExpectedOneOf(kind_, KindNames())));
  }
  if (!plugin_.empty()) {
    Result<ProfileKind> of_plugin = KindOfPlugin();
    if (!of_plugin) return of_plugin.error();
    *found = std::move(*of_plugin);
  }
  const Result<Pattern> chosen = Pattern::Parse(only_);
  if (!chosen) return Error("--only " + chosen.error().message());
  std::string names;
  const auto is_unwanted = [&](const auto& one) {
    names += " " + one.name;
    return !chosen->IsFoundIn(one.name);
  };
  std::erase_if(found->subjects, is_unwanted);
  std::erase_if(found->scenarios, is_unwanted);
  if (is_quick_) {
    std::erase_if(found->scenarios, [](const Scenario& scenario) { return scenario.is_large; });
  }
  if (found->subjects.empty() && found->scenarios.empty()) {
    return Error(fmt::format("--only '{}': matches no series; there are:{}", only_, names));
  }
  return std::move(*found);
}

Result<ProfileKind> ProfileCommand::KindOfPlugin() const {
  if (kind_ != "requeue") return Error("--plugin: only profile requeue is about plugins");
  if (counts_instructions_) return Error("--callgrind: expected without --plugin");
  const auto refuse = [](const Error& error) { return Error("--plugin " + error.message()); };
  const Result<PluginLibrary> library = PluginLibrary::Load(plugin_);
  if (!library) return refuse(library.error());
  const Result<std::vector<PluginSource>> plugins = LoadFurtherPlugins({plugin_});
  if (!plugins) return refuse(plugins.error());
  if (!library->has_registrations().front()) {
    return Error(fmt::format("--plugin {}: plugin {} registers for no event, expected one at least",
                             plugin_, library->plugin_names().front()));
  }
  return RequeueProfileOf(*plugins, library->plugin_names().front());
}

Result<std::vector<uint64_t>> ProfileCommand::Sizes() const {
  const std::vector<uint64_t> sizes = !sizes_.empty() ? sizes_ : is_quick_ ? kQuickSizes : kSizes;
  const bool is_ascending =
      std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end();
  if (!is_ascending || sizes.front() == 0 || sizes.back() > kSizeMax) {
    return Error(fmt::format("--sizes: expected ascending numbers from 1 to {}", kSizeMax));
  }
  return sizes;
}

Result<ExitCode> ProfileCommand::Run() {
  const Result<ProfileKind> kind = SelectKind();
  if (!kind.ok()) return kind.error();
  const Result<std::vector<uint64_t>> sizes = Sizes();
  if (!sizes.ok()) return sizes.error();
  if (!memory_.empty()) {
    const Result<uint64_t> bytes = ParseBytes(memory_);
    if (!bytes) return Error("--memory " + bytes.error().message());
    memory_bytes_max_ = *bytes;
  }
  const Status files = CheckFiles({{"--json", json_path_}}, {{"--plugin", plugin_}});
  if (!files) return files.error();
  return runs_once_ ? RunOnce(*kind, *sizes) : Measure(*kind, *sizes);
}

Result<ExitCode> ProfileCommand::RunOnce(const ProfileKind& kind,
                                         const std::vector<uint64_t>& sizes) const {
  if (kind.subjects.size() != 1 || sizes.size() != 1) {
    return Error("--run-once: expected one series (--only) and one size (--sizes)");
  }
  const MeasuredPathRef path = kind.subjects.front().prepare(sizes.front(), operations_max_);
  RunCounted(*path);
  const PathOutcome outcome = path->Outcome();
  fmt::print("{}", RunOnceText(outcome));
  return outcome.fault == nullptr ? ExitCode::kGood : ExitCode::kNo;
}

namespace {

// A step is a size; larger ones take longer.
ProfilerResult ProfileSizes(const ProfileKind& kind, const ProfilerOptions& options) {
  ProgressLine line({options.sizes.begin(), options.sizes.end()});
  uint64_t current = 0;
  return Profile(kind, options, [&](const std::string& subject, uint64_t size, uint64_t round) {
    if (size != current) line.Next("N " + CountText(size));
    current = size;
    line.Show(fmt::format("round {} of {}, {}", round, options.rounds, subject));
  });
}

bool HasMeasured(const ProfileDocument& document) {
  return !document.scenarios.empty() ||
         std::any_of(document.series.begin(), document.series.end(),
                     [](const ProfileSeries& series) { return !series.points.empty(); });
}

// What a random read costs within working sets of several sizes.
std::vector<Measurement> MeasureMisses(bool is_quick) {
  const FloorSize size = is_quick ? FloorSize::kQuick : FloorSize::kFull;
  ProgressLine line({1});
  line.Next("what a cache miss costs here");
  std::vector<FloorProbe> probes;
  AddMemoryProbes(probes, size);
  std::erase_if(probes,
                [](const FloorProbe& probe) { return probe.measurement.name != "random_miss"; });
  RunProbes(probes, size, [](int, int) {});
  std::vector<Measurement> misses;
  for (FloorProbe& probe : probes) misses.push_back(std::move(probe.measurement));
  return misses;
}

}  // namespace

Result<bool> ProfileCommand::MeasureSeries(const ProfileKind& kind,
                                           const std::vector<uint64_t>& sizes,
                                           Record* record) const {
  ProfilerOptions options;
  options.sizes = sizes;
  options.rounds = record->document.rounds;
  options.seed = seed_;
  options.run_seconds_max = limit_seconds_;
  options.memory_bytes_max = memory_bytes_max_;
  options.keep = [record](std::vector<ProfileSeries> finished) {
    const std::lock_guard lock(record->mutex);
    record->document.series = std::move(finished);
  };
  ProfilerResult result = ProfileSizes(kind, options);
  if (counts_instructions_) {
    ProgressLine line(std::vector<double>(kind.subjects.size() * sizes.size(), 1));
    const Status counted =
        AddInstructions(kind.name, &result, [&](const std::string& subject, uint64_t size) {
          line.Next(fmt::format("counting instructions: {} at {}", subject, CountText(size)));
        });
    if (!counted.ok()) return counted.error();
  }
  {
    const std::lock_guard lock(record->mutex);
    record->document.series = std::move(result.series);
    if (counts_instructions_) {
      record->document.verdicts = JudgeInstructions(kind.promises, record->document.series);
    }
  }
  // Only this thread changes the document, so that it may read it without the lock.
  ShowSeries(record->document, kind);
  {
    const std::lock_guard lock(record->mutex);
    record->shows_series = false;
  }
  for (const std::string& fault : result.faults) {
    fmt::print(stderr, "schedq profile: {}\n", fault);
  }
  return result.faults.empty();
}

void ProfileCommand::ShowSeries(const ProfileDocument& document, const ProfileKind& kind) const {
  const TableLayout layout = LayoutOf(STDOUT_FILENO, is_wide_);
  fmt::print("{}", ProfileAnswer(document, kind, layout.width_max));
  if (TimeOutgrowsWork(document) && !Interrupted()) {
    fmt::print("{}", WhyTimeOutgrowsWork(MeasureMisses(is_quick_), layout.width_max));
  }
  fmt::print("\n{}", ProfileText(document, kind, layout));
  std::fflush(stdout);
}

void ProfileCommand::Play(const ProfileKind& kind, Record* record) const {
  ProgressLine line(std::vector<double>(kind.scenarios.size(), 1));
  std::vector<ScenarioResult> scenarios;
  std::vector<PromiseVerdict> verdicts = record->document.verdicts;
  const auto keep = [&] {
    const std::lock_guard lock(record->mutex);
    record->document.scenarios = scenarios;
    record->document.verdicts = verdicts;
  };
  const auto announce = [&](const std::string& name) {
    keep();
    line.Next(name);
  };
  PlayScenarios(kind.scenarios, {.seed = seed_}, {announce, Interrupted}, &scenarios, &verdicts);
  keep();
}

Status ProfileCommand::MeasureAll(const ProfileKind& kind, const std::vector<uint64_t>& sizes,
                                  Record* record, bool* is_right) const {
  if (!kind.subjects.empty()) {
    const Result<bool> measured = MeasureSeries(kind, sizes, record);
    if (!measured.ok()) return measured.error();
    *is_right = *measured;
  }
  Play(kind, record);
  return Status::Ok();
}

Result<ExitCode> ProfileCommand::Measure(const ProfileKind& kind,
                                         const std::vector<uint64_t>& sizes) const {
  const EnvironmentRecorder recorder(CommandLineText());
  Record record;
  record.document.kind = kind.name;
  record.document.seed = seed_;
  record.document.rounds = rounds_ != 0 ? rounds_ : kRounds;
  record.shows_series = !kind.subjects.empty();
  bool is_right = true;
  {
    LastResort last_resort([&](EarlyEnd end) {
      // What ran out has its line on stderr.
      if (end == EarlyEnd::kShortage && !HasMeasured(record.document)) return;
      FinishUnended(kind, recorder, &record);
    });
    Status measured;
    last_resort.Guard([&] { measured = MeasureAll(kind, sizes, &record, &is_right); });
    if (!measured) return measured.error();
    last_resort.Disarm();
  }
  if (Status status = Finish(recorder, !Interrupted(), &record.document); !status) {
    return status.error();
  }
  for (const PromiseVerdict& verdict : record.document.verdicts) {
    if (!verdict.holds) fmt::print(stderr, "schedq profile: {}\n", VerdictLine(verdict));
  }
  return is_right && AllHold(record.document.verdicts) ? ExitCode::kGood : ExitCode::kNo;
}

Status ProfileCommand::Finish(const EnvironmentRecorder& recorder, bool is_whole,
                              ProfileDocument* document) const {
  const TableLayout layout = LayoutOf(STDOUT_FILENO, is_wide_);
  const std::string tables = ScenarioTables(document->scenarios, layout);
  fmt::print("\n{}{}{}", VerdictLines(document->verdicts, layout.width_max), tables,
             WordsOf(tables, layout.width_max));
  document->environment = recorder.Finish();
  fmt::print("\n{}", MachineLine(document->environment));
  std::fflush(stdout);
  if (json_path_.empty() || !HasResultFor(json_path_, HasMeasured(*document), is_whole)) {
    return Status::Ok();
  }
  return WriteDocument(*document, ResultPath(json_path_, is_whole));
}

void ProfileCommand::FinishUnended(const ProfileKind& kind, const EnvironmentRecorder& recorder,
                                   Record* record) const {
  const std::lock_guard lock(record->mutex);
  if (IsTerminal(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
  if (record->shows_series && !record->document.series.empty()) {
    for (ProfileSeries& series : record->document.series) series.fits = FitSeries(series);
    ShowSeries(record->document, kind);
  }
  const Status status = Finish(recorder, /*is_whole=*/false, &record->document);
  if (!status) fmt::print(stderr, "schedq profile: {}\n", OneLine(status.error().message()));
}

}  // namespace schedq
