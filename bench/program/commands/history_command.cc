#include "bench/program/commands/history_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "bench/program/flag_values.h"
#include "bench/program/output_file.h"
#include "perf/compare/history_report.h"
#include "perf/files/file_io.h"
#include "perf/files/input_file.h"
#include "perf/text/pattern.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(85, [] { return std::make_unique<HistoryCommand>(); });

constexpr double kPercent = 0.01;
// Below this there would have to be too many permutations.
constexpr double kSignificanceMin = 0.0001;

Result<std::vector<HistoryRun>> ReadCsv(const std::string& path) {
  const Result<std::string> text = ReadInput(path, InputFrom::kFileOrStandardInput);
  if (!text) return Error(path + ": " + text.error().message());
  return ParseOtavaCsv(*text, path);
}

// A point is found where one permutation looks as much like a change, too.
uint64_t PermutationsFor(double significance) {
  return static_cast<uint64_t>(std::ceil(2 / significance)) - 1;
}

}  // namespace

CommandText HistoryCommand::Text() const {
  CommandText text;
  text.name = "history";
  text.purpose = "Draw what a gate has stored, and name the commits at which figures changed";
  text.examples = {
      {"schedq history figures/", "What `schedq gate --store figures/` has collected"},
      {"schedq history figures/ --metric '^Basic/' --export basic.csv",
       "Some series, and a CSV file for Apache Otava"},
      {"schedq history figures/ --import other.csv", "Add what another tool has collected"}};
  text.notes =
      "A change point is a place at which the values before and behind differ more than\n"
      "those of nearly all orders of the same values (E-divisive, by permutation).";
  return text;
}

void HistoryCommand::Declare(CLI::App& app) {
  app.add_option("DIR", path_, "A folder of `schedq gate --store`, or a CSV file of Otava")
      ->required();
  app.add_option("--metric", metric_, "Only series whose name this finds")->type_name("REGEX");
  app.add_option("--significance", significance_, "Of each change point: the largest p")
      ->capture_default_str()
      ->type_name("P")
      ->check(FiniteNumber(/*is_above_zero=*/true));
  app.add_option("--change", change_percent_, "Smaller changes are not shown")
      ->capture_default_str()
      ->type_name("PERCENT")
      ->check(FiniteNumber());
  app.add_option("--import", import_, "First add the runs of this CSV file to the folder")
      ->type_name("FILE.csv")
      ->check(SomeName());
  app.add_option("--export", export_, "Write the series as a CSV file")
      ->type_name("FILE.csv")
      ->check(SomeName());
  app.add_flag("--wide", is_wide_, "All columns of the table, however wide it becomes");
}

Result<ExitCode> HistoryCommand::Run() {
  if (significance_ < kSignificanceMin || significance_ >= 1) {
    return Error(fmt::format("--significance {}: expected at least {} and below 1", significance_,
                             kSignificanceMin));
  }
  if (Status status = CheckFiles({{"--export", export_}}, {{"DIR", path_}, {"--import", import_}});
      !status) {
    return status.error();
  }
  if (!import_.empty()) {
    if (path_.ends_with(".csv")) return Error("--import: expected a folder to add to, not a file");
    const Result<std::vector<HistoryRun>> more = ReadCsv(import_);
    if (!more) return Error("--import " + more.error().message());
    if (Status status = AppendToHistory(path_, *more); !status) return status.error();
  }
  Result<std::vector<HistoryRun>> runs = Read();
  if (!runs) return runs.error();
  if (Status status = Choose(&*runs); !status) return status.error();
  HistoryRequest request;
  request.points.significance = significance_;
  request.points.permutations = PermutationsFor(significance_);
  request.change_min = change_percent_ * kPercent;
  fmt::print("{}", HistoryText(SeriesOf(*runs, request), LayoutOf(STDOUT_FILENO, is_wide_)));
  std::fflush(stdout);
  if (export_.empty()) return ExitCode::kGood;
  const Status written = WriteFileAtomically(export_, OtavaCsv(*runs));
  return written ? Result<ExitCode>(ExitCode::kGood) : written.error();
}

Result<std::vector<HistoryRun>> HistoryCommand::Read() const {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path_, ignored)) return ReadCsv(path_);
  const Result<std::string> text = ReadWholeFile(path_ + '/' + kHistoryFile);
  if (!text) return text.error();
  return ParseHistory(*text, path_ + '/' + kHistoryFile);
}

Status HistoryCommand::Choose(std::vector<HistoryRun>* runs) const {
  const Result<Pattern> chosen = Pattern::Parse(metric_);
  if (!chosen) return Error("--metric " + chosen.error().message());
  bool is_empty = true;
  for (HistoryRun& run : *runs) {
    std::erase_if(run.series, [&](const auto& one) { return !chosen->IsFoundIn(one.first); });
    is_empty = is_empty && run.series.empty();
  }
  if (!is_empty) return Status::Ok();
  return Error(path_ + ": has no series" + (metric_.empty() ? "" : " that --metric finds"));
}

}  // namespace schedq
