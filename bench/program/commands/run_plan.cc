#include "bench/program/commands/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "bench/cpu.h"
#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/needs.h"
#include "bench/format/suite/object_estimate.h"
#include "bench/format/suite/selection.h"
#include "bench/format/workload/device_features.h"
#include "bench/format/workload/go_duration.h"
#include "bench/format/workload/known_gates.h"
#include "bench/memory_guard.h"
#include "bench/program/engine_flag.h"
#include "bench/program/output_file.h"
#include "bench/program/usage_error.h"
#include "bench/sim/calls/call_settings.h"
#include "schedq/plugin_library.h"

namespace schedq {
namespace {

// The first defect, when no workload is without one; null: something can be run.
const std::string* OnlyDefects(const std::vector<TestCase>& cases) {
  const std::string* first = nullptr;
  for (const TestCase& test_case : cases) {
    for (const Workload& workload : test_case.workloads) {
      const std::string* defect = DefectOf(workload);
      if (defect == nullptr) return nullptr;
      if (first == nullptr) first = defect;
    }
  }
  return first;
}

// What the clock decides, and what depends on it where a flag is left out.
Status ReadClock(const RunRequest& request, RunPlan* plan) {
  const bool is_real = request.clock == TextOf(ClockKind::kReal);
  constexpr uint64_t kRealRepeat = 7;
  if (is_real) plan->clock = ClockKind::kReal;
  plan->repeat = request.repeat != 0 ? request.repeat : (is_real ? kRealRepeat : 1);
  plan->schedulers = static_cast<int>(request.schedulers);
  const std::string default_engine = is_real ? "both" : "lockfree";
  Result<std::vector<EngineKind>> engines =
      ParseEngines(request.engine.empty() ? default_engine : request.engine);
  if (!engines) return engines.error();
  plan->engines = std::move(*engines);
  const std::string default_costs = is_real ? kNoCosts : kUpstreamModel;
  Result<CostModel> costs = LoadCostModel(request.costs.empty() ? default_costs : request.costs);
  if (!costs) return costs.error();
  plan->costs = std::move(*costs);
  if (!is_real && plan->costs.name == kNoCosts) {
    return Error("--costs none: without costs no virtual time passes, expected --clock real");
  }
  if (!is_real && plan->schedulers != 1) {
    return Error("--schedulers: the virtual clock has one, expected --clock real");
  }
  return Status::Ok();
}

// One workload at a time where they would disturb each other.
Status ReadJobs(const RunRequest& request, RunPlan* plan) {
  const auto refuse = [&request](const char* why) {
    return Error(fmt::format("--jobs {}: {}, expected 1", request.jobs, why));
  };
  const bool is_real = plan->clock == ClockKind::kReal;
  if (request.jobs > 1 && is_real) return refuse("on the real clock workloads would share time");
  if (request.jobs > 1 && !request.plugins.empty()) {
    return refuse("workloads would share what a plugin library keeps");
  }
  const bool is_alone = is_real || !request.plugins.empty();
  const uint64_t jobs = request.jobs != 0 ? request.jobs : UsableCpus().size();
  plan->jobs = is_alone ? 1 : jobs;
  return Status::Ok();
}

Status ReadDuration(const RunRequest& request, RunPlan* plan) {
  if (request.duration.empty()) return Status::Ok();
  const std::optional<Duration> duration = ParseGoDuration(request.duration);
  constexpr Duration kDurationMax = std::chrono::hours(24 * 30);
  if (!duration || *duration <= Duration(0) || *duration > kDurationMax) {
    return Error(fmt::format("--duration '{}': expected a time up to 720h, such as 30m or 5s",
                             request.duration));
  }
  if (plan->clock != ClockKind::kReal) return Error("--duration: expected --clock real");
  plan->duration = *duration;
  // Rounds would multiply it.
  if (request.repeat == 0) plan->repeat = 1;
  return Status::Ok();
}

Status ReadListen(const RunRequest& request, RunPlan* plan) {
  if (request.listen.empty()) {
    if (request.listens_anywhere) return Error("--listen-anywhere: expected --listen beside it");
    return Status::Ok();
  }
  Result<ListenAddress> address = ParseListenAddress(request.listen);
  if (!address) return Error("--listen " + address.error().message());
  if (plan->clock != ClockKind::kReal) return Error("--listen: expected --clock real");
  if (!address->is_loopback && !request.listens_anywhere) {
    return Error(
        fmt::format("--listen {}: others could read there too, expected an address of "
                    "loopback such as 127.0.0.1, or --listen-anywhere",
                    request.listen));
  }
  plan->listen = std::move(*address);
  return Status::Ok();
}

// Whether a part of the workload goes on by itself until it is stopped.
bool GoesOn(const Workload& workload) {
  return std::any_of(workload.ops.begin(), workload.ops.end(), [](const Op& op) {
    const auto* pods = std::get_if<CreatePodsOp>(&op.action);
    return std::holds_alternative<ChurnOp>(op.action) || (pods != nullptr && pods->steady_state);
  });
}

Status CheckDuration(const RunPlan& plan) {
  if (plan.duration <= Duration(0)) return Status::Ok();
  for (const TestCase& test_case : plan.cases) {
    for (const Workload& workload : test_case.workloads) {
      if (GoesOn(workload) || !CanRun(workload)) continue;
      return Error(fmt::format(
          "--duration: {}/{} has no churn and no steadyState, which could go on; use --name",
          test_case.name, workload.name));
    }
  }
  return Status::Ok();
}

Status ReadGates(const RunRequest& request, RunPlan* plan) {
  std::set<std::string> named;
  for (const std::string& text : request.gates) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name.empty() || (value != "true" && value != "false")) {
      return Error(fmt::format("--gate {}: expected NAME=true or NAME=false", text));
    }
    if (const Status known = CheckGateName(name); !known) {
      return Error(fmt::format("--gate {}: {}", text, known.error().message()));
    }
    if (!named.insert(name).second) {
      return Error(
          fmt::format("--gate {}: {} is said before, expected each gate once", text, name));
    }
    const std::optional<Gate> gate = ParseGate(name);
    if (gate) plan->gates.Set(*gate, value == "true");
    DeviceFeatures devices;
    const bool is_modelled = gate || FindDeviceFeature(&devices, name) != nullptr ||
                             IsAsSimulated(name, value == "true");
    if (!is_modelled) plan->gates_not_modelled.push_back("feature gate " + text);
    plan->gates_asked[name] = value == "true";
  }
  if (!request.reference.empty()) plan->gate_defaults = UpstreamGateDefaults();
  const Result<Gates> gates = Gates::Resolve(MergeGates(plan->gates, plan->gate_defaults));
  if (!gates) return Error("--gate: " + gates.error().message());
  return Status::Ok();
}

