#include "engine/classic/replacement.h"

#include <utility>

#include "engine/plugin.h"
#include "engine/pod_group.h"

namespace schedq {

ClassicQueue::Replacement::Replacement(ClassicQueue& queue, PodEntity& old)
    : queue_(queue),
      old_(old),
      pod_(old.pod),
      queued_(old.queued),
      was_queued_(old.IsQueued()),
      before_{&old, old.fields},
      nomination_(queue.nominator_.NodeOf(old.key)),
      told_before_(queue.told_.size()) {
  if (queue_.IsMember(*pod_)) SaveGroup();
  queue_.held_counts_ = &counts_;
  try {
    queue_.TakeAway(old_);
  } catch (...) {
    queue_.held_counts_ = nullptr;
    throw;
  }
  queue_.GoneButKept(old_, was_queued_);
}

void ClassicQueue::Replacement::SaveGroup() {
  const std::optional<GroupKey> root = queue_.RootOf(*pod_);
  const GroupEntity* const group = root ? queue_.FindGroup(*root) : nullptr;
  if (group == nullptr) return;
  group_ = std::make_unique<GroupEntity>(*group);
  group_->heap_position = kNotInHeap;
  if (group->is_in_cycle) return;
  for (PodEntity* member : group->members) others_.push_back({member, member->fields});
}

void ClassicQueue::Replacement::Finish() {
  for (const HeldCount& count : counts_) queue_.Count(count);
  queue_.entities_.ReleaseIfGone(&old_);
}

void ClassicQueue::Replacement::Undo() {
  old_.pod = pod_;
  old_.live = true;
  if (was_queued_) {
    old_.fields.Rejectors().ForEach(
        [&](PluginId plugin) { queue_.metrics_.AddRejected(plugin, 1); });
  }
  PutBackFields(old_, before_.fields);
  queue_.nominator_.Set(old_.key, nomination_);
  if (group_ != nullptr) {
    PutBackGroup();
  } else if (queued_ == Place::kIncomplete) {
    queue_.WaitIncomplete(old_);
  } else if (queued_ != Place::kAbsent) {
    queue_.PutIn(old_, queued_);
  }
  queue_.told_.erase(queue_.told_.begin() + static_cast<ptrdiff_t>(told_before_),
                     queue_.told_.end());
}

// The group is in the queue to which its rest went, or forgotten, or in its cycle.
void ClassicQueue::Replacement::PutBackGroup() {
  GroupEntity* group = queue_.FindGroup(group_->root);
  const Place place = std::exchange(group_->queued, Place::kAbsent);
  if (group == nullptr) {
    const GroupKey root = group_->root;
    group = queue_.groups_.emplace(root, std::move(group_)).first->second.get();
  } else {
    if (group->queued != Place::kAbsent) queue_.RemoveFromQueue(*group);
    group->fields = group_->fields;
    group->members = group_->members;
    group->pending = group_->pending;
  }
  for (const Before& other : others_) {
    if (other.pod != &old_) PutBackFields(*other.pod, other.fields);
    other.pod->group = group;
  }
  old_.queued = queued_;
  if (place != Place::kAbsent) queue_.PutIn(*group, place);
}

void ClassicQueue::Replacement::PutBackFields(PodEntity& pod, const QueueingFields& fields) const {
  pod.fields.Rejectors().ForEach([&](PluginId plugin) {
    if (!fields.Rejectors().Has(plugin)) queue_.metrics_.AddRejected(plugin, -1);
  });
  pod.fields = fields;
}

}  // namespace schedq
