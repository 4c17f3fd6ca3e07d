// The three ports. The engine knows no plugin and no API; others implement these.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/inline_vector.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

// May this pod enter? Called by an engine from any thread, also concurrently.
class PreEnqueueCheck {
 public:
  virtual ~PreEnqueueCheck() = default;

  // Runs `first` (kNoPlugin: none) and then the other PreEnqueue plugins in registration order,
  // until one rejects. Returns the plugin that rejected, or kNoPlugin when all passed.
  virtual PluginId Check(const Pod& pod, PluginId first) const = 0;

  // Why `plugin` rejects the pod, in words for the pod's owner.
  virtual std::string Explain(const Pod& pod, PluginId plugin) const = 0;
};

enum class Verdict : uint8_t { kSkip, kAfterBackoff, kImmediately };

// The registrations that match one event, as bits in the order of registration. At most 64 may
// match one event; the registry refuses more.
using RegistrationMask = uint64_t;
inline constexpr RegistrationMask kEveryRegistration = ~RegistrationMask{0};

// Which pods an event may concern (KEP-6132).
struct Narrowing {
  struct NarrowedPod {
    PodId pod;
    RegistrationMask asked;  // The registrations that list this pod.
  };

  // Registrations that are asked about every pod that their plugin rejected, and these plugins.
  RegistrationMask asked_of_all = 0;
  PluginSet plugins_of_all;
  // Further pods, each once. Mostly one to four, for which nothing is allocated.
  using Pods = InlineVector<NarrowedPod, 4>;
  Pods pods;

  void Clear() {
    asked_of_all = 0;
    plugins_of_all = PluginSet();
    pods.clear();
  }
};

struct JudgedPod {
  const Pod* pod = nullptr;
  PodId id = 0;
  PluginSet unschedulable;
  PluginSet pending;
  RegistrationMask asked = kEveryRegistration;  // Of the matching registrations, those to ask.
};

// Narrows an event to pods, and judges pods for an event. Called from any thread, concurrently.
class RequeueJudge {
 public:
  virtual ~RequeueJudge() = default;

  // The plugins that registered for `event`. Constant for a given event.
  virtual PluginSet RegisteredFor(const ClusterEvent& event) const = 0;

  // Asks every matching registration's PreQueueingHint once. Not called for wildcards, nor when
  // both objects are unknown, nor with the gate off. `narrowing` comes in empty.
  virtual void Narrow(const ClusterEvent& event, const ObjectChange& change,
                      Narrowing* narrowing) const = 0;

  // One verdict a pod, in the same order. See docs/semantics.md, "Is a pod worth requeueing for an
  // event?".
  virtual void Judge(std::span<const JudgedPod> pods, const ClusterEvent& event,
                     const ObjectChange& change, std::span<Verdict> verdicts) const = 0;
};

// The move of a pod that an observer is told of.
struct PodMove {
  PodKey pod;
  // Grows modulo 2^32 from one numbered move to the next, also from one pod of an id to its
  // successor, be they members of groups or not. Always 0 in an engine that tells of moves in the
  // order in which they happened.
  uint32_t number = 0;

  // True: an observer that was told of `other` before must ignore this move.
  bool IsOlderThan(const PodMove& other) const {
    return static_cast<int32_t>(number - other.number) < 0;
  }
};

// Is told what happened, after it happened. Calls for different pods may come from several threads
// at the same time. Calls for one pod come in the order of its moves, and that of a pop comes after
// those of the move that made the pop possible. There is one exception: when two threads move one
// pod right after each other, or one finishes what the other has begun, the lock-free engine may
// tell of the second move first. The moves' numbers show it. An observer must not call the queue.
class QueueObserver {
 public:
  virtual ~QueueObserver() = default;

  // PreEnqueue rejected the pod; `message` is the plugin's explanation.
  virtual void OnGated(const PodRef&, PluginId, std::string_view /*message*/, const PodMove&) {}
  // Every PreEnqueue plugin passed.
  virtual void OnPassed(const PodRef&, const PodMove&) {}
  // The pod's place changed, or the pod was requeued into the place where it was. Not told: the end
  // of a flight by Done, by Fail of a pod that is gone, and by Close.
  virtual void OnMoved(const PodRef&, Place /*from*/, Place /*to*/, EventLabel) {}
  virtual void OnPopped(const PodRef&, uint32_t /*attempts*/) {}
  // The pod left the cluster, or was bound.
  virtual void OnDeleted(const PodRef&, const PodMove&) {}
};

}  // namespace schedq
