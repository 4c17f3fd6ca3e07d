#include "bench/sim/run/workload_runner.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

#include "bench/format/workload/metrics_catalog.h"
#include "bench/memory_guard.h"
#include "bench/sim/run/object_updates.h"
#include "bench/sim/run/update_storm.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr Duration kWaitMax = std::chrono::minutes(10);

}  // namespace

WorkloadRunner::WorkloadRunner(Simulation* simulation, const TestCase& test_case,
                               const Workload& workload)
    : simulation_(simulation), test_case_(test_case), workload_(workload) {}

Result<WaitResult> WorkloadRunner::Run() {
  for (const Op& op : workload_.ops) {
    op_ = &op;
    Outcome outcome = std::visit([this](const auto& action) { return Execute(action); }, op.action);
    if (outcome && simulation_->IsFull()) {
      outcome = Error(fmt::format("there are more than {} objects, expected at most these",
                                  CountText(simulation_->objects_max())));
    }
    if (!outcome) {
      return Error(fmt::format("{}:{}: {}: {}", test_case_.file, op.line, op.opcode,
                               outcome.error().message()));
    }
    if (*outcome != WaitResult::kDone) {
      if (section_ != nullptr) StopSection();
      return outcome;
    }
  }
  const WaitResult went_on = GoOn();
  if (section_ != nullptr) StopSection();
  if (went_on == WaitResult::kInterrupted) return went_on;
  // The error is that of a pod that arrived when no operation waited for it.
  if (error_) return Error(test_case_.file + ": " + error_->message());
  return WaitResult::kDone;
}

// A steady state has gone on for that time already.
WaitResult WorkloadRunner::GoOn() {
  if (churns_.empty() || memory_ || simulation_->duration() <= Duration(0)) {
    return WaitResult::kDone;
  }
  if (section_ == nullptr) StartSection("churn", {});
  return PassTime(simulation_->duration());
}

WaitResult WorkloadRunner::PassTime(Duration duration) {
  const auto never = [] { return false; };
  if (simulation_->duration() <= Duration(0)) return simulation_->Wait(never, duration);
  constexpr int kTenth = 10;
  const MemoryGuard memory(std::numeric_limits<uint64_t>::max());
  MemoryCourse course;
  WaitResult result = simulation_->Wait(never, duration / kTenth);
  course.bytes_at_tenth = memory.BytesInUse();
  if (result != WaitResult::kInterrupted) {
    result = simulation_->Wait(never, duration - duration / kTenth);
  }
  course.bytes_at_end = memory.BytesInUse();
  memory_ = course;
  return result;
}

void WorkloadRunner::StopChurns() {
  for (const std::unique_ptr<Churn>& churn : churns_) churn->Stop();
}

WorkloadRunner::Outcome WorkloadRunner::WaitFor(const std::function<bool()>& done,
                                                const std::string& what) {
  const WaitResult result =
      simulation_->Wait([&] { return error_.has_value() || done(); }, kWaitMax);
  if (error_) return *std::exchange(error_, std::nullopt);
  if (result == WaitResult::kTimeout) {
    failure_ = fmt::format("{}:{}: {}: {} after {} virtual minutes", test_case_.file, op_->line,
                           op_->opcode, what,
                           std::chrono::duration_cast<std::chrono::minutes>(kWaitMax).count());
  }
  return result;
}

// What goes on beside the wait, such as a churn or the backoff of pods, goes on until that look.
WorkloadRunner::Outcome WorkloadRunner::WaitForLook(const std::function<bool()>& done,
                                                    const std::string& what) {
  if (simulation_->real_scheduler() != nullptr) return WaitFor(done, what);
  Instant next_look = simulation_->Now();
  const auto is_seen = [&] {
    const Instant now = simulation_->Now();
    if (now < next_look) return false;
    next_look += kSecond;
    return done();
  };
  // The clock stops at each look, whatever else happens then.
  const TimerId looks = simulation_->clock().Every(next_look + kSecond, kSecond, [] {});
  Outcome outcome = WaitFor(is_seen, what);
  simulation_->clock().Cancel(looks);
  return outcome;
}

WorkloadRunner::Outcome WorkloadRunner::WaitForPods(const PodSelection& selection, int64_t count,
                                                    bool attempted) {
  const PodWatch::Counter counter(&simulation_->pods(), selection);
  const auto reached = [&] {
    return counter.scheduled() + (attempted ? counter.attempted() : 0) >= count;
  };
  Outcome outcome = WaitForLook(reached, "not all pods are where they should be");
  if (outcome && *outcome == WaitResult::kTimeout) {
    failure_ += fmt::format(": {} of {} pods {}", counter.scheduled(), count,
                            attempted ? "scheduled or attempted" : "scheduled");
  }
  return outcome;
}

void WorkloadRunner::StartSection(const std::string& name, PodSelection pods) {
  SCHEDQ_CHECK(section_ == nullptr, "the decoder refuses overlapping collections");
  section_ = std::make_unique<Section>(simulation_, name, std::move(pods));
}

void WorkloadRunner::StopSection() {
  SCHEDQ_CHECK(section_ != nullptr, "the decoder refuses to stop what was not started");
  sections_.push_back(section_->Finish(test_case_.metrics.value_or(DefaultMetrics()),
                                       test_case_.name + "/" + workload_.name, &latencies_));
  section_.reset();
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const StartCollectingMetricsOp& op) {
  StartSection(op.name, {{op.namespaces.begin(), op.namespaces.end()}, op.selector});
  return WaitResult::kDone;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const StopCollectingMetricsOp&) {
  StopSection();
  return WaitResult::kDone;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const SleepOp& op) {
  const WaitResult result = simulation_->Wait([] { return false; }, op.duration);
  return result == WaitResult::kTimeout ? WaitResult::kDone : result;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const BarrierOp& op) {
  std::vector<std::string> namespaces = op.namespaces;
  if (namespaces.empty()) {
    for (const auto& [name, count] : unfinished_) namespaces.push_back(name);
  }
  for (const std::string& name : namespaces) {
    const auto found = unfinished_.find(name);
    if (found == unfinished_.end()) {
      return Error("unknown namespace " + name + ", expected one that an operation created");
    }
    Outcome outcome = WaitForPods({{name}, op.selector}, found->second, op.attempted);
    if (!outcome || *outcome != WaitResult::kDone) return outcome;
    if (!op.attempted) unfinished_.erase(found);
  }
  return WaitResult::kDone;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const ChurnOp& op) {
  Result<std::unique_ptr<Churn>> churn = Churn::Start(simulation_, op);
  if (!churn) return churn.error();
  churns_.push_back(std::move(*churn));
  return WaitResult::kDone;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const ApiOutageOp& op) {
  simulation_->cluster().faults().Begin({.kind = FaultKind::kErrors, .duration = op.duration});
  return WaitResult::kDone;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const InjectFaultOp& op) {
  simulation_->cluster().faults().Begin(op.fault);
  return WaitResult::kDone;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const UpdatePodsOp& op) {
  const auto storm = std::make_shared<UpdateStorm>(simulation_, op);
  UpdateStorm::Begin(storm);
  if (op.skip_wait) return WaitResult::kDone;
  return WaitFor([&] { return storm->is_done(); }, "not all pods are updated");
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const UpdateAnyOp& op) {
  const auto updates = std::make_shared<ObjectUpdates>(simulation_, op);
  ObjectUpdates::Begin(updates);
  Outcome outcome = WaitFor([&] { return updates->is_done(); }, "not all objects are updated");
  if (outcome && updates->error()) return *updates->error();
  return outcome;
}

}  // namespace schedq
