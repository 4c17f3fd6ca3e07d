// Answers that a trace gives in place of plugins' code, for the kind `recorded`.
//
// Purpose: a run of any plugins can be recorded and replayed without them. While a run is recorded,
// AnswerRecorder collects the answers of each operation. While a trace is replayed, the replayer
// puts the operation's answers here before it calls the queue. How the two fields of an operation
// are written (any operation may carry them):
//   "rejected": {"<pod>": "<plugin>", ...}          PreEnqueue rejections; the others pass.
//   "verdicts": {"<plugin>": ["<pod>", ...], ...}   Queue of a hint (or its error); else Skip.
// How to use it: call BeginOperation, then Reject and Queue for what the operation's fields say,
// then the queue. The answers of an `event` are kept as long as the event may be logged: a hint
// that is asked about the event in a later `fail` answers from them too. Therefore BeginOperation
// gets the object that the queue will see in the change. An `update`, whose events the engine makes
// itself, and a `fail` have no object; a fail's own verdicts include those for the events that it
// judged.
// Threads: one replayer at a time writes; hints and PreEnqueue may read while no thread writes.
// Memory: grows with the recorded events of the trace; Clear() forgets them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/names/name_key.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/object_name.h"

namespace schedq {

class RecordedAnswers {
 public:
  // Forgets the answers of the previous operation, except those tied to an event's object. `object`
  // is the version that hints look at (ObjectChange::Latest); null for operations without one.
  void BeginOperation(ObjectRef object);
  void BeginOperation() { BeginOperation(nullptr); }

  // `plugin` rejects the pod in PreEnqueue during this operation.
  void Reject(std::string_view namespace_name, std::string_view pod, std::string_view plugin);
  // Every hint of `plugin` answers Queue for the pod when asked during this operation, or about
  // this operation's event.
  void Queue(std::string_view namespace_name, std::string_view pod, std::string_view plugin);
  void Clear();

  bool Rejects(std::string_view plugin, const Pod& pod) const;
  bool Queues(std::string_view plugin, const Pod& pod, const ObjectView* object) const;

  // Calls `visit(ObjectNameView)` for each pod for which `plugin` answers Queue.
  template <typename Visit>
  void ForEachQueued(std::string_view plugin, const ObjectView* object, Visit visit) const {
    for (const Verdicts* verdicts : {&operation_verdicts_, Of(object)}) {
      if (verdicts == nullptr) continue;
      const auto found = verdicts->find(std::string(plugin));
      if (found == verdicts->end()) continue;
      for (const ObjectName& pod : found->second) visit(ObjectNameView(pod));
    }
  }

 private:
  using PodNames = std::unordered_set<ObjectName, ObjectNameHash, ObjectNameEqual>;
  using Verdicts = std::unordered_map<std::string, PodNames, NameHash>;  // By plugin.
  struct EventAnswers {
    ObjectRef object;  // Held, so that no other object gets its address.
    Verdicts verdicts;
  };

  // Null: no event with this object gave answers.
  const Verdicts* Of(const ObjectView* object) const;

  std::unordered_map<ObjectName, std::string, ObjectNameHash, ObjectNameEqual> rejected_;
  Verdicts operation_verdicts_;
  std::unordered_map<const ObjectView*, EventAnswers> by_object_;
  ObjectRef object_;  // Of the operation at hand.
};

}  // namespace schedq
