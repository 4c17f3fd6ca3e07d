#include "bench/sim/measure/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/format/yaml/yaml_reader.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

// Of one step. Nothing where there was none.
Duration Each(double seconds, uint64_t steps) {
  constexpr double kNanosecondsPerSecond = 1e9;
  if (steps == 0 || seconds <= 0) return Duration(0);
  const double nanoseconds = seconds * kNanosecondsPerSecond / static_cast<double>(steps);
  return Duration(std::min(std::llround(nanoseconds), static_cast<long long>(kYamlCountMax)));
}

int64_t Microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// Steps of several threads that together took longer than the run were side by side. On the virtual
// clock they take turns, so each is cut to its share of the run.
StepTimes OneAfterTheOther(const StepTimes& measured) {
  StepTimes steps = measured;
  const double sum = steps.popping + steps.placing + steps.adding + steps.events;
  if (sum <= steps.busy || steps.busy <= 0) return steps;
  const double share = steps.busy / sum;
  for (double* const each :
       {&steps.popping, &steps.placing, &steps.adding, &steps.events, &steps.hints}) {
    *each *= share;
  }
  return steps;
}

}  // namespace

void StepTimes::Add(const StepTimes& more) {
  server += more.server;
  busy += more.busy;
  popping += more.popping;
  placing += more.placing;
  adding += more.adding;
  events += more.events;
  hints += more.hints;
  client_calls += more.client_calls;
  attempts += more.attempts;
  nodes_looked_at += more.nodes_looked_at;
  pods_told += more.pods_told;
  events_told += more.events_told;
  hints_asked += more.hints_asked;
}

// The time of a node is a whole number of nanoseconds; what is left of it counts to the attempt.
Result<CostModel> CostsOf(const StepTimes& measured, const std::string& name) {
  if (measured.attempts == 0) return Error("no pod was tried in a measured section, expected one");
  const StepTimes steps = OneAfterTheOther(measured);
  CostModel costs = NoCosts();
  costs.name = name;
  const Duration popping = Each(steps.popping, steps.attempts);
  costs.queue_pop = popping / 2;
  costs.queue_done = popping - costs.queue_pop;
  costs.queue_fail = costs.queue_done;
  const double per_node =
      steps.nodes_looked_at == 0 ? 0 : steps.placing / static_cast<double>(steps.nodes_looked_at);
  costs.filter_node = Duration(static_cast<int64_t>(std::floor(per_node * 1e9)));
  const double nodes = static_cast<double>(steps.nodes_looked_at) *
                       std::chrono::duration<double>(costs.filter_node).count();
  const double others = steps.popping + steps.adding + steps.events + nodes;
  costs.attempt = Each(steps.busy - others, steps.attempts);
  costs.queue_add = Each(steps.adding, steps.pods_told);
  costs.queue_update = costs.queue_add;
  costs.queue_event = Each(steps.events - steps.hints, steps.events_told);
  costs.queue_judge = Each(steps.hints, steps.hints_asked);
  const double rate = steps.server <= 0 ? static_cast<double>(kYamlCountMax)
                                        : static_cast<double>(steps.client_calls) / steps.server;
  costs.client_interval =
      kSecond / std::clamp(std::llround(rate), 1LL, static_cast<long long>(kYamlCountMax));
  return costs;
}

std::string CostModelText(const CostModel& costs, const std::string& comment) {
  std::string text = "# " + comment + "\n";
  const auto line = [&text](const char* key, int64_t value) {
    text += fmt::format("{}: {}\n", key, value);
  };
  const auto latency = [&](const std::string& key, const CallLatency& call) {
    line((key + "_us").c_str(), Microseconds(call.fixed));
    line((key + "_extra_us").c_str(), Microseconds(call.extra));
  };
  text += fmt::format("name: {}\n", costs.name);
  line("attempt_ns", costs.attempt.count());
  line("filter_node_ns", costs.filter_node.count());
  line("allocate_ns", costs.allocate.count());
  line("allocate_node_ns", costs.allocate_node.count());
  line("preempt_node_ns", costs.preempt_node.count());
  line("group_decision_ns", costs.group_decision.count());
  line("queue_add_ns", costs.queue_add.count());
  line("queue_pop_ns", costs.queue_pop.count());
  line("queue_done_ns", costs.queue_done.count());
  line("queue_fail_ns", costs.queue_fail.count());
  line("queue_update_ns", costs.queue_update.count());
  line("queue_event_ns", costs.queue_event.count());
  line("queue_judge_ns", costs.queue_judge.count());
  line("informer_delay_us", Microseconds(costs.informer_delay));
  latency("api_create", costs.create);
  latency("api_delete", costs.remove);
  latency("api_status", costs.status);
  latency("api_bind", costs.bind);
  line("api_work_us", Microseconds(costs.call_work));
  line("processors", costs.processors);
  line("creators", costs.creators);
  // What rounding down has taken from the interval does not matter: a call takes 100 ns at least.
  line("client_calls_per_second", kSecond / costs.client_interval);
  line("claim_workers", costs.claim_workers);
  return text;
}

}  // namespace schedq
