// Where the groups' newest state is, and what a change of it takes from the engine beside it.
//
// Threads: all operations from any thread; the pointer is lock-free.
// Invariant: a look at the pointer is a read-modify-write of its word, as its exchange is, seq_cst:
// folly counts the readers there. So of two operations on groups the later one finds all that the
// earlier one did before its look or exchange: an event that it counted, a ticket, a slot's word.
#pragma once

#include <folly/concurrency/AtomicSharedPtr.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/names/interner.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/told_numbers.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/place.h"
#include "engine/pod_key.h"

namespace schedq {

template <typename Table, typename Numbers, typename Log, typename Nominations, typename Epochs>
class GroupPorts final : public GroupResources {
 public:
  GroupPorts(const Table& table, const Numbers& told_numbers, Log* log, Nominations* nominations,
             const Epochs& epochs)
      : table_(table),
        told_numbers_(told_numbers),
        log_(*log),
        nominations_(*nominations),
        epochs_(epochs) {}

  FlightPosition BeginFlight() override { return log_.Begin(); }
  void EndFlight(FlightPosition flight) override { log_.End(flight); }
  std::optional<Nomination> BeginNomination(PodId pod, std::string_view node) override {
    return nominations_.Begin(pod, node);
  }
  void EndNomination(PodId pod, const Nomination& nomination) override {
    nominations_.End(pod, nomination);
  }
  uint64_t EventEpoch() const override { return epochs_.Begun(); }
  uint32_t LastNumberOf(PodId pod) const override {
    const uint32_t of_member = told_numbers_.LastOf(pod);
    if (pod >= table_.limit()) return of_member;
    const auto pinned = table_.Pin(pod);
    // A slot without a record keeps the last version, whose pod has ended.
    const uint32_t last = pinned ? pinned.facts().version : pinned.word().version_or_position;
    return LaterNumber(of_member, last == 0 ? 0 : last + 1);
  }

 private:
  const Table& table_;
  const Numbers& told_numbers_;
  Log& log_;
  Nominations& nominations_;
  const Epochs& epochs_;
};

// There only where the gate is on.
template <template <typename> class Atom, typename Table, typename Log, typename Nominations,
          typename Epochs>
struct GroupStore {
  GroupStore(const Table& table, Log* log, Nominations* nominations, const Epochs& epochs)
      : ports(table, told_numbers, log, nominations, epochs) {}

  // The state that has this member; null: it is none.
  std::shared_ptr<const GroupState> StateWith(const PodKey& key) const {
    std::shared_ptr<const GroupState> known = state.load();
    if (GroupChange::FindIn(*known, key) == nullptr) return nullptr;
    return known;
  }
  // Whether the group is not found by this ticket of active any more, nor ever will be. While its
  // newer ticket is owed, it is found by the older one.
  bool IsStale(uint64_t ticket) const {
    const auto known = state.load();
    const RootState* const root = known->roots.Get(GroupIn(ticket));
    if (root == nullptr || root->place != Place::kActive) return true;
    return root->version != VersionIn(ticket) && known->OwedTo(root->id) == nullptr;
  }

  ToldNumbers<Atom> told_numbers;
  GroupPorts<Table, ToldNumbers<Atom>, Log, Nominations, Epochs> ports;
  Interner names{4};
  folly::atomic_shared_ptr<const GroupState, Atom> state{std::make_shared<const GroupState>()};
};

}  // namespace schedq