Status ReadStatusModel(const RunRequest& request, RunPlan* plan) {
  if (request.status_model.empty()) return Status::Ok();
  const std::optional<StatusModel> model = ParseStatusModel(request.status_model);
  if (!model) {
    std::vector<std::string> names;
    for (const StatusModel each : kStatusModels) names.emplace_back(StatusModelName(each));
    return Error(fmt::format("--status-model: unknown model '{}'; {}", request.status_model,
                             ExpectedOneOf(request.status_model, names)));
  }
  plan->status_model = *model;
  return Status::Ok();
}

Status ReadMemory(const RunRequest& request, RunPlan* plan) {
  if (request.memory.empty()) return Status::Ok();
  const Result<uint64_t> bytes = ParseBytes(request.memory);
  if (!bytes) return Error("--memory " + bytes.error().message());
  plan->memory_bytes_max = *bytes;
  return Status::Ok();
}

Status ReadCalls(const RunRequest& request, RunPlan* plan) {
  Result<CallSettings> calls = ReadCallSettings(request.calls);
  if (!calls) return calls.error();
  plan->calls = *calls;
  Result<std::vector<Fault>> faults = ReadFaults(request.calls);
  if (!faults) return faults.error();
  plan->faults = std::move(*faults);
  const char* const flag = request.calls.FirstOfCalls();
  if (flag != nullptr && plan->clock == ClockKind::kReal) {
    return Error(std::string(flag) + ": expected --clock virtual");
  }
  if (request.suite != kKepSuite) return Status::Ok();
  if (flag != nullptr)
    return Error(std::string(flag) + ": the experiments of --suite kep decide on it");
  if (!plan->faults.empty())
    return Error("--fault: the promises of --suite kep are judged without");
  return Status::Ok();
}

