#include "tests/support/driver/random_header.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/format/trace/timestamp.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

constexpr Action kAnyUpdateOfAPod = Action::kUpdatePodLabel | Action::kUpdatePodToleration;

std::vector<TracePluginSpec> GatingPlugins() {
  return {
      {"SchedulingGates",
       "no-gates",
       {{Resource::kTargetPod, Action::kUpdatePodSchedulingGatesEliminated, "queue", ""}}},
      {"DynamicResources",
       "claims-known",
       {{Resource::kResourceClaim, Action::kAdd | Action::kUpdate | Action::kDelete,
         "references-object", "referencing-pods"},
        {Resource::kTargetPod, Action::kUpdatePodGeneratedResourceClaim, "queue", ""}}},
      {"Recorded",
       "recorded",
       {{Resource::kNode, Action::kAdd | Action::kUpdate, "recorded", "recorded"},
        {Resource::kAssignedPod, Action::kDelete, "recorded", ""}}},
  };
}

TracePluginSpec GangPlugin() {
  return {"GangScheduling",
          "gang",
          {{Resource::kUnscheduledPod, Action::kAdd, "same-group", ""},
           {Resource::kAssignedPod, Action::kAdd, "same-group", ""},
           {Resource::kPodGroup, Action::kAdd, "same-group", ""},
           {Resource::kPodGroup, Action::kUpdate, "min-count-lowered", ""}}};
}

std::vector<TracePluginSpec> OtherPlugins() {
  return {
      {"NodeAffinity",
       "",
       {{Resource::kNode, Action::kAdd | Action::kUpdateNodeLabel, "same-zone", ""},
        {Resource::kAssignedPod, Action::kAdd | Action::kDelete, "same-zone", "all"}}},
      // Its pre-hint is narrower than its hint.
      {"ClaimQuota",
       "",
       {{Resource::kResourceClaim, Action::kAll, "queue", "referencing-pods"},
        {Resource::kPersistentVolumeClaim, Action::kAdd | Action::kUpdate, "", ""}}},
      {"Erring",
       "",
       {{Resource::kNode, Action::kAdd, "error", "error"},
        {Resource::kPersistentVolumeClaim, Action::kAll, "error", ""}}},
      {"Never", "", {{Resource::kWildcard, Action::kAll, "skip", ""}}},
      {"AnyPod",
       "",
       {{Resource::kPod, Action::kAdd | Action::kDelete | kAnyUpdateOfAPod, "", "all"},
        {Resource::kWildcard, Action::kDelete, "same-zone", ""}}},
      {"General", "", {{Resource::kTargetPod, Action::kUpdate, "queue", ""}}},
      {"Deaf", "", {}},
  };
}

// Shuffles a list and keeps its first elements, at least `least`.
void TakeSome(Random& random, std::vector<TracePluginSpec> from, size_t least,
              std::vector<TracePluginSpec>* to) {
  random.Shuffle(from);
  const size_t count = least + random.Below(from.size() - least + 1);
  to->insert(to->end(), from.begin(), from.begin() + static_cast<ptrdiff_t>(count));
}

}  // namespace

TraceHeader RandomHeader(Random& random, const Gates& gates) {
  static constexpr std::array<std::pair<int64_t, int64_t>, 7> kBackoffMs = {
      {{1000, 10000}, {1000, 10000}, {100, 1500}, {1, 300000}, {2000, 1000}, {0, 10000}, {500, 0}}};
  static constexpr std::array<int64_t, 4> kMaxInUnschedulableMs = {300000, 300000, 2000, 0};
  static constexpr std::array<const char*, 3> kStarts = {
      "2026-01-01T00:00:00.3Z", "2026-01-01T00:00:00Z", "2026-03-29T23:59:59.999999999Z"};

  TraceHeader header;
  header.start = *ParseTimestamp(kStarts[random.Below(kStarts.size())]);
  header.gates = gates;
  // No backoff is drawn rarely, because it keeps the place backoff empty.
  const bool none = random.Chance(0.05);
  const auto& [initial, maximum] = kBackoffMs[none ? 6 : random.Below(6)];
  header.backoff = {milliseconds(initial), milliseconds(maximum)};
  header.max_in_unschedulable =
      milliseconds(kMaxInUnschedulableMs[random.Below(kMaxInUnschedulableMs.size())]);
  TakeSome(random, GatingPlugins(), 1, &header.plugins);
  TakeSome(random, OtherPlugins(), 2, &header.plugins);
  if (gates.GenericWorkload()) header.plugins.push_back(GangPlugin());
  random.Shuffle(header.plugins);
  return header;
}

}  // namespace schedq
