// Hands the dispatcher's calls to the cluster's thread, which is the API server.
//
// Threads: Execute on the dispatcher's thread; the calls run on the cluster's.
// Memory: a callback a call under way.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "bench/sim/real/wall_pace.h"
#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "engine/base/result.h"

namespace schedq {

class PostingSink final : public ApiSink {
 public:
  // Both outlive it. `answers_at_once`: the server ends each call within its Execute.
  PostingSink(WallPace* pace, ApiSink* server, bool answers_at_once)
      : pace_(*pace), server_(*server), answers_at_once_(answers_at_once) {}

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override;

  // Answers what is under way with an error, and from now on whatever comes: at the end of a run
  // the cluster's timers, which would answer, stand still. On the cluster's thread.
  void Refuse();

 private:
  using Done = std::function<void(const Status&)>;

  WallPace& pace_;
  ApiSink& server_;
  const bool answers_at_once_;
  // The cluster's thread's.
  bool refuses_ = false;
  uint64_t last_call_ = 0;
  std::unordered_map<uint64_t, Done> under_way_;  // By the call's number.
};

}  // namespace schedq
