#include "hints/judge.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <vector>

#include "engine/base/log.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "hints/parallel_ranges.h"
#include "hints/plugin.h"

namespace schedq {
namespace {

// The least number of pods of a task: enough work to make the cost of a task negligible.
constexpr size_t kGrain = 512;

Verdict JudgeForWildcard(const JudgedPod& judged, const ObjectChange& change) {
  if ((judged.unschedulable | judged.pending).empty()) return Verdict::kAfterBackoff;
  const bool names_pod = change.after != nullptr && change.after->pod != nullptr;
  const bool names_another = names_pod && change.after->pod->uid != judged.pod->uid;
  return names_another ? Verdict::kSkip : Verdict::kAfterBackoff;
}

Verdict AskHints(const EventMatches& matches, RegistrationMask asked, const JudgedPod& judged,
                 const ObjectChange& change, HintTally* tally) {
  Verdict best = Verdict::kSkip;
  for (RegistrationMask rest = asked; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    const MatchingRegistration& match = matches.registrations[bit];
    const QueueingHintFunction& hint = match.registration->hint;
    const Hint answer = hint ? hint(*judged.pod, change) : Hint::kQueue;
    tally->Count(bit, answer);
    if (answer == Hint::kSkip) continue;
    if (judged.pending.Has(match.plugin)) return Verdict::kImmediately;
    best = Verdict::kAfterBackoff;
    // Only a pending plugin could give a better verdict.
    if (judged.pending.empty()) return best;
  }
  return best;
}

// A pod that several registrations listed becomes one entry with all their bits.
void MergeDuplicates(Narrowing::Pods* pods) {
  std::sort(pods->begin(), pods->end(), [](const auto& a, const auto& b) { return a.pod < b.pod; });
  size_t kept = 0;
  for (const Narrowing::NarrowedPod& listed : *pods) {
    if (kept > 0 && (*pods)[kept - 1].pod == listed.pod) {
      (*pods)[kept - 1].asked |= listed.asked;
    } else {
      (*pods)[kept++] = listed;
    }
  }
  pods->resize(kept);
}

}  // namespace

PluginJudge::PluginJudge(const PluginRegistry& plugins, const JudgeOptions& options)
    : plugins_(plugins),
      metrics_(plugins, options.metrics),
      now_(options.now != nullptr ? options.now : SteadyNow),
      parallel_from_(options.parallel_from) {}

PluginSet PluginJudge::RegisteredFor(const ClusterEvent& event) const {
  return plugins_.Matching(event).plugins;
}

void PluginJudge::Narrow(const ClusterEvent& event, const ObjectChange& change,
                         Narrowing* narrowing) const {
  thread_local PodList listed;  // Keeps its memory between events.
  const std::vector<MatchingRegistration>& registrations = plugins_.Matching(event).registrations;
  for (size_t i = 0; i < registrations.size(); ++i) {
    const auto& [plugin, registration] = registrations[i];
    const RegistrationMask bit = RegistrationMask{1} << i;
    PreHint answer = PreHint::kAllPods;
    listed.clear();
    if (registration->pre_hint) {
      answer = registration->pre_hint(change, &listed);
      metrics_.CountNarrowing(plugin, answer != PreHint::kListed);
    }
    if (answer == PreHint::kListed) {
      SCHEDQ_LOG(kDebug, "PreQueueingHint narrowed pod set of {} to {} for plugin {}",
                 LabelText(event.label), listed.size(), plugins_.plugin(plugin).name);
      for (const PodId pod : listed) narrowing->pods.push_back({pod, bit});
    } else {
      narrowing->asked_of_all |= bit;
      narrowing->plugins_of_all.Insert(plugin);
    }
  }
  if (narrowing->pods.size() > 1) MergeDuplicates(&narrowing->pods);
}

void PluginJudge::Judge(std::span<const JudgedPod> pods, const ClusterEvent& event,
                        const ObjectChange& change, std::span<Verdict> verdicts) const {
  SCHEDQ_CHECK(pods.size() == verdicts.size(), "one verdict a pod");
  if (pods.size() < parallel_from_) return JudgeBatch(pods, event, change, verdicts);
  ForEachRange(pods.size(), kGrain, [&](size_t begin, size_t end) {
    JudgeBatch(pods.subspan(begin, end - begin), event, change,
               verdicts.subspan(begin, end - begin));
  });
}

void PluginJudge::JudgeBatch(std::span<const JudgedPod> pods, const ClusterEvent& event,
                             const ObjectChange& change, std::span<Verdict> verdicts) const {
  if (event.IsWildcard()) {
    for (size_t i = 0; i < pods.size(); ++i) verdicts[i] = JudgeForWildcard(pods[i], change);
    return;
  }
  const EventMatches& matches = plugins_.Matching(event);
  HintTally tally(matches.registrations.size());
  const MonotonicTime start = metrics_.enabled() ? now_() : MonotonicTime();
  // Neighbours mostly have the same rejectors.
  PluginSet last_rejectors;
  RegistrationMask of_rejectors = 0;
  for (size_t i = 0; i < pods.size(); ++i) {
    const JudgedPod& judged = pods[i];
    const PluginSet rejectors = judged.unschedulable | judged.pending;
    if (!(rejectors == last_rejectors)) {
      last_rejectors = rejectors;
      of_rejectors = matches.Of(rejectors);
    }
    const RegistrationMask asked = of_rejectors & judged.asked;
    verdicts[i] = rejectors.empty() ? Verdict::kAfterBackoff
                                    : AskHints(matches, asked, judged, change, &tally);
  }
  if (metrics_.enabled()) metrics_.CountBatch(event, tally, now_() - start);
}

}  // namespace schedq
