#include "bench/program/commands/scale_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/floor/floor.h"
#include "bench/lab/scale/scale_curve.h"
#include "bench/last_resort.h"
#include "bench/program/command_line.h"
#include "bench/program/flag_values.h"
#include "bench/program/output_file.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/scale_report.h"
#include "bench/program/reports/tables.h"
#include "bench/program/usage_error.h"
#include "perf/documents/document.h"
#include "perf/documents/environment.h"
#include "perf/text/pattern.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(95, [] { return std::make_unique<ScaleCommand>(); });

constexpr uint64_t kOperations = 20'000;
constexpr uint64_t kQuickOperations = 1000;
constexpr uint64_t kMeasuredOperations = 100'000;
constexpr uint32_t kRounds = 5;
constexpr uint32_t kQuickRounds = 1;

std::string NameOf(const scale::ScaleContestant& contestant) {
  return contestant.path + "/" + contestant.name;
}

}  // namespace

CommandText ScaleCommand::Text() const {
  CommandText text;
  text.name = "scale";
  text.purpose = "What operations move between cores, and what 1 to 128 threads would do";
  text.examples = {
      {"schedq scale --quick", "All paths with few operations: counts are nearly the same"},
      {"schedq scale pairs", "The strict queue beside a locked and a combining heap"}};
  text.notes =
      "Counts come from the operations' own code on virtual threads and a model of\n"
      "coherence; they depend on the seed only. Times follow from them by the formula\n"
      "that is printed, with this machine's figures, and stand beside measurements at\n"
      "one and two threads. A \"rendered\" rival is its lock and its shared lines.";
  return text;
}

void ScaleCommand::Declare(CLI::App& app) {
  app.add_option("regex", pattern_, "Draw only curves whose name, PATH/CONTESTANT, it matches")
      ->type_name("REGEX");
  app.add_flag("--list", lists_, "Print the names of the curves and exit");
  app.add_option("--json", json_path_, "Write scale.json here (docs/scale.schema.json)")
      ->type_name("FILE")
      ->check(SomeName());
  app.add_flag("--quick", is_quick_, "For CI: fewer operations, one repetition");
  app.add_flag("--wide", is_wide_, "All columns of the tables");
  AddSeedFlag(&app, &seed_, "Seed of priorities and interleavings");
}

Result<std::vector<scale::ScaleContestant>> ScaleCommand::Select() const {
  const Result<Pattern> chosen = Pattern::Parse(pattern_);
  if (!chosen) return chosen.error();
  std::vector<scale::ScaleContestant> contestants;
  for (scale::ScaleContestant& one : scale::AllContestants()) {
    if (chosen->IsFoundIn(NameOf(one))) contestants.push_back(std::move(one));
  }
  if (contestants.empty()) {
    return Error(fmt::format("'{}': matches no curve (schedq scale --list prints them)", pattern_));
  }
  return contestants;
}

Result<ExitCode> ScaleCommand::Run() {
  const auto contestants = Select();
  if (!contestants.ok()) return contestants.error();
  if (lists_) {
    if (!json_path_.empty()) {
      return Error("--json: expected no --list beside it, which counts nothing");
    }
    for (const scale::ScaleContestant& one : *contestants) fmt::print("{}\n", NameOf(one));
    return ExitCode::kGood;
  }
  if (Status status = CheckFiles({{"--json", json_path_}}, {}); !status) return status.error();
  const EnvironmentRecorder recorder(CommandLineText());
  Record record;
  record.document.seed = seed_;
  {
    LastResort last_resort([&](EarlyEnd end) {
      // What ran out has its line on stderr.
      if (end == EarlyEnd::kShortage && record.document.curves.empty()) return;
      if (IsTerminal(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
      if (Status status = Finish(recorder, /*is_whole=*/false, &record); !status) {
        fmt::print(stderr, "schedq scale: {}\n", OneLine(status.error().message()));
      }
    });
    last_resort.Guard([&] { Draw(*contestants, &record); });
    last_resort.Disarm();
  }
  if (Status status = Finish(recorder, !Interrupted(), &record); !status) return status.error();
  return ExitCode::kGood;
}

Status ScaleCommand::Finish(const EnvironmentRecorder& recorder, bool is_whole,
                            Record* record) const {
  const std::lock_guard lock(record->mutex);
  ScaleDocument& document = record->document;
  document.environment = recorder.Finish();
  fmt::print("{}\n{}", MachineLine(document.environment),
             ScaleText(document, LayoutOf(STDOUT_FILENO, is_wide_)));
  std::fflush(stdout);
  if (json_path_.empty() || !HasResultFor(json_path_, !document.curves.empty(), is_whole)) {
    return Status::Ok();
  }
  return WriteDocument(document, ResultPath(json_path_, is_whole));
}

std::vector<Measurement> ScaleCommand::MeasureFloor() const {
  ProgressLine line(std::vector<double>(1, 1));
  line.Next("measuring the machine");
  const FloorSize size = FloorSize::kQuick;
  std::vector<FloorProbe> probes;
  AddAtomicProbes(probes, size);
  AddMemoryProbes(probes, size);
  RunProbes(probes, size, [](int, int) {});
  std::vector<Measurement> floor;
  for (const FloorProbe& probe : probes) {
    if (!probe.obstacle.empty()) {
      fmt::print(stderr, "not measured: {} ({})\n", probe.measurement.name, probe.obstacle);
    } else if (!probe.measurement.repetitions.empty()) {
      floor.push_back(probe.measurement);
    }
  }
  return floor;
}

void ScaleCommand::Draw(const std::vector<scale::ScaleContestant>& contestants,
                        Record* record) const {
  std::vector<Measurement> floor = MeasureFloor();
  if (Interrupted()) return;
  scale::CurveOptions options;
  options.operations = is_quick_ ? kQuickOperations : kOperations;
  options.measured_operations = is_quick_ ? kQuickOperations : kMeasuredOperations;
  options.rounds = is_quick_ ? kQuickRounds : kRounds;
  options.seed = seed_;
  options.costs = scale::UnitCostsFrom(floor);
  if (options.costs) {
    const std::lock_guard lock(record->mutex);
    record->document.floor = std::move(floor);
  } else {
    fmt::print(stderr, "no times: they need figures that this machine could not measure\n");
  }
  ProgressLine line(std::vector<double>(contestants.size(), 1));
  for (const scale::ScaleContestant& one : contestants) {
    if (Interrupted()) return;
    line.Next(NameOf(one));
    scale::DrawnCurve curve = scale::DrawCurve(
        one, options, [&line](uint32_t threads) { line.Show(fmt::format("{} threads", threads)); });
    if (curve.counts.points.empty()) return;  // Interrupted.
    const std::lock_guard lock(record->mutex);
    record->document.curves.push_back(std::move(curve.counts));
    if (options.costs) record->document.times.push_back(std::move(curve.times));
  }
}

}  // namespace schedq
