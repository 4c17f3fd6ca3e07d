#include "bench/command/dispatch_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "bench/command/progress_line.h"
#include "bench/dispatch/dispatch_report.h"
#include "perf/table.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(55, [] { return std::make_unique<DispatchCommand>(); });

}  // namespace

std::string DispatchCommand::Summary() const {
  return "What reporting to the API server costs and shows: KEP-5501's models, KEP-5278, a flood";
}

void DispatchCommand::Declare(CLI::App& app) {
  app.add_option("--seed", seed_, "Of everything that is drawn");
  app.add_flag("--quick", is_quick_, "For CI: without the scenarios of 100,000 pods");
}

Result<ExitCode> DispatchCommand::Run() {
  DispatchReport report;
  {
    ProgressLine line;
    DispatchReportOptions options;
    options.seed = seed_;
    options.colour = WantsColour(STDOUT_FILENO);
    options.is_quick = is_quick_;
    options.progress = [&line](const std::string& what) { line.Show(what); };
    report = RunDispatchScenarios(options);
  }
  fmt::print("{}", report.tables);
  bool all_hold = true;
  for (const DispatchVerdict& verdict : report.verdicts) {
    fmt::print("{}  {}\n", verdict.holds ? "holds" : "FAILS", verdict.line);
    all_hold = all_hold && verdict.holds;
  }
  return all_hold ? ExitCode::kGood : ExitCode::kNo;
}

}  // namespace schedq
