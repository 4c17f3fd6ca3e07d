// A call that the scheduler wants the API server to make, and the rules that need nothing but
// calls: which is more relevant, how two become one, and when one changes nothing.
//
// Threads: a call is its owner's; listeners are called from any thread.
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

// It was never sent, although it may have had something to change.
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

// An overwritten call whose condition went over to another's, or was dropped for a more relevant
// one: its listener may have to say it again if that one fails.
struct Predecessor {
  CallListener* listener = nullptr;  // Null: there was none.
  uint64_t tag = 0;
};

// Where a pod goes or may go, and what only calls that say so can need.
struct Placement {
  std::string node;                       // Of a binding.
  std::optional<std::string> nomination;  // Of a patch: the node, "" to clear; none: keep.
  std::vector<ClaimAllocation> claims;    // Of a patch.
  Predecessor predecessor;                // The queue's.
  CallListener* asked_by = nullptr;       // The listener's own: whom he tells on.
};

struct ApiCall;

// Told how a call ended: once, while the call's object is busy in the queue. It must not block; it
// may use the queue, also for the same object, whose turn then comes when it has returned.
class CallListener {
 public:
  virtual ~CallListener() = default;
  // Skipped: the status is an error where the call had something to say and a more relevant one
  // left no room for it (WasOutranked).
  virtual void OnEnd(const ApiCall& call, CallEnd end, const Status& status) = 0;
  // His call with this tag was overwritten by another's, which said nothing of the condition: it
  // took that over or, more relevant, made it vain. Now `successor`, which did, was executed.
  virtual void OnSuccessorEnd(const ApiCall& /*successor*/, uint64_t /*tag*/, const Status&) {}
};

// All that a call says, and to whom: what the queue keeps of one that waits.
struct CallContent {
  PodRef pod;                        // The object as last seen; the queue keeps it current.
  CallListener* listener = nullptr;  // May be null; outlives the call and its successor.
  uint64_t tag = 0;                  // The listener's own.
  // Of a patch. What comes next lies in its last word.
  [[no_unique_address]] ConditionPatch condition;
  CallType type = CallType::kStatusPatch;
  bool sends_event = false;  // An event with the condition's reason and message goes along.
  ObjectId object = 0;
  Boxed<Placement> placement;  // None: it says nothing of where the pod goes.

  // "" when it says nothing.
  std::string_view node() const {
    return placement.has_value() ? std::string_view(placement->node) : std::string_view();
  }
  // Null when it says nothing.
  const std::string* nomination() const {
    return placement.has_value() && placement->nomination ? &*placement->nomination : nullptr;
  }
};
static_assert(sizeof(CallContent) <= 96, "what waits shares two cache lines with its timer");

struct ApiCall : CallContent {
  ApiCall() = default;
  explicit ApiCall(CallContent&& content) : CallContent(std::move(content)) {}

  Duration delay{};   // From Add until it is due.
  Instant started{};  // The queue's: when it went in flight.
};

// An object's number may pass from a pod that is gone to another, whose calls have nothing to do
// with its predecessor's. Who is not known is taken for the same.
bool IsSamePodByUid(const PodRef& a, const PodRef& b);
inline bool IsSamePod(const PodRef& a, const PodRef& b) { return a == b || IsSamePodByUid(a, b); }

inline bool IsLessRelevant(CallType a, CallType b) { return a > b; }

// Adds to `newer` what only `older`, a call of the same type, has to say.
void MergeWhatIsMissing(const CallContent& older, CallContent* newer);
inline bool MissesNothing(const CallContent& older, const CallContent& newer) {
  return newer.condition.kind != ConditionPatch::Kind::kKeep && !older.placement.has_value();
}
inline void Merge(const CallContent& older, CallContent* newer) {
  if (!MissesNothing(older, *newer)) MergeWhatIsMissing(older, newer);
}

// `newer` overwrites `older`, which waits and is not more relevant: it takes over what it does not
// say itself if they are of one type and pod, and remembers whose condition it is answerable for.
void SucceedSlowly(const CallContent& older, CallContent* newer);
inline void Succeed(const CallContent& older, CallContent* newer) {
  if (!MissesNothing(older, *newer)) SucceedSlowly(older, newer);
}

// Whether executing the call would change nothing of the object as last seen.
bool PatchIsNoOp(const CallContent& call);
inline bool IsNoOp(const CallContent& call) {
  if (call.type != CallType::kStatusPatch || call.pod == nullptr) return false;
  // Mostly a pod shows nothing, and that changes.
  const bool shows_first =
      call.condition.kind == ConditionPatch::Kind::kSet && call.pod->conditions.empty();
  return !shows_first && PatchIsNoOp(call);
}
// Whether it would change nothing after `done`, a call for the same object, has succeeded.
bool IsNoOpAfter(const CallContent& done, const CallContent& call);

}  // namespace schedq
