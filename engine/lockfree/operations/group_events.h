// What events and time do to gated groups.
//
// Threads: all operations from any thread, lock-free if PreEnqueue and the judge are.
// Linearization: of one group, the exchange of the groups' state; groups move one after the other.
// Parts: QueueParts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/time/time.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/group_operations.h"
#include "engine/place.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Whether an entity has been in the pool for so long that it is tried again.
inline bool IsDueForFlush(const QueueOptions& options, const QueueingFields& fields, Instant now) {
  const Instant since = std::max(fields.timestamp, fields.flush_timestamp.value_or(Instant::min()));
  return now - since > options.max_in_unschedulable;
}

template <typename Parts>
class GroupEvents {
 public:
  GroupEvents(Parts* parts, GroupOperations<Parts>* groups) : parts_(*parts), groups_(*groups) {}
  GroupEvents(const GroupEvents&) = delete;
  GroupEvents& operator=(const GroupEvents&) = delete;

  void Judge(const PoolEvent& pool_event, const Narrowing& narrowing);

  // Takes the group out of error-backoff, if it is due.
  void Flush(GroupId root, Instant cutoff) {
    groups_.Change([&](GroupChange* change) { return change->Flush(root, cutoff); });
  }
  std::vector<GroupId> DueForFlush(Instant now) const;
  // Tries a gated group again, if it is due.
  void FlushFromPool(GroupId root) {
    groups_.Change([&](GroupChange* change) {
      return change->FlushFromPool(root, parts_.options.max_in_unschedulable);
    });
  }

 private:
  // `listed`: of its members only these are judged; empty: all.
  void React(GroupId root, std::span<const Narrowing::NarrowedPod> listed,
             const PoolEvent& pool_event);
  Verdict JudgeGroup(const GroupState& state, const RootState& root,
                     std::span<const Narrowing::NarrowedPod> listed,
                     const PoolEvent& pool_event) const;

  Parts& parts_;
  GroupOperations<Parts>& groups_;
};

// A pod that was found stands for its group. A group with a member without rejectors is worth any
// event, so narrowing does not hide it.
template <typename Parts>
void GroupEvents<Parts>::Judge(const PoolEvent& pool_event, const Narrowing& narrowing) {
  const auto state = parts_.groups->state.load();
  const bool is_narrowed =
      narrowing.plugins_of_all.empty() && !parts_.options.gates.CompositePodGroup();
  std::vector<std::pair<GroupId, Narrowing::NarrowedPod>> listed;
  std::vector<GroupId> whole;
  if (is_narrowed) {
    for (const Narrowing::NarrowedPod& pod : narrowing.pods) {
      const MemberState* const member = state->members.Get(pod.pod);
      if (member == nullptr || member->stands != Place::kActive) continue;
      const RootState& root = *state->roots.Get(member->root);
      if (root.place == Place::kGated && !root.is_lenient) {
        listed.push_back({member->root, pod});
      }
    }
  }
  for (const GatedGroups& gated : state->gated) {
    if (!pool_event.event.IsWildcard() && !pool_event.registered.Has(gated.plugin)) continue;
    const auto& roots = is_narrowed ? gated.lenient : gated.all;
    roots.ForEach([&](GroupId root, const auto&) { whole.push_back(root); });
  }
  for (const GroupId root : whole) React(root, {}, pool_event);
  const auto by_root = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(listed.begin(), listed.end(), by_root);
  for (auto first = listed.begin(); first != listed.end();) {
    const GroupId root = first->first;
    std::vector<Narrowing::NarrowedPod> pods;
    for (; first != listed.end() && first->first == root; ++first) pods.push_back(first->second);
    React(root, pods, pool_event);
  }
}

template <typename Parts>
Verdict GroupEvents<Parts>::JudgeGroup(const GroupState& state, const RootState& root,
                                       std::span<const Narrowing::NarrowedPod> listed,
                                       const PoolEvent& pool_event) const {
  bool passes = !pool_event.pre_check;
  for (size_t i = 0; !passes && i < root.members.size(); ++i) {
    passes = pool_event.pre_check(*state.members.Get(root.members[i])->pod);
  }
  if (!passes) return Verdict::kSkip;
  std::vector<JudgedPod> judged;
  const auto consider = [&](const MemberState& member, RegistrationMask asked) {
    judged.push_back(schedq::ToJudge(member, asked));
  };
  if (listed.empty()) {
    judged.reserve(root.members.size());
    for (const PodId id : root.members) consider(*state.members.Get(id), kEveryRegistration);
  }
  for (const auto& [id, asked] : listed) {
    const MemberState* const member = state.members.Get(id);
    if (member == nullptr || member->stands != Place::kActive || member->root != root.id) continue;
    consider(*member, asked);
  }
  if (judged.empty()) return Verdict::kSkip;
  std::vector<Verdict> verdicts(judged.size(), Verdict::kSkip);
  parts_.options.judge->Judge(judged, pool_event.event, pool_event.change, verdicts);
  return *std::max_element(verdicts.begin(), verdicts.end());
}

template <typename Parts>
void GroupEvents<Parts>::React(GroupId id, std::span<const Narrowing::NarrowedPod> listed,
                               const PoolEvent& pool_event) {
  groups_.Change([&](GroupChange* change) {
    const GroupState& state = *change->from();
    const RootState* const root = state.roots.Get(id);
    if (root == nullptr || root->place != Place::kGated) return false;
    if (!pool_event.event.IsWildcard() && !pool_event.registered.Has(root->fields.gating_plugin)) {
      return false;
    }
    const Verdict verdict = JudgeGroup(state, *root, listed, pool_event);
    if (verdict == Verdict::kSkip) return false;
    return change->RequeueGated(id, root->version, verdict, pool_event.event.label);
  });
}

template <typename Parts>
std::vector<GroupId> GroupEvents<Parts>::DueForFlush(Instant now) const {
  std::vector<GroupId> due;
  const auto state = parts_.groups->state.load();
  for (const GatedGroups& gated : state->gated) {
    gated.all.ForEach([&](GroupId id, const auto&) {
      if (IsDueForFlush(parts_.options, state->roots.Get(id)->fields, now)) due.push_back(id);
    });
  }
  return due;
}

}  // namespace schedq
