#include "perf/compare/differences.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "perf/documents/enum_text.h"
#include "perf/documents/environment.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

constexpr const char* kNotThere = "not there";

std::string Differs(const std::string& what, const std::string& before, const std::string& after) {
  return fmt::format("{}: {} before, {} after", what, before, after);
}

Error OtherWork(const Results& base, const Results& next, const std::string& what,
                const std::string& before, const std::string& after) {
  return Error(
      fmt::format("{} and {} cannot be compared: {} {} before and {} after, expected the same",
                  base.path, next.path, what, before, after));
}

std::string GateText(const std::map<std::string, bool>& gates, const std::string& gate) {
  const auto found = gates.find(gate);
  return found == gates.end() ? kNotThere : found->second ? "true" : "false";
}

using Gates = std::map<std::string, bool>;

// The gates whose values differ, with both.
std::map<std::string, std::string> GateDifferences(const Gates& base, const Gates& next) {
  std::map<std::string, std::string> lines;
  for (const Gates* side : {&base, &next}) {
    for (const auto& [gate, is_on] : *side) {
      const std::string before = GateText(base, gate);
      const std::string after = GateText(next, gate);
      if (before != after) lines[gate] = Differs("gate " + gate, before, after);
    }
  }
  return lines;
}

std::map<std::string, const WorkloadResult*> ByName(const RunDocument& document) {
  std::map<std::string, const WorkloadResult*> workloads;
  for (const WorkloadResult& result : document.workloads) {
    workloads[result.test_case + '/' + result.workload] = &result;
  }
  return workloads;
}

class Finder {
 public:
  Finder(const RunDocument& base, const RunDocument& next) : base_(base), next_(next) {}

  std::vector<std::string> Find() {
    Note("engine", base_.engine, next_.engine);
    Note("cost model", base_.cost_model, next_.cost_model);
    Note("status model", base_.status_model, next_.status_model);
    const auto gates = GateDifferences(base_.gates, next_.gates);
    for (const auto& [gate, line] : gates) lines_.push_back(line);
    NoteWorkloads(gates);
    const Build& before = base_.environment.build;
    const Build& after = next_.environment.build;
    Note("commit", before.commit, after.commit);
    Note("compiler", before.compiler, after.compiler);
    Note("flags of the build", before.flags, after.flags);
    if (base_.clock == ClockKind::kReal) {
      Note("processor", base_.environment.machine.cpu_model, next_.environment.machine.cpu_model);
      Note("processors", std::to_string(base_.environment.machine.cores),
           std::to_string(next_.environment.machine.cores));
    }
    return std::move(lines_);
  }

 private:
  void Note(const std::string& what, const std::string& before, const std::string& after) {
    if (before != after) lines_.push_back(Differs(what, before, after));
  }

  // Gates of a workload's own file, beyond those of the run; each is said once.
  void NoteWorkloads(const std::map<std::string, std::string>& of_run) {
    std::map<std::string, size_t> counts;
    const auto after = ByName(next_);
    for (const auto& [name, result] : ByName(base_)) {
      const auto other = after.find(name);
      if (other == after.end()) continue;
      for (const auto& [gate, line] : GateDifferences(result->gates, other->second->gates)) {
        if (!of_run.contains(gate)) ++counts[line];
      }
    }
    for (const auto& [line, count] : counts) {
      lines_.push_back(fmt::format("{}, in {} workloads", line, count));
    }
  }

  const RunDocument& base_;
  const RunDocument& next_;
  std::vector<std::string> lines_;
};

}  // namespace

Result<std::vector<std::string>> DifferencesOf(const Results& base, const Results& next) {
  if (!base.run || !next.run) {
    if (!base.run && !next.run) return std::vector<std::string>{};
    const Results& without = base.run ? next : base;
    return std::vector<std::string>{without.path +
                                    " does not say its gates, seeds, costs and files"};
  }
  const RunDocument& before = *base.run;
  const RunDocument& after = *next.run;
  if (before.clock != after.clock) {
    return OtherWork(base, next, "clock", std::string(TextOf(before.clock)),
                     std::string(TextOf(after.clock)));
  }
  if (before.seed != after.seed) {
    return OtherWork(base, next, "seed", std::to_string(before.seed), std::to_string(after.seed));
  }
  const auto others = ByName(after);
  for (const auto& [name, result] : ByName(before)) {
    const auto other = others.find(name);
    if (other == others.end() || result->definition == other->second->definition) continue;
    return OtherWork(base, next, "the files of " + name + " are", result->definition,
                     other->second->definition);
  }
  return Finder(before, after).Find();
}

}  // namespace schedq
