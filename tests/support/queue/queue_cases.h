// Every engine in both states of both gates that change what a queue does, and plugins that a test
// turns on and off.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/event.h"
#include "hints/plugin.h"
#include "schedq/engine_kind.h"
#include "tests/support/queue/queue_bench.h"

namespace schedq {

struct QueueCase {
  EngineKind engine;
  bool pops_from_backoff;
  bool narrows;
};

std::vector<QueueCase> AllQueueCases();
// "classic_PopOn_HintsOff"; for test names.
std::string CaseName(const testing::TestParamInfo<QueueCase>& info);

// A test that runs for every case.
class QueueTest : public testing::TestWithParam<QueueCase> {
 protected:
  bool PopsFromBackoff() const { return GetParam().pops_from_backoff; }
  // Options with the case's engine and gates.
  QueueBenchOptions Options(std::vector<Plugin> plugins = {}) const;
};

// A PreEnqueue plugin that rejects while it is closed, and counts how often it was asked.
struct GatingSwitch {
  bool open = true;
  int asked = 0;
};
Plugin GatingPlugin(const std::string& name, GatingSwitch* gating,
                    std::vector<EventRegistration> events = {});

// A plugin that registered for `events`, each an (resource, actions) pair whose hint is `hint`.
Plugin HintPlugin(const std::string& name, std::vector<EventRegistration> events);
EventRegistration On(Resource resource, Action actions, Hint answer = Hint::kQueue);

// An event without objects.
void Send(QueueBench& bench, Resource resource, Action action);

}  // namespace schedq