// The order of calls is that of the dispatcher, which there is with the gate.
Status CheckCalls(const RunRequest& request, const RunPlan& plan) {
  const char* const flag = request.calls.FirstOfCalls();
  const bool is_for_all =
      flag == nullptr || (plan.calls.order == CallOrder::kRelevance && request.calls.order.empty());
  if (is_for_all) return Status::Ok();
  for (const TestCase& test_case : plan.cases) {
    for (const Workload& workload : test_case.workloads) {
      if (Gates::Resolve(GatesOf(plan, workload))->On(Gate::kSchedulerAsyncAPICalls)) {
        return Status::Ok();
      }
    }
  }
  return Error(std::string(flag) +
               ": expected --gate SchedulerAsyncAPICalls=true, which no workload has");
}

Status AddArms(const RunRequest& request, RunPlan* plan) {
  if (request.suite != kKepSuite) return Status::Ok();
  const auto refuse = [&request](Gate gate) {
    return Error(fmt::format("--gate {}: the experiments of --suite {} decide on it",
                             GateName(gate), request.suite));
  };
  for (const Gate gate : kScenarioGates) {
    if (plan->gates.Get(gate) && !plan->scenarios.empty()) return refuse(gate);
  }
  if (!request.status_model.empty() && !plan->scenarios.empty()) {
    return Error("--status-model: the scenarios of --suite kep play all models");
  }
  for (TestCase& test_case : plan->cases) {
    std::vector<Workload> armed;
    for (const Workload& workload : test_case.workloads) {
      for (const Arm& arm : ArmsOf(test_case.name)) {
        const Gate decided = arm.gate.value_or(Gate::kSchedulerAsyncAPICalls);
        if (plan->gates.Get(decided)) return refuse(decided);
        Workload& copy = armed.emplace_back(workload);
        copy.name = ArmedName(workload.name, arm);
        copy.gates.Set(decided, arm.gate_on);
        plan->arms[test_case.name + '/' + copy.name] = arm;
      }
    }
    test_case.workloads = std::move(armed);
  }
  return Status::Ok();
}

Status CheckWorkload(const RunRequest& request, const RunPlan& plan, const TestCase& test_case,
                     const Workload& workload) {
  const std::string place = fmt::format("{}:{}", test_case.file, workload.line);
  const Result<Gates> gates = Gates::Resolve(GatesOf(plan, workload));
  if (!gates) return Error(fmt::format("{}: {}", place, gates.error().message()));
  if (CanRun(workload)) {
    if (Status status = CheckObjectCount(test_case, workload); !status) return status;
  }
  if (!request.require_all || CanRun(workload)) return Status::Ok();
  return Error(fmt::format("{}: --require-all: {}/{} {}", place, test_case.name, workload.name,
                           BlockingNeeds(workload)));
}

// The names of files have no slash, so that "a/b_c" and "a_b/c" are one.
Status CheckNames(const std::vector<TestCase>& cases) {
  std::map<std::string, std::string> places;  // By the name of the file.
  for (const TestCase& test_case : cases) {
    for (const Workload& workload : test_case.workloads) {
      std::string name = test_case.name + "/" + workload.name;
      std::replace(name.begin(), name.end(), '/', '_');
      const std::string place = fmt::format("{}:{}", test_case.file, workload.line);
      const auto [first, is_new] = places.emplace(std::move(name), place);
      if (is_new) continue;
      return Error(fmt::format(
          "{}: workload {}/{} has the name of that at {}, expected unique names; use --name", place,
          test_case.name, workload.name, first->second));
    }
  }
  return Status::Ok();
}

// What the run will write against what it has read. The names of the other files in --out are the
// run's own.
Status CheckWritten(const RunRequest& request, const RunPlan& plan,
                    const std::vector<std::string>& files_read) {
  std::vector<NamedFile> outputs = {{"--record", request.record},
                                    {"--write-costs", request.write_costs}};
  std::vector<NamedFile> inputs = {{"--costs", request.costs}};
  for (const std::string& path : request.plugins) inputs.push_back({"--plugin", path});
  for (const std::string& path : files_read) inputs.push_back({"input", path});
  for (const EngineKind engine : plan.engines) {
    if (request.out.empty()) break;
    const std::string folder = plan.engines.size() == 1
                                   ? request.out
                                   : request.out + "/" + std::string(EngineName(engine));
    if (Status status = CheckFolder({"--out", folder + "/metrics"}); !status) return status;
    for (const char* name : {"/results.json", "/results.benchstat"}) {
      outputs.push_back({"--out", folder + name});
    }
  }
  return CheckFiles(outputs, inputs);
}

