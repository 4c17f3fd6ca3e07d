// Judges how many events an engine keeps for pods in flight.
//
// Purpose: holds an engine to what docs/semantics.md promises of Done: what no pod in flight needs
// goes at once, or so many events at a time. It knows no event, only the numbers; another engine
// that lets all go at once tells which events pods in flight need.
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace schedq {

class LogJudge {
 public:
  // Of an engine of which one operation lets so many events go at most.
  explicit LogJudge(uint64_t let_go_max) : let_go_max_(let_go_max) {}

  // After an operation, with the pods in flight and the events that are kept now. `is_logged`: it
  // was an event that the engine logs for certain if it keeps any. Returns what is wrong; empty:
  // nothing.
  std::string After(size_t in_flight, bool is_logged, uint64_t kept);

  // The same against an engine that was told the same operations and keeps no event that no pod
  // needs.
  std::string Against(const LogJudge& exact) const;

 private:
  // What is left of `kept` when an operation lets go what it may.
  uint64_t Without(uint64_t kept, uint64_t let_go) const {
    return kept > let_go ? kept - let_go : 0;
  }

  const uint64_t let_go_max_;
  // Before the last operation, and after it.
  size_t in_flight_before_ = 0;
  size_t in_flight_ = 0;
  uint64_t kept_before_ = 0;
  uint64_t kept_ = 0;
};

}  // namespace schedq
