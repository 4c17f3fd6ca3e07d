#include "tests/support/queue/queue_cases.h"

#include <utility>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

std::vector<QueueCase> AllQueueCases() {
  std::vector<QueueCase> cases;
  for (const EngineKind engine : AllEngines()) {
    for (const bool pops_from_backoff : {true, false}) {
      for (const bool narrows : {true, false}) {
        cases.push_back({engine, pops_from_backoff, narrows});
      }
    }
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<QueueCase>& info) {
  return std::string(EngineName(info.param.engine)) +
         (info.param.pops_from_backoff ? "_PopOn" : "_PopOff") +
         (info.param.narrows ? "_HintsOn" : "_HintsOff");
}

QueueBenchOptions QueueTest::Options(std::vector<Plugin> plugins) const {
  QueueBenchOptions options;
  options.engine = GetParam().engine;
  options.plugins = std::move(plugins);
  options.gates = GatesWith(Gate::kSchedulerPopFromBackoffQ, GetParam().pops_from_backoff,
                            Gate::kSchedulerPreQueueingHints, GetParam().narrows);
  return options;
}

Plugin GatingPlugin(const std::string& name, GatingSwitch* gating,
                    std::vector<EventRegistration> events) {
  Plugin plugin;
  plugin.name = name;
  plugin.pre_enqueue = [name, gating](const Pod&, std::string* message) {
    ++gating->asked;
    if (!gating->open && message != nullptr) *message = name + " is closed";
    return gating->open;
  };
  plugin.events = std::move(events);
  return plugin;
}

Plugin HintPlugin(const std::string& name, std::vector<EventRegistration> events) {
  Plugin plugin;
  plugin.name = name;
  plugin.events = std::move(events);
  return plugin;
}

EventRegistration On(Resource resource, Action actions, Hint answer) {
  EventRegistration registration;
  registration.resource = resource;
  registration.actions = actions;
  registration.hint = [answer](const Pod&, const ObjectChange&) { return answer; };
  return registration;
}

void Send(QueueBench& bench, Resource resource, Action action) {
  bench.queue().Event(MakeEvent(resource, action), ObjectChange());
}

}  // namespace schedq
