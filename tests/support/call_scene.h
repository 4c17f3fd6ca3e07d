// Calls, and a listener that records how each ended, for the tests of the call queue.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

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
  std::vector<Ended> TakeEnds() {
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

// The fields that calls of all types have.
struct CallSpec {
  ObjectId object = 0;
  uint64_t tag = 0;
  Duration delay{};
  PodRef pod = UnmarkedPod();
  CallListener* listener = nullptr;
};

inline ApiCall CallOf(const CallSpec& spec, CallType type) {
  ApiCall call;
  call.object = spec.object;
  call.type = type;
  call.delay = spec.delay;
  call.pod = spec.pod;
  call.listener = spec.listener;
  call.tag = spec.tag;
  return call;
}

inline ApiCall SetMessage(const CallSpec& spec, const std::string& message) {
  auto call = CallOf(spec, CallType::kStatusPatch);
  call.condition = {ConditionPatch::Kind::kSet, kNotReadyReason, message};
  call.sends_event = true;
  return call;
}

inline ApiCall ClearMessage(const CallSpec& spec) {
  auto call = CallOf(spec, CallType::kStatusPatch);
  call.condition.kind = ConditionPatch::Kind::kClear;
  return call;
}

inline ApiCall NominateNode(const CallSpec& spec, const std::string& node) {
  auto call = CallOf(spec, CallType::kStatusPatch);
  call.placement.Mutable().nomination = node;
  return call;
}

inline ApiCall BindTo(const CallSpec& spec, const std::string& node) {
  auto call = CallOf(spec, CallType::kBinding);
  call.placement.Mutable().node = node;
  return call;
}

}  // namespace schedq
