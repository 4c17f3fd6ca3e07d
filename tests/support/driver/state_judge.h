// The judge of one engine's state after every operation, by invariants alone.
//
// It keeps its own account of each pod's attempts, failures, timestamp and nomination, follows the
// operations, and after each one compares that account with everything that the read side shows:
//  1. A live pod is in exactly one place; nothing else is queued; what is in flight is what was
//     popped and neither failed nor bound.
//  2. Where, List and Counts agree; the gauges equal the recount.
//  3. Fields: attempts grow by one a pop; failures count as stated; gated, error-backoff and active
//     pods have the fields that belong there.
//  4. A pop returns the first by the stated order over what was queued.
//  5. No backoff is shorter, and after a flush none longer, than stated.
// Threads: one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/format/trace/replayer.h"

namespace schedq {

class StateJudge {
 public:
  using Seen = std::map<std::string, PodWhereabouts>;  // By full name.

  // `replayer` outlives this.
  StateJudge(const TraceHeader& header, Replayer* replayer)
      : header_(header), replayer_(*replayer) {}

  // Call both around each operation. After returns what is wrong, or nothing.
  void Before(const TraceOperation& operation);
  std::string After(const TraceOperation& operation, const TraceOutcome& outcome);

  // As they were when last looked at; absent ones that are known too.
  const Seen& seen() const { return seen_; }
  // As they were before the last operation.
  const Seen& before() const { return before_; }
  // The full name of what the last pop took; empty: nothing.
  const std::string& popped() const { return popped_; }

 private:
  // What the page says of a pod's attempts so far.
  struct Account {
    uint32_t attempts = 0;
    uint32_t unschedulable_count = 0;
    uint32_t consecutive_errors = 0;
    Instant timestamp{};
    int32_t sorted_priority = 0;  // Of the version that entered its queue or was updated there.
    bool was_flushed = false;     // As it was when popped.
    std::string nomination;
  };

  // The newest version of a live pod.
  struct LivePod {
    PodRef pod;
    Account account;
    bool is_anew_in_flight = false;  // Its uid was in flight when it was created.
  };

  // Following operations (state_judge.cc).
  static std::string KeyOf(const Pod& pod);
  void Follow(const TraceOperation& operation, const TraceOutcome& outcome);
  void FollowFail(const TraceOperation& operation);
  void FollowPop(const TraceOutcome& outcome);
  void FollowUpdate(const PodRef& after);
  void FollowEntries();

  // Looking at states (state_checks.cc). Each adds to wrong_.
  void Wrong(std::string text);
  void Look();
  void CheckPlaces();
  void CheckInFlight();
  void CheckFields(const std::string& name, const PodWhereabouts& where);
  void CheckGauges();
  void CheckNominations(const TraceOperation& operation, const TraceOutcome& outcome);

  // Looking at moves (state_checks.cc).
  void CheckPop();
  void CheckMoves(const TraceOperation& operation);
  std::optional<Instant> ExpirationOf(const Account& account) const;
  bool IsBackingOff(const Account& account) const;
  Instant WindowNow() const;
  // Of two queued pods, both in active or both in backoff.
  bool ComesBefore(const std::string& a, const std::string& b, bool in_backoff) const;
  const Account& AccountOf(const std::string& name) const { return live_.at(name).account; }
  // The live pod of this name and uid, or null.
  LivePod* LiveUnder(const std::string& name, const std::string& key);

  const TraceHeader header_;
  Replayer& replayer_;
  std::map<std::string, LivePod> live_;     // By full name.
  std::map<std::string, Account> flights_;  // By full name and uid, as popped.
  Seen seen_;
  Seen before_;
  std::string popped_;
  uint32_t popped_attempts_ = 0;
  uint64_t cycle_ = 0;
  uint64_t bound_after_flush_ = 0;
  // The page does not say whose flag counts when a pod that was created anew in flight is bound.
  bool knows_bound_after_flush_ = true;
  uint64_t operations_ = 0;
  // The target of a bind or fail, found before it is done.
  std::string target_name_;
  std::string target_key_;
  std::string wrong_;
};

}  // namespace schedq
