#include "perf/compare/instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "perf/compare/report.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr size_t kFunctionsMax = 3;

double Difference(uint64_t before, uint64_t after) {
  return static_cast<double>(after) - static_cast<double>(before);
}

uint64_t CountOf(const InstructionSample& sample, const std::string& function) {
  const auto found = sample.by_function.find(function);
  return found == sample.by_function.end() ? 0 : found->second;
}

std::vector<FunctionChange> FunctionsBehind(const InstructionSample& base,
                                            const InstructionSample& next) {
  const double whole = Difference(base.instructions, next.instructions);
  std::set<std::string> names;
  for (const InstructionSample* side : {&base, &next}) {
    for (const auto& [name, count] : side->by_function) names.insert(name);
  }
  std::vector<FunctionChange> functions;
  for (const std::string& name : names) {
    const uint64_t before = CountOf(base, name);
    const uint64_t after = CountOf(next, name);
    const double share = whole == 0 ? 0 : Difference(before, after) / whole;
    if (share > 0) functions.push_back({name, before, after, share});
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const FunctionChange& left, const FunctionChange& right) {
                     return left.share > right.share;
                   });
  if (functions.size() > kFunctionsMax) functions.resize(kFunctionsMax);
  return functions;
}

std::string PreciseChange(double change) { return fmt::format("{:+.2f} %", change * 100); }

std::string FunctionText(const FunctionChange& function) {
  return fmt::format("{}: {} before, {} after, {:.0f} % of the change", function.function,
                     CountText(function.before), CountText(function.after), function.share * 100);
}

size_t CountWorse(const std::vector<InstructionChange>& changes) {
  return static_cast<size_t>(
      std::count_if(changes.begin(), changes.end(),
                    [](const InstructionChange& change) { return change.is_worse; }));
}

std::string SumText(const std::vector<InstructionChange>& changes) {
  return fmt::format("{} paths and workloads counted: {} execute more beyond the threshold\n",
                     changes.size(), CountWorse(changes));
}

}  // namespace

double InstructionChange::Change() const {
  return before == 0 ? 0 : Difference(before, after) / static_cast<double>(before);
}

std::vector<InstructionChange> CompareInstructions(const std::vector<InstructionSample>& base,
                                                   const std::vector<InstructionSample>& next,
                                                   double threshold) {
  std::vector<InstructionChange> changes;
  for (const InstructionSample& before : base) {
    const auto after = std::find_if(
        next.begin(), next.end(),
        [&before](const InstructionSample& other) { return other.name == before.name; });
    if (after == next.end()) continue;
    InstructionChange& change = changes.emplace_back();
    change.name = before.name;
    change.before = before.instructions;
    change.after = after->instructions;
    change.is_worse = change.Change() > threshold;
    change.functions = FunctionsBehind(before, *after);
  }
  return changes;
}

std::string InstructionsTable(const std::vector<InstructionChange>& changes,
                              const TableLayout& layout) {
  TextTable table({{"path or workload", Align::kLeft},
                   {"change"},
                   {"before", Align::kRight, Shown::kIfRoom},
                   {"after", Align::kRight, Shown::kIfRoom},
                   {"most by", Align::kLeft, Shown::kIfRoom}});
  std::string culprits;
  for (const InstructionChange& change : changes) {
    table.AddRow({change.name,
                  {PreciseChange(change.Change()), change.is_worse ? Tone::kBad : Tone::kDim},
                  CountText(change.before),
                  CountText(change.after),
                  change.functions.empty() ? "" : change.functions[0].function});
    if (!change.is_worse) continue;
    culprits += change.name + '\n';
    for (const FunctionChange& function : change.functions) {
      culprits += "  " + FunctionText(function) + '\n';
    }
  }
  return SumText(changes) + '\n' + table.Render(layout) + (culprits.empty() ? "" : "\n" + culprits);
}

std::string InstructionsMarkdown(const std::vector<InstructionChange>& changes) {
  std::string text = SumText(changes) +
                     "\n| path or workload | before | after | change | most by |\n"
                     "|---|--:|--:|--:|---|\n";
  for (const InstructionChange& change : changes) {
    text += fmt::format(
        "| {} | {} | {} | {} | {} |\n", MarkdownCell(change.name), CountText(change.before),
        CountText(change.after), PreciseChange(change.Change()),
        change.functions.empty() ? "" : "`" + MarkdownCell(change.functions[0].function) + "`");
  }
  return text + '\n';
}

JunitSuite InstructionsJunit(const std::vector<InstructionChange>& changes) {
  JunitSuite suite{"instructions", {}};
  for (const InstructionChange& change : changes) {
    JunitCase one{change.name, 0, JunitOutcome::kPassed, "", ""};
    if (change.is_worse) {
      one.outcome = JunitOutcome::kFailed;
      one.message = PreciseChange(change.Change());
      for (const FunctionChange& function : change.functions) {
        one.details += FunctionText(function) + '\n';
      }
      if (!change.functions.empty()) one.message += ", most by " + change.functions[0].function;
    }
    suite.cases.push_back(one);
  }
  return suite;
}

}  // namespace schedq
