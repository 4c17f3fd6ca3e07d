#include "bench/program/commands/list_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/needs.h"
#include "bench/format/suite/selection.h"
#include "bench/format/workload/model.h"
#include "bench/interrupt.h"
#include "perf/text/table.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

using Json = nlohmann::ordered_json;

const CommandRegistration kRegistration(20, [] { return std::make_unique<ListCommand>(); });

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// "680", "dra: 56", "" when off; "<" before an upper limit.
std::string ThresholdText(const Workload& workload) {
  const Threshold& threshold = workload.threshold;
  if (threshold.IsOff()) return "";
  std::vector<std::string> parts;
  if (threshold.by_topic.empty()) parts.push_back(fmt::format("{}", threshold.value));
  for (const auto& [topic, value] : threshold.by_topic) {
    parts.push_back(fmt::format("{}: {}", topic, value));
  }
  const std::string sign = workload.threshold_selector.expect_lower ? "< " : "> ";
  return sign + Joined(parts);
}

std::string NeedsText(const std::vector<Need>& needs) {
  std::string text;
  for (const Need& need : needs) {
    if (!text.empty()) text += ", ";
    text += need.blocks ? need.text : "(" + need.text + ")";
  }
  return text;
}

// How often each need occurs.
struct Totals {
  int cases = 0;
  int workloads = 0;
  int can_run = 0;
  std::map<std::pair<bool, std::string>, int> needs;  // By not blocking and name.
};

Totals Count(const std::vector<TestCase>& cases) {
  Totals totals;
  for (const TestCase& test_case : cases) {
    ++totals.cases;
    for (const Workload& workload : test_case.workloads) {
      ++totals.workloads;
      if (CanRun(workload)) ++totals.can_run;
      for (const Need& need : NeedsOf(workload)) ++totals.needs[{!need.blocks, need.text}];
    }
  }
  return totals;
}

std::string TotalsText(const Totals& totals) {
  std::string text = fmt::format(
      "{} cases, {} workloads: {} can run, {} need what is not modelled\n", totals.cases,
      totals.workloads, totals.can_run, totals.workloads - totals.can_run);
  for (const auto& [need, count] : totals.needs) {
    text += fmt::format("  {:5} {}{}\n", count, need.second, need.first ? " (ignored)" : "");
  }
  return text;
}

std::string Table(const std::vector<TestCase>& cases, const TableLayout& layout) {
  TextTable table({{"workload", Align::kLeft},
                   {"runs", Align::kLeft},
                   {"threshold", Align::kLeft},
                   {"labels", Align::kLeft, Shown::kIfRoom},
                   {"needs that are not modelled", Align::kLeft, Shown::kIfRoom}});
  for (const TestCase& test_case : cases) {
    for (const Workload& workload : test_case.workloads) {
      const bool runs = CanRun(workload);
      table.AddRow({test_case.name + "/" + workload.name,
                    {runs ? "yes" : "no", runs ? Tone::kGood : Tone::kBad},
                    ThresholdText(workload),
                    Joined(workload.labels),
                    NeedsText(NeedsOf(workload))});
    }
  }
  return table.Render(layout);
}

Json WorkloadJson(const Workload& workload) {
  Json json = {{"name", workload.name},
               {"line", workload.line},
               {"labels", workload.labels},
               {"operations", workload.ops.size()}};
  if (!workload.threshold.IsOff()) {
    const MetricSelector& selector = workload.threshold_selector;
    json["threshold"] = {
        {"value", workload.threshold.value}, {"by_topic", workload.threshold.by_topic},
        {"metric", selector.name},           {"labels", selector.labels},
        {"bucket", selector.bucket},         {"expect_lower", selector.expect_lower}};
  }
  json["can_run"] = CanRun(workload);
  json["needs"] = Json::array();
  for (const Need& need : NeedsOf(workload)) {
    json["needs"].push_back({{"need", need.text}, {"blocks", need.blocks}});
  }
  return json;
}

std::string JsonText(const std::vector<TestCase>& cases) {
  Json json = {{"schedq_list", 1}, {"cases", Json::array()}};
  for (const TestCase& test_case : cases) {
    Json workloads = Json::array();
    for (const Workload& workload : test_case.workloads) {
      workloads.push_back(WorkloadJson(workload));
    }
    json["cases"].push_back({{"name", test_case.name},
                             {"file", test_case.file},
                             {"line", test_case.line},
                             {"workloads", std::move(workloads)}});
  }
  // The path of a file need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

CommandText ListCommand::Text() const {
  CommandText text;
  text.name = "list";
  text.purpose = "List test cases and workloads, and what each needs that is not modelled";
  text.examples = {{"schedq list", "The built-in suite"},
                   {"schedq list FILE.yaml --labels performance", "What could run of a file"}};
  return text;
}

void ListCommand::Declare(CLI::App& app) {
  app.add_option("FILE", paths_, "Workload files; none: the built-in suite")
      ->type_name("FILE.yaml...");
  app.add_option("--suite", suite_, "Without files: the built-in suite")
      ->type_name("builtin|kep|storms")
      ->check(CLI::IsMember({kDefaultSuite, kKepSuite, kStormsSuite}));
  app.add_option("--name", name_,
                 "Only workloads whose case/workload this regular expression finds")
      ->type_name("REGEX");
  app.add_option("--labels", labels_, "Only workloads with label a and without b: a,-b")
      ->type_name("a,+b,-c");
  app.add_option("--param", params_,
                 "A parameter of the files' workloads, also one that a file lacks")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  app.add_flag("--wide", is_wide_, "All columns of the table, however wide it becomes");
  app.add_option("--format", format_, "What goes to stdout")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
}

Result<ExitCode> ListCommand::Run() {
  if (!suite_.empty() && !paths_.empty()) {
    return Error("--suite " + suite_ + ": expected either a suite or files");
  }
  Result<std::vector<TestCase>> cases = SelectWorkloads(
      {.paths = paths_, .name = name_, .labels = labels_, .suite = suite_, .params = params_});
  if (!cases) return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : cases.error();
  if (format_ == "json") {
    fmt::print("{}", JsonText(*cases));
  } else {
    fmt::print("{}\n{}", TotalsText(Count(*cases)),
               Table(*cases, LayoutOf(STDOUT_FILENO, is_wide_)));
  }
  return ExitCode::kGood;
}

}  // namespace schedq
