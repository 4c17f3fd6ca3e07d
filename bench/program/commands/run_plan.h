// What the flags of `schedq run` mean, judged before anything runs.
//
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/kep/experiments/experiments.h"
#include "bench/kep/scenario/scenario.h"
#include "bench/program/commands/run_calls.h"
#include "bench/program/commands/run_reference.h"
#include "bench/program/live/listen_address.h"
#include "bench/sim/calls/call_settings.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

// As the flags say it.
struct RunRequest {
  std::vector<std::string> paths;
  std::string suite;
  std::string name;
  std::string labels;
  std::vector<std::string> gates;
  std::vector<std::string> params;
  std::vector<std::string> plugins;
  std::string status_model;  // Empty: the default.
  std::string engine;        // Empty: lockfree, and both on the real clock.
  std::string clock = "virtual";
  std::string costs;  // Empty: upstream, and none on the real clock.
  uint64_t schedulers = 1;
  std::string duration;  // Empty: as long as the workloads say.
  std::string listen;    // Empty: nobody can watch.
  bool listens_anywhere = false;
  std::string write_costs;  // Empty: no cost model is written.
  bool instructions = false;
  uint64_t seed = 1;
  uint64_t jobs = 0;    // 0: as many as there are processors, where workloads may run at once.
  uint64_t repeat = 0;  // 0: 1, and 7 on the real clock.
  std::string out;
  std::string format = "table";
  bool wide = false;
  bool check_thresholds = false;
  bool require_all = false;
  std::string record;
  std::string memory;     // Empty: most of what is free.
  std::string reference;  // Empty: the run is compared with nothing.
  CallRequest calls;
};

// The files, and the flags that decide what is run and how: all but engine, seed, choice of
// workloads, repetitions and output.
std::vector<std::string> FlagsThatDecide(const RunRequest& request);

struct RunPlan {
  std::vector<EngineKind> engines;
  ClockKind clock = ClockKind::kVirtual;
  uint64_t repeat = 1;
  uint64_t jobs = 1;  // Workloads at once.
  int schedulers = 1;
  Duration duration{};  // 0: as long as the workloads say.
  std::optional<ListenAddress> listen;
  CostModel costs;
  GateRequest gates;
  GateRequest gate_defaults;  // Of gates that neither the command line nor a file sets.
  std::map<std::string, bool> gates_asked;  // On the command line, also those not modelled.
  std::vector<std::string> gates_not_modelled;
  StatusModel status_model = StatusModel::kImplicitDelayed;
  CallSettings calls;
  std::vector<Fault> faults;
  std::vector<TestCase> cases;
  std::map<std::string, Arm> arms;  // Of experiments, by "case/workload".
  std::vector<Scenario> scenarios;
  std::vector<PluginSource> further_plugins;
  bool judges_thresholds = false;
  uint64_t memory_bytes_max = 0;  // 0: most of what is free.
  std::optional<RunReference> reference;
};

Result<RunPlan> MakeRunPlan(const RunRequest& request);

// The command line goes before the workload's file.
GateRequest MergeGates(const GateRequest& command_line, const GateRequest& workload);
// Of one workload of the plan.
GateRequest GatesOf(const RunPlan& plan, const Workload& workload);
// As results say them.
std::map<std::string, bool> GateMap(const Gates& gates);

// "needs pod affinity, host ports": why the workload cannot run; empty if it can.
std::string BlockingNeeds(const Workload& workload);

// About how long each workload takes, compared with the others.
std::vector<double> WorkloadWeights(const std::vector<TestCase>& cases);

}  // namespace schedq
