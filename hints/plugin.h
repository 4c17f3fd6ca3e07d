// A scheduling plugin as the queue sees it.
//
// Purpose: one value describes a plugin: its name, whether a pod may enter the queue, which events
// may make a pod schedulable that it rejected, and whether a pod may go to its node. A plugin of
// your own is one small file with one function that returns a Plugin, such as
// tests/unit/hints/plugins/example_plugin.cc.
// When not to use it: for filtering and scoring nodes, which the queue does not do.
// Threads: every function is called from any thread, also concurrently, and must neither block nor
// call the queue. What it captures must live as long as the registry.
// Honesty: a hint may answer Skip only if the change cannot make the pod schedulable, and a
// PreQueueingHint may leave a pod out only if the hint beside it would answer Skip for it. Pods
// that a dishonest pair misses wait for the flush of the unschedulable pods.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

// A hint's answer about one pod. An error counts as Queue: an attempt too many does less harm than
// one too few.
enum class Hint : uint8_t { kQueue, kSkip, kError };
inline constexpr int kHintCount = 3;

// A PreQueueingHint's answer. An error counts as all pods.
enum class PreHint : uint8_t { kAllPods, kListed, kError };

// Where a PreQueueingHint lists pods. A pod may be listed twice; unknown ones do no harm.
using PodList = std::vector<PodId>;

// May the pod enter the queue? When it may not and `message` is not null, writes why, in words for
// the pod's owner; the text must be the same as long as the reason is the same.
using PreEnqueueFunction = std::function<bool(const Pod& pod, std::string* message)>;

// The text for the pod's owner about a rejection that pre_enqueue explained with `message`, where
// the report's model lets plugins choose (KEP-5501). "" shows nothing.
using UserMessageFunction = std::function<std::string(const Pod& pod, std::string_view message)>;

// Could the change make `pod` schedulable, which this plugin rejected?
using QueueingHintFunction = std::function<Hint(const Pod& pod, const ObjectChange& change)>;

// Which pods should the hint be asked about? Asked once an event, before any pod is judged. Only
// appends to `pods`, which may hold other plugins' pods; what it appends counts for kListed only.
using PreQueueingHintFunction = std::function<PreHint(const ObjectChange& change, PodList* pods)>;

// What a plugin says at Permit of a pod that has a node, before the pod goes there.
struct PermitAnswer {
  enum class Kind : uint8_t { kAllow, kReject, kWait };

  Kind kind = Kind::kAllow;
  Duration timeout{};  // Of kWait: afterwards the pod is rejected.
};

// Pods that wait for the plugin, by their uids. Nothing happens where there is no such pod.
class WaitingPodsOfPlugin {
 public:
  virtual ~WaitingPodsOfPlugin() = default;
  virtual void Allow(std::string_view uid) = 0;
  virtual void Reject(std::string_view uid) = 0;
};

// Asked by the scheduler around the queue, not by the queue. What it says of pods through `waiting`
// counts also where their own Permit is still being asked.
using PermitFunction = std::function<PermitAnswer(const Pod& pod, std::string_view node,
                                                  WaitingPodsOfPlugin* waiting)>;
// A pod for which Permit was asked does not go to its node after all.
using UnreserveFunction = std::function<void(const Pod& pod)>;

// Events that may make a pod schedulable, and the functions that tell whether one does.
struct EventRegistration {
  Resource resource = Resource::kWildcard;
  Action actions = Action::kAll;     // Or-ed. `*` with exactly kAll is a wildcard registration.
  QueueingHintFunction hint;         // Empty: Queue.
  PreQueueingHintFunction pre_hint;  // Empty: all pods.
};

struct Plugin {
  std::string name;
  // What the owner of a pod reads when this plugin rejected it in a scheduling attempt.
  std::string rejection_message;
  PreEnqueueFunction pre_enqueue;    // Empty: every pod may enter.
  UserMessageFunction user_message;  // Empty: what pre_enqueue says.
  std::vector<EventRegistration> events;
  PermitFunction permit;        // Empty: every pod may go.
  UnreserveFunction unreserve;  // Empty: there is nothing to forget.
};

}  // namespace schedq
