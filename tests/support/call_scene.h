// Calls, and a listener that records how each ended, for the tests of the call queue.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"

namespace schedq {

// Records the ends of calls in their order.
class EndRecorder final : public CallListener {
 public:
  struct Ended {
    uint64_t tag;
    CallEnd end;
    bool operator==(const Ended&) const = default;
  };

  void OnEnd(const ApiCall& call, CallEnd end, const Status&) override {
    const std::lock_guard lock(mutex_);
    ended_.push_back({call.tag, end});
  }
  void OnSuccessorEnd(const ApiCall&, uint64_t tag, const Status& status) override {
    const std::lock_guard lock(mutex_);
    succeeded_.push_back({tag, status.ok() ? CallEnd::kSuccess : CallEnd::kError});
  }

  // The calls that ended since the last TakeEnds.
  std::vector<Ended> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ended_, {});
  }
  // The overwritten calls whose successors ended since the last TakeSuccessorEnds.
  std::vector<Ended> TakeSuccessorEnds() {
    const std::lock_guard lock(mutex_);
    return std::exchange(succeeded_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Ended> ended_;
  std::vector<Ended> succeeded_;
};

inline std::shared_ptr<Pod> UnmarkedPod(const std::string& name = "pod") {
  auto pod = std::make_shared<Pod>();
  pod->namespace_name = "default";
  pod->name = name;
  pod->uid = name;
  return pod;
}

inline std::shared_ptr<Pod> MarkedPod(const std::string& message,
                                      std::string_view reason = kNotReadyReason) {
  auto pod = UnmarkedPod();
  pod->conditions.push_back({"PodScheduled", "False", std::string(reason), message});
  return pod;
}

struct CallDraft {
  ObjectId object = 0;
  uint64_t tag = 0;
  Duration delay{};
  PodRef pod = UnmarkedPod();
  CallListener* listener = nullptr;
};

inline ApiCall CallOf(const CallDraft& draft, CallType type) {
  ApiCall call;
  call.object = draft.object;
  call.type = type;
  call.delay = draft.delay;
  call.pod = draft.pod;
  call.listener = draft.listener;
  call.tag = draft.tag;
  return call;
}

inline ApiCall SetMessage(const CallDraft& draft, const std::string& message) {
  auto call = CallOf(draft, CallType::kStatusPatch);
  call.condition = {ConditionPatch::Kind::kSet, kNotReadyReason, message};
  call.sends_event = true;
  return call;
}

inline ApiCall ClearMessage(const CallDraft& draft) {
  auto call = CallOf(draft, CallType::kStatusPatch);
  call.condition.kind = ConditionPatch::Kind::kClear;
  return call;
}

inline ApiCall NominateNode(const CallDraft& draft, const std::string& node) {
  auto call = CallOf(draft, CallType::kStatusPatch);
  call.placement.Mutable().nomination = node;
  return call;
}

inline ApiCall BindTo(const CallDraft& draft, const std::string& node) {
  auto call = CallOf(draft, CallType::kBinding);
  call.placement.Mutable().node = node;
  return call;
}

}  // namespace schedq
