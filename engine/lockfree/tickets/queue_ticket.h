// What stands in a queue for an entity: its sort key, and a number that says whose it is.
//
// A ticket's number is (pod, version) or (group, version); a bit that no pod's number has marks
// groups. A ticket counts only while the pod's slot, or the group's state, has its version in the
// place where the ticket stands.
#pragma once

#include <cstdint>

#include "engine/base/time/maybe_instant.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/place.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

struct QueueTicket {
  ActiveEntry entry;
  MaybeInstant expiration;  // Of one in backoff.
};

inline PodId PodIn(uint64_t ticket) { return static_cast<PodId>(ticket >> 32); }
inline uint32_t VersionIn(uint64_t ticket) { return static_cast<uint32_t>(ticket); }

inline constexpr uint32_t kGroupBit = uint32_t{1} << 31;
inline bool IsOfGroup(uint64_t ticket) { return (PodIn(ticket) & kGroupBit) != 0; }
inline uint32_t GroupIn(uint64_t ticket) { return PodIn(ticket) & ~kGroupBit; }

// Whether the pod whose word this is still is in `place` where the ticket says.
inline bool IsTicketOf(uint64_t ticket, Place place, const SlotWord& word) {
  return word.queued == place && word.version_or_position == VersionIn(ticket);
}

inline QueueTicket TicketFor(const PodFacts& facts) {
  const QueueingFields& fields = facts.fields;
  return {{facts.pod->priority, fields.timestamp.time_since_epoch().count(),
           uint64_t{facts.id} << 32 | facts.version},
          fields.backoff_expiration};
}

}  // namespace schedq
