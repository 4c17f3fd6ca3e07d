// Draws the next operation of a random trace, given the places of the pods.
//
// Half of the operations are for the (operation, place) cell that was reached least. The others are
// drawn by weight, or bring pods to the places that are reached least. Times include whole seconds
// of absolute time, the ends of windows, and the instant at which the flush of unschedulable pods
// becomes due. Timestamps are unique, so that no order is a matter of chance. Names are always
// "namespace/name"; short names repeat between namespaces.
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "tests/support/driver/coverage.h"
#include "tests/support/driver/group_judge.h"
#include "tests/support/driver/state_judge.h"

namespace schedq {

class OperationGenerator {
 public:
  OperationGenerator(const TraceHeader& header, Random random);

  // `judge` is that of one engine, `replayer` that engine's.
  TraceOperation Next(const StateJudge& judge, const Replayer& replayer, const Coverage& reached);

 private:
  // The state of the pod with this name.
  struct Candidate {
    std::string name;
    Place place = Place::kAbsent;
    PodRef live;
    bool in_flight = false;
    bool may_fail = true;  // False: a single pod inside a group's cycle.
  };

  // A group object that may come, change and go. Its place in the tree stays.
  struct GroupName {
    GroupKey key;
    std::string parent;
  };

  void CollectCandidates(const StateJudge& judge, const Replayer& replayer);
  static bool Fits(TraceOp op, const Candidate& candidate);
  TraceOp ChooseOp(const Coverage& reached, const Candidate** target);
  // The operation, or another where it cannot come now.
  TraceOp PossibleNow(TraceOp op, const GroupJudge& groups);
  // The group objects that an operation on groups may be about.
  std::vector<const GroupName*> GroupsFor(TraceOp op, const GroupJudge& groups) const;
  void FillGroup(TraceOperation* operation, const GroupJudge& groups);
  void DrawEventOfGroups(TraceOperation* operation);
  // The least reached operation and place that some candidate fits. nullopt where others, which no
  // candidate fits, were reached far less.
  std::optional<std::pair<TraceOp, Place>> LeastReached(const Coverage& reached);
  TraceOp DrawOp();
  TraceOp DrawTowardsBackoff();
  const Candidate* DrawTarget(TraceOp op, std::optional<Place> place);

  void Fill(TraceOperation* operation, const Candidate* target);
  void Advance(TraceOperation* operation);
  int64_t FlushBoundary();
  PodRef NewPod(const Candidate& target);
  PodRef ChangedPod(const Pod& before);
  void Change(Pod* pod);
  void DrawEvent(TraceOperation* operation);
  void DrawAnswers(TraceOperation* operation);
  std::vector<std::string> SomePlugins(double chance);
  std::string SomeNode() { return random_.Chance(0.3) ? "" : Pick({"n1", "n2", "n3"}); }
  std::string SomeZone() { return Pick({"a", "b", ""}); }
  std::string Pick(const std::vector<std::string>& from) {
    return from[random_.Below(from.size())];
  }

  const TraceHeader header_;
  Random random_;
  std::vector<Candidate> candidates_;
  std::vector<GroupName> group_names_;            // Empty: the trace has no groups.
  std::map<std::string, std::string> last_uids_;  // By full name.
  std::vector<Instant> due_;  // The instants at which pods in the pool become due for the flush.
  int64_t time_ms_ = 0;
  int64_t stamped_ms_ = -1;  // The last time that a pod got as its timestamp.
  uint64_t uids_ = 0;
};

}  // namespace schedq
