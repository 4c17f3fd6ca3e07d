// A scheduling plugin as the queue sees it.
//
// Purpose: one value describes a plugin: its name, whether a pod may enter the queue, and which
// events may make a pod schedulable that it rejected. A plugin of your own is one small file with
// one function that returns a Plugin; tests/unit/hints/plugins/example_plugin.cc is such a file.
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
};

}  // namespace schedq
