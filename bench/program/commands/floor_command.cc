#include "bench/program/commands/floor_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/lab/floor/floor.h"
#include "bench/program/command_line.h"
#include "bench/program/flag_values.h"
#include "bench/program/output_file.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/tables.h"
#include "perf/documents/document.h"
#include "perf/documents/environment.h"
#include "perf/documents/floor_document.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(90, [] { return std::make_unique<FloorCommand>(); });

std::vector<FloorProbe> Measure(FloorSize size) {
  ProgressLine line(std::vector<double>(2, 1));
  line.Next("preparing working sets");
  std::vector<FloorProbe> probes = AllProbes(size);
  line.Next("measuring");
  RunProbes(probes, size, [&line](int round, int rounds) {
    line.Show(fmt::format("round {} of {}", round, rounds));
  });
  return probes;
}

}  // namespace

CommandText FloorCommand::Text() const {
  CommandText text;
  text.name = "floor";
  text.purpose = "What this machine can do: atomics, cache misses, bandwidth, clock, kernel";
  text.examples = {{"schedq floor --quick", "The same in two seconds, with small working sets"}};
  return text;
}

void FloorCommand::Declare(CLI::App& app) {
  app.add_option("--json", json_path_, "Write floor.json here (docs/floor.schema.json)")
      ->type_name("FILE")
      ->check(SomeName());
  app.add_flag("--quick", is_quick_, "For CI: fewer repetitions, small working sets, 2 seconds");
  app.add_flag("--wide", is_wide_, "All columns of the table");
}

Result<ExitCode> FloorCommand::Run() {
  if (Status status = CheckFiles({{"--json", json_path_}}, {}); !status) return status.error();
  const EnvironmentRecorder recorder(CommandLineText());
  const std::vector<FloorProbe> probes = Measure(is_quick_ ? FloorSize::kQuick : FloorSize::kFull);

  FloorDocument document;
  for (const FloorProbe& probe : probes) {
    if (!probe.obstacle.empty()) {
      fmt::print(stderr, "not measured: {} ({})\n", probe.measurement.name, probe.obstacle);
    } else if (!probe.measurement.repetitions.empty()) {
      document.measurements.push_back(probe.measurement);
    }
  }
  document.environment = recorder.Finish();
  fmt::print("{}\n{}", MachineLine(document.environment),
             FloorTable(document, LayoutOf(STDOUT_FILENO, is_wide_)));
  if (!json_path_.empty() &&
      HasResultFor(json_path_, !document.measurements.empty(), !Interrupted())) {
    if (Status status = WriteDocument(document, ResultPath(json_path_, !Interrupted()));
        !status.ok())
      return status.error();
  }
  return ExitCode::kGood;
}

}  // namespace schedq