Status CheckWriteCosts(const RunRequest& request, const RunPlan& plan) {
  if (request.write_costs.empty()) return Status::Ok();
  if (plan.clock != ClockKind::kReal) return Error("--write-costs: expected --clock real");
  if (plan.engines.size() > 1) return Error("--write-costs: expected one engine");
  if (plan.schedulers > 1) return Error("--write-costs: expected one scheduling thread");
  if (plan.cases.size() != 1 || plan.cases[0].workloads.size() != 1) {
    return Error("--write-costs: expected exactly one workload; use --name");
  }
  return Status::Ok();
}

Status ReadReference(const RunRequest& request, RunPlan* plan) {
  if (request.reference.empty()) return Status::Ok();
  if (plan->clock == ClockKind::kReal) return Error("--reference: expected --clock virtual");
  Result<RunReference> reference = RunReference::Read(request.reference);
  if (!reference) return Error("--reference " + reference.error().message());
  std::vector<ReferenceQuestion> questions;
  for (const TestCase& test_case : plan->cases) {
    for (const Workload& workload : test_case.workloads) {
      questions.push_back({test_case.name + "/" + workload.name,
                           *Gates::Resolve(GatesOf(*plan, workload)), plan->gates_asked,
                           workload.has_other_params});
    }
  }
  if (Status status = reference->Choose(questions); !status) {
    return Error("--reference " + request.reference + ": " + status.error().message());
  }
  plan->reference = std::move(*reference);
  return Status::Ok();
}

Status CheckInstructions(const RunRequest& request, const RunPlan& plan) {
  if (!request.instructions || plan.clock == ClockKind::kReal) return Status::Ok();
  return Error("--instructions: expected --clock real");
}

Status CheckOutputs(const RunRequest& request, const RunPlan& plan,
                    const std::vector<std::string>& files_read) {
  if (!request.suite.empty() && !request.paths.empty()) {
    return Error("--suite " + request.suite + ": expected either a suite or files");
  }
  if (Status status = CheckWritten(request, plan, files_read); !status) return status;
  if (plan.engines.size() > 1 && request.format != "table") {
    return Error(fmt::format("--format {}: expected one engine, or --out, with --engine both",
                             request.format));
  }
  if (plan.clock == ClockKind::kReal && request.suite == kKepSuite) {
    return Error("--suite kep: its promises are judged on the virtual clock");
  }
  if (request.record.empty()) return Status::Ok();
  if (plan.clock == ClockKind::kReal) return Error("--record: expected --clock virtual");
  if (plan.engines.size() > 1) return Error("--record: expected one engine");
  if (request.suite == kKepSuite)
    return Error("--record: no trace can say what the experiments do");
  if (plan.cases.size() != 1 || plan.cases[0].workloads.size() != 1 || plan.repeat != 1) {
    return Error("--record: expected exactly one workload and one repetition; use --name");
  }
  return Status::Ok();
}

}  // namespace

GateRequest MergeGates(const GateRequest& command_line, const GateRequest& workload) {
  GateRequest merged = workload;
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    if (const auto wanted = command_line.Get(gate)) merged.Set(gate, *wanted);
  }
  return merged;
}

std::map<std::string, bool> GateMap(const Gates& gates) {
  std::map<std::string, bool> map;
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    map[std::string(GateName(gate))] = gates.On(gate);
  }
  return map;
}

GateRequest GatesOf(const RunPlan& plan, const Workload& workload) {
  return MergeGates(plan.gates, MergeGates(workload.gates, plan.gate_defaults));
}

std::string BlockingNeeds(const Workload& workload) {
  std::string text;
  for (const Need& need : NeedsOf(workload)) {
    if (need.blocks) text += (text.empty() ? "needs " : ", ") + need.text;
  }
  return text;
}

