// A call that the scheduler wants to make to the API server, and the rules that need nothing but
// calls: which is more relevant, how two become one, and when one changes nothing.
//
// Threads: a call is used by its owner's thread only; listeners are called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatcher/boxed.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

// A dense number for an object that calls are made about; for pods their PodId.
using ObjectId = uint32_t;

// More relevant first.
enum class CallType : uint8_t { kBinding, kDeletion, kStatusPatch };
inline constexpr int kCallTypeCount = 3;
// As metrics name them.
std::string_view CallTypeName(CallType type);

// How a call ended. Skipped: it was less relevant, changed nothing, or was cancelled.
enum class CallEnd : uint8_t { kSuccess, kError, kOverwritten, kSkipped };
inline constexpr int kCallEndCount = 4;

// A more relevant call was the reason that this one was not sent, so what it would have changed may
// be unchanged.
inline bool WasOutranked(CallEnd end, const Status& status) {
  return end == CallEnd::kSkipped && !status.ok();
}

inline constexpr std::string_view kNotReadyReason = "NotReadyForScheduling";

// The condition PodScheduled=False of a pod that has it; nullptr otherwise.
const PodCondition* UnscheduledCondition(const Pod& pod);

// What a patch says about the condition PodScheduled.
struct ConditionPatch {
  enum class Kind : uint8_t {
    kKeep,   // Nothing.
    kSet,    // False, with this reason and message.
    kClear,  // Remove it where its reason is NotReadyForScheduling.
  };

  ConditionPatch() = default;
  ConditionPatch(Kind kind_said, std::string_view reason_said, std::string message_said)
      : reason(reason_said), message(std::move(message_said)), kind(kind_said) {}
  bool operator==(const ConditionPatch&) const = default;

  std::string_view reason;  // Text that lives as long as the program.
  std::string message;
  Kind kind = Kind::kKeep;
};

// A claim's allocation, which goes out together with the pod's nomination.
struct ClaimAllocation {
  std::string claim;
  std::string node;
  bool operator==(const ClaimAllocation&) const = default;
};

class CallListener;

// A call that was overwritten, and whose condition the newer call inherited or, being more
// relevant, dropped. Its listener may have to add the condition again if the newer call fails.
struct Predecessor {
  CallListener* listener = nullptr;  // Null: there was none.
  uint64_t tag = 0;
};

// Where a pod goes or may go, and what only a call with a placement can need.
struct Placement {
  std::string node;                       // Of a binding.
  std::optional<std::string> nomination;  // Of a patch: the node, "" to clear; none: keep.
  std::vector<ClaimAllocation> claims;    // Of a patch.
  Predecessor predecessor;                // Set by the queue.
  CallListener* asked_by = nullptr;       // Set by the listener, which tells it of the call's end.
};

struct ApiCall;

// Is told how a call ended: once, by the thread whose operation ended it, after that operation took
// effect. Two threads may tell of two calls of one object at the same time, or in the other order.
// A listener must not block. It may use the queue. What it throws is logged and goes no further.
class CallListener {
 public:
  virtual ~CallListener() = default;
  // Skipped: the status is an error where a more relevant call was the reason (WasOutranked).
  virtual void OnEnd(const ApiCall& call, CallEnd end, const Status& status) = 0;
  // This listener's call with this tag set a condition. `successor`, which set none, overwrote it
  // and inherited or dropped that condition (see Predecessor). Now `successor` was executed.
  virtual void OnSuccessorEnd(const ApiCall& /*successor*/, uint64_t /*tag*/, const Status&) {}
};

// What a call changes and whom it tells of its end: all that the queue keeps of a waiting call.
struct CallContent {
  PodRef pod;                        // The object as last seen; the queue keeps it current.
  CallListener* listener = nullptr;  // May be null; outlives the call and its successor.
  uint64_t tag = 0;                  // The listener's own.
  // Of a patch. The members after it lie in its tail padding.
  [[no_unique_address]] ConditionPatch condition;
  CallType type = CallType::kStatusPatch;
  bool sends_event = false;  // An event with the condition's reason and message is sent too.
  ObjectId object = 0;
  Boxed<Placement> placement;  // None: the call does not change where the pod goes.

  // "" when the call has no placement.
  std::string_view node() const {
    return placement.has_value() ? std::string_view(placement->node) : std::string_view();
  }
  // Null when the call leaves the nomination as it is.
  const std::string* nomination() const {
    return placement.has_value() && placement->nomination ? &*placement->nomination : nullptr;
  }
};
static_assert(sizeof(CallContent) <= 96, "a call and what the queue adds share two cache lines");

struct ApiCall : CallContent {
  ApiCall() = default;
  explicit ApiCall(CallContent&& content) : CallContent(std::move(content)) {}

  Duration delay{};  // From Add until it is due.
};

// For people: the pod's name, or the object's number where the pod is not known.
std::string PodNameOf(const CallContent& call);

// An object's number may pass from a pod that is gone to another pod, and calls of the one have
// nothing to do with calls of the other. An unknown pod (null) counts as the same one.
bool IsSamePodByUid(const PodRef& a, const PodRef& b);
inline bool IsSamePod(const PodRef& a, const PodRef& b) { return a == b || IsSamePodByUid(a, b); }

inline bool IsLessRelevant(CallType a, CallType b) { return a > b; }

// Adds to `newer` what `older`, a call of the same type, changes and `newer` does not.
void MergeWhatIsMissing(const CallContent& older, CallContent* newer);
inline bool MissesNothing(const CallContent& older, const CallContent& newer) {
  return newer.condition.kind != ConditionPatch::Kind::kKeep && !older.placement.has_value();
}
inline void Merge(const CallContent& older, CallContent* newer) {
  if (!MissesNothing(older, *newer)) MergeWhatIsMissing(older, newer);
}

// `newer` overwrites `older`, which waits and is not more relevant. If both have one type and one
// pod, `newer` inherits what it does not change itself. It also remembers the call whose condition
// depends on it (Predecessor).
void InheritWhatIsMissing(const CallContent& older, CallContent* newer);
inline void Inherit(const CallContent& older, CallContent* newer) {
  if (!MissesNothing(older, *newer)) InheritWhatIsMissing(older, newer);
}

// Whether the patch would change nothing of a pod that is as this one.
bool ConditionPatchIsNoOp(const ConditionPatch& patch, const Pod& pod);
inline bool ConditionIsNoOp(const ConditionPatch& patch, const Pod& pod) {
  // The most frequent patch sets a condition on a pod that has none.
  const bool shows_first = patch.kind == ConditionPatch::Kind::kSet && pod.conditions.empty();
  return !shows_first && ConditionPatchIsNoOp(patch, pod);
}
// Whether the call would change nothing of the object as last seen.
bool PatchIsNoOp(const CallContent& call);
inline bool IsNoOp(const CallContent& call) {
  if (call.type != CallType::kStatusPatch || call.pod == nullptr) return false;
  const bool shows_first =
      call.condition.kind == ConditionPatch::Kind::kSet && call.pod->conditions.empty();
  return !shows_first && PatchIsNoOp(call);
}
// Whether `call` would change nothing after `done`, a call for the same object, has succeeded.
bool IsNoOpAfter(const CallContent& done, const CallContent& call);

}  // namespace schedq
