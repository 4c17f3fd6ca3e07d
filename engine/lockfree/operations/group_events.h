// What events and time do to gated groups.
//
// Threads: all operations from any thread, lock-free if PreEnqueue and the judge are.
// Linearization: of one group, the exchange of the groups' state; groups move one after the other.
// Parts: QueueParts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "engine/base/time/time.h"
#include "engine/lockfree/groups/asked_of_group.h"
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
  void CollectMembers(const GroupState& state, const RootState& root, const AskedOfGroup& asked,
                      const PoolEvent& pool_event, std::vector<JudgedPod>* judged) const;
  void React(const JudgedGroups::Group& judged, Verdict verdict, const PoolEvent& pool_event);

  Parts& parts_;
  GroupOperations<Parts>& groups_;
};

// A pod that was listed stands for its group. A group with a member without rejectors is worth any
// event, so narrowing does not hide it.
template <typename Parts>
void GroupEvents<Parts>::Judge(const PoolEvent& pool_event, const Narrowing& narrowing) {
  const auto state = parts_.groups->state.load();
  const bool is_narrowed = narrowing.plugins_of_all.empty();
  std::vector<ListedMember> listed;
  std::vector<GroupId> roots;
  for (const auto& [pod, asked] : narrowing.pods) {
    const MemberState* const member = state->members.Get(pod);
    if (member == nullptr || member->stands != Place::kActive) continue;
    const RootState& root = *state->roots.Get(member->root);
    if (root.place != Place::kGated) continue;
    listed.push_back({member->root, pod, asked});
    if (is_narrowed && !root.is_lenient) roots.push_back(member->root);
  }
  std::sort(listed.begin(), listed.end());
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  for (const GatedGroups& gated : state->gated) {
    if (!pool_event.event.IsWildcard() && !pool_event.registered.Has(gated.plugin)) continue;
    const auto& unlisted = is_narrowed ? gated.lenient : gated.all;
    unlisted.ForEach([&](GroupId root, const auto&) { roots.push_back(root); });
  }
  JudgedGroups all;
  for (const GroupId id : roots) {
    const RootState& root = *state->roots.Get(id);
    const auto first = std::lower_bound(listed.begin(), listed.end(), ListedMember{id, 0, 0});
    const auto last = std::lower_bound(first, listed.end(), ListedMember{id + 1, 0, 0});
    const AskedOfGroup asked = {narrowing.asked_of_all, {first, last}};
    const size_t from = all.pods.size();
    CollectMembers(*state, root, asked, pool_event, &all.pods);
    if (all.pods.size() > from) all.groups.push_back({&root, asked, from});
  }
  if (all.groups.empty()) return;
  std::vector<Verdict> verdicts(all.pods.size(), Verdict::kSkip);
  parts_.options.judge->Judge(all.pods, pool_event.event, pool_event.change, verdicts);
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const auto begin = verdicts.begin() + static_cast<ptrdiff_t>(all.groups[i].first);
    const auto end = i + 1 < all.groups.size()
                         ? verdicts.begin() + static_cast<ptrdiff_t>(all.groups[i + 1].first)
                         : verdicts.end();
    const Verdict best = *std::max_element(begin, end);
    if (best != Verdict::kSkip) React(all.groups[i], best, pool_event);
  }
}

// Adds the members that are to be judged; none: the event does not concern the group.
template <typename Parts>
void GroupEvents<Parts>::CollectMembers(const GroupState& state, const RootState& root,
                                        const AskedOfGroup& asked, const PoolEvent& pool_event,
                                        std::vector<JudgedPod>* judged) const {
  if (root.place != Place::kGated) return;
  if (!pool_event.event.IsWildcard() && !pool_event.registered.Has(root.fields.gating_plugin)) {
    return;
  }
  bool passes = !pool_event.pre_check;
  for (size_t i = 0; !passes && i < root.members.size(); ++i) {
    passes = pool_event.pre_check(*state.members.Get(root.members[i])->pod);
  }
  if (!passes) return;
  if (root.is_lenient || asked.of_all != 0) {
    for (const PodId id : root.members) {
      const RegistrationMask mask = root.is_lenient ? kEveryRegistration : asked.Of(id);
      judged->push_back(schedq::ToJudge(*state.members.Get(id), mask));
    }
    return;
  }
  for (const auto& [listed_root, id, mask] : asked.listed) {
    const MemberState* const member = state.members.Get(id);
    if (member == nullptr || member->stands != Place::kActive || member->root != root.id) continue;
    judged->push_back(schedq::ToJudge(*member, mask));
  }
}

// `verdict` is that of the group as it was seen.
template <typename Parts>
void GroupEvents<Parts>::React(const JudgedGroups::Group& judged, Verdict verdict,
                               const PoolEvent& pool_event) {
  const GroupId id = judged.seen->id;
  groups_.Change([&](GroupChange* change) {
    const GroupState& state = *change->from();
    const RootState* const root = state.roots.Get(id);
    if (root == nullptr) return false;
    Verdict now = verdict;
    if (root != judged.seen) {
      std::vector<JudgedPod> pods;
      CollectMembers(state, *root, judged.asked, pool_event, &pods);
      if (pods.empty()) return false;
      std::vector<Verdict> verdicts(pods.size(), Verdict::kSkip);
      parts_.options.judge->Judge(pods, pool_event.event, pool_event.change, verdicts);
      now = *std::max_element(verdicts.begin(), verdicts.end());
      if (now == Verdict::kSkip) return false;
    }
    return change->RequeueGated(id, root->version, now, pool_event.event.label);
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
