// Hands the dispatcher's calls to the cluster's thread, which is the API server.
//
// A binding that fails ends the pod's attempt before the queue hears of it.
// Threads: Execute on the dispatcher's thread; the calls run on the cluster's. Refuse once.
#pragma once

#include <atomic>
#include <functional>

#include "bench/sim/real/attempt_book.h"
#include "bench/sim/real/wall_pace.h"
#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "engine/base/result.h"

namespace schedq {

class PostingSink final : public ApiSink {
 public:
  // All outlive it.
  PostingSink(WallPace* pace, ApiSink* server, AttemptBook* attempts)
      : pace_(*pace), server_(*server), attempts_(*attempts) {}

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override;

  // From now on calls are answered with an error, at the end of a run: the cluster's timers stand
  // still then.
  void Refuse() { refuses_.store(true); }

 private:
  WallPace& pace_;
  ApiSink& server_;
  AttemptBook& attempts_;
  std::atomic<bool> refuses_{false};  // Set once, by the cluster's thread.
};

}  // namespace schedq
