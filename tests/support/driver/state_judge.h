// Judges one engine's state after every operation, by invariants alone.
//
// It keeps an account of its own of each pod's attempts, failures, timestamp and nomination, and
// updates it by the operations. After each operation it compares the account with all that the
// queue's read operations return:
//  1. A live pod is in exactly one place, and no other pod is queued. The pods in flight are those
//     that were popped and neither failed nor bound.
//  2. Where, List and Counts agree, and the gauges equal a recount.
//  3. Attempts grow by one a pop, and failures count as stated. Gated pods, pods in backoff and
//     active pods have the fields that belong to their place.
//  4. A pop returns the first pod by the stated order of the queued pods.
//  5. No backoff is shorter than stated, and after a flush none is longer.
//  6. A member that waits is incomplete without a root, pending while its root is in its cycle, and
//     else in the one place in which all queued members of its root stand. A pop of a group takes
//     all of them, in the order of members.
//  7. Events that no pod in flight needs are let go (log_judge.h).
// Of the entities of groups it keeps no account: engines are compared for these.
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "tests/support/driver/group_judge.h"
#include "tests/support/driver/log_judge.h"

namespace schedq {

class StateJudge {
 public:
  using Seen = std::map<std::string, PodWhereabouts>;  // By full name.

  // `replayer` outlives this. One operation of the engine lets so many events go at most.
  StateJudge(const TraceHeader& header, Replayer* replayer, uint64_t events_let_go_max)
      : header_(header), replayer_(*replayer), groups_(header.gates), log_(events_let_go_max) {}

  // The caller calls both around each operation. After returns what is wrong; empty: nothing.
  void Before(const TraceOperation& operation);
  std::string After(const TraceOperation& operation, const TraceOutcome& outcome);

  // The pods after the last operation, with known pods that are absent.
  const Seen& seen() const { return seen_; }
  // The pods before the last operation.
  const Seen& before() const { return before_; }
  // The full names of the pods that the last operation popped: several of a group.
  const std::vector<std::string>& popped() const { return popped_; }
  const GroupJudge& groups() const { return groups_; }
  const LogJudge& log() const { return log_; }
  // What no trace does: inside a group's cycle pods are not popped, and single pods do not fail.
  bool Forbids(const TraceOperation& operation) const;
  // Some incarnation of the name is a single pod.
  bool IsOfSinglePod(const std::string& name) const;

 private:
  // A pod's attempts so far, by the rules of docs/semantics.md.
  struct Account {
    uint32_t attempts = 0;
    uint32_t unschedulable_count = 0;
    uint32_t consecutive_errors = 0;
    Instant timestamp{};
    int32_t sorted_priority = 0;  // The priority of the version that the queue sorts it by.
    bool was_flushed = false;     // Whether a flush had moved it before its pop.
    std::string nomination;
  };

  // The newest version of a live pod.
  struct LivePod {
    PodRef pod;
    Account account;
    bool is_readded_in_flight = false;  // Its uid was in flight when it was added.
  };

  // Update the account by an operation (state_judge.cc).
  static std::string KeyOf(const Pod& pod);
  void Follow(const TraceOperation& operation, const TraceOutcome& outcome);
  void FollowFail(const TraceOperation& operation);
  void FollowPop(const TraceOutcome& outcome);
  void FollowPopOfGroup(const TraceOutcome& outcome);
  // The pod with this name in the trace was popped.
  void TakeOff(const std::string& display_name, int64_t attempts);
  void FollowUpdate(const PodRef& after);
  void FollowEntries();

  // Check a state (state_checks.cc). Each adds what is wrong to faults_.
  void AddFault(const std::string& text);
  void ReadState();
  void CheckPlaces();
  void CheckInFlight(const TraceOperation& operation);
  void CheckFields(const std::string& name, const PodWhereabouts& where);
  void CheckGauges();
  void CheckNominations(const TraceOperation& operation, const TraceOutcome& outcome);

  // Checks of groups (group_checks.cc).
  void CheckMembers();
  void CheckPoppedMembers(const GroupKey& root, const std::vector<std::string>& members);
  void CheckPopAmongGroups();

  // Check a move (state_checks.cc).
  void CheckPop();
  void CheckMoves(const TraceOperation& operation);
  std::optional<Instant> ExpirationOf(const Account& account) const;
  bool IsBackingOff(const Account& account) const;
  Instant WindowNow() const;
  // The order of two pods that are both in active or both in backoff.
  bool ComesBefore(const std::string& a, const std::string& b, bool in_backoff) const;
  const Account& AccountOf(const std::string& name) const { return live_.at(name).account; }
  // The live pod of this name and uid, or null.
  LivePod* FindLive(const std::string& name, const std::string& key);

  const TraceHeader header_;
  Replayer& replayer_;
  std::map<std::string, LivePod> live_;     // By full name.
  std::map<std::string, Account> flights_;  // By full name and uid, as popped.
  Seen seen_;
  Seen before_;
  std::vector<std::string> popped_;
  GroupJudge groups_;
  LogJudge log_;
  uint64_t cycle_ = 0;
  uint64_t bound_after_flush_ = 0;
  // docs/semantics.md leaves open whose flag counts when a pod that was added again in flight is
  // bound.
  bool knows_bound_after_flush_ = true;
  uint64_t operations_ = 0;
  // The target of a bind or fail, which Before finds.
  std::string target_name_;
  std::string target_key_;
  std::string faults_;
};

}  // namespace schedq