// Pods that are created, for most of the time goes into these.
std::vector<double> WorkloadWeights(const std::vector<TestCase>& cases) {
  std::vector<double> weights;
  for (const TestCase& test_case : cases) {
    for (const Workload& workload : test_case.workloads) {
      double pods = CanRun(workload) ? 1 : 0;
      for (const Op& op : workload.ops) {
        const auto* created = std::get_if<CreatePodsOp>(&op.action);
        if (created != nullptr && pods > 0) pods += static_cast<double>(created->count);
      }
      weights.push_back(pods);
    }
  }
  return weights;
}

std::vector<std::string> FlagsThatDecide(const RunRequest& request) {
  std::vector<std::string> flags = request.paths;
  const auto add = [&flags](const char* flag, const std::string& value) {
    if (!value.empty()) flags.push_back(std::string(flag) + "=" + value);
  };
  add("--suite", request.suite);
  if (request.clock != "virtual") add("--clock", request.clock);
  add("--costs", request.costs);
  add("--status-model", request.status_model);
  add("--duration", request.duration);
  if (request.schedulers > 1) add("--schedulers", std::to_string(request.schedulers));
  for (const std::string& gate : request.gates) add("--gate", gate);
  for (const std::string& param : request.params) add("--param", param);
  for (const std::string& plugin : request.plugins) add("--plugin", plugin);
  for (std::string& flag : FlagsOf(request.calls)) flags.push_back(std::move(flag));
  return flags;
}

Result<RunPlan> MakeRunPlan(const RunRequest& request) {
  RunPlan plan;
  if (Status status = ReadClock(request, &plan); !status) return status.error();
  if (Status status = ReadJobs(request, &plan); !status) return status.error();
  if (Status status = ReadDuration(request, &plan); !status) return status.error();
  if (Status status = ReadListen(request, &plan); !status) return status.error();
  Result<std::vector<PluginSource>> plugins = LoadFurtherPlugins(request.plugins);
  if (!plugins) return Error("--plugin " + plugins.error().message());
  plan.further_plugins = std::move(*plugins);
  if (Status status = ReadGates(request, &plan); !status) return status.error();
  if (Status status = ReadStatusModel(request, &plan); !status) return status.error();
  if (Status status = ReadMemory(request, &plan); !status) return status.error();
  if (Status status = ReadCalls(request, &plan); !status) return status.error();
  const bool is_kep = request.suite == kKepSuite;
  std::vector<std::string> files_read;
  Result<std::vector<TestCase>> cases = SelectWorkloads({.paths = request.paths,
                                                         .name = request.name,
                                                         .labels = request.labels,
                                                         .suite = request.suite,
                                                         .may_be_empty = is_kep,
                                                         .params = request.params,
                                                         .files_read = &files_read});
  if (!cases) return cases.error();
  plan.cases = std::move(*cases);
  // The built-in suite's were set for the virtual clock's cost model.
  const bool are_of_this_clock = request.paths.empty() && plan.clock == ClockKind::kVirtual;
  plan.judges_thresholds = are_of_this_clock || request.check_thresholds;
  if (const std::string* defect = OnlyDefects(plan.cases)) return Error(*defect);
  if (is_kep) {
    Result<std::vector<Scenario>> scenarios = SelectScenarios(request.name, request.labels);
    if (!scenarios) return scenarios.error();
    plan.scenarios = std::move(*scenarios);
  }
  if (plan.cases.empty() && plan.scenarios.empty()) {
    return Error("--suite kep: no workload and no scenario is left by --name and --labels");
  }
  if (Status status = AddArms(request, &plan); !status) return status.error();
  if (Status status = CheckNames(plan.cases); !status) return status.error();
  for (const TestCase& test_case : plan.cases) {
    for (const Workload& workload : test_case.workloads) {
      if (Status status = CheckWorkload(request, plan, test_case, workload); !status)
        return status.error();
    }
  }
  if (Status status = CheckCalls(request, plan); !status) return status.error();
  if (Status status = CheckDuration(plan); !status) return status.error();
  if (Status status = CheckOutputs(request, plan, files_read); !status) return status.error();
  if (Status status = CheckWriteCosts(request, plan); !status) return status.error();
  if (Status status = CheckInstructions(request, plan); !status) return status.error();
  if (Status status = ReadReference(request, &plan); !status) return status.error();
  return plan;
}

}  // namespace schedq
