// Upstream's way from the dispatcher to the API server: a call starts at once, and waits for a
// token of its client in the order of arrival. Bindings so wait behind patches.
//
// Purpose: to compare what was proposed against that (call_settings.h): a bound on the patches that
// wait so, and a client of their own for bindings.
// When not to use it: with schedq's own order; then the dispatcher holds back what has no token.
// Threads: one, the one that advances the clock.
// Memory: the patches beyond the bound.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "bench/sim/calls/call_settings.h"
#include "bench/sim/calls/client_tokens.h"
#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

class ArrivalSink final : public ApiSink {
 public:
  // All outlive it.
  ArrivalSink(Clock* clock, ApiSink* server, const CallSettings& settings, const ClientRate& rate);

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override;

  // For a call that goes past the dispatcher, with the shared client: how long it waits.
  Duration TakeToken() { return shared_.Take(); }
  void TakeEventToken() { shared_.Take(); }

 private:
  using Done = std::function<void(const Status&)>;

  // What the bound is about: neither bindings nor what shows a nominated node.
  bool IsBounded(const ApiCall& call) const;
  void Start(const ApiCall& call, Done done);
  void StartBounded(const ApiCall& call, Done done);

  Clock& clock_;
  ApiSink& server_;
  const CallSettings settings_;
  ClientTokens shared_;
  ClientTokens of_bindings_;
  uint32_t bounded_in_flight_ = 0;
  // A call stays as it is until it is answered, so its address does too.
  std::deque<std::pair<const ApiCall*, Done>> beyond_bound_;
};

}  // namespace schedq
