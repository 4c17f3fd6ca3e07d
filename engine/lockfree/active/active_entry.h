// What the active queue holds: a sort key and a ticket. 24 bytes, copied freely.
#pragma once

#include <cstdint>

namespace schedq {

struct ActiveEntry {
  int32_t priority = 0;      // Higher goes first.
  int64_t timestamp_ns = 0;  // Then older.
  uint64_t ticket = 0;       // What it stands for. The queue never looks at it.

  bool operator==(const ActiveEntry&) const = default;
};

static_assert(sizeof(ActiveEntry) == 24, "two and a half entries share a cache line");

// Whether `a` must be popped before `b`. Entries of equal keys go in any order.
constexpr bool GoesBefore(const ActiveEntry& a, const ActiveEntry& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return a.timestamp_ns < b.timestamp_ns;
}

}  // namespace schedq
