#include "bench/sim/calls/arrival_sink.h"

#include <string>

namespace schedq {

ArrivalSink::ArrivalSink(Clock* clock, ApiSink* server, const CallSettings& settings,
                         const ClientRate& rate)
    : clock_(*clock),
      server_(*server),
      settings_(settings),
      shared_(clock, rate),
      of_bindings_(clock, rate) {}

bool ArrivalSink::IsBounded(const ApiCall& call) const {
  const std::string* const nomination = call.nomination();
  const bool nominates = nomination != nullptr && !nomination->empty();
  return settings_.patches_in_flight_max != 0 && call.type == CallType::kStatusPatch && !nominates;
}

void ArrivalSink::Execute(const ApiCall& call, Done done) {
  if (!IsBounded(call)) return Start(call, std::move(done));
  if (bounded_in_flight_ == settings_.patches_in_flight_max) {
    beyond_bound_.emplace_back(&call, std::move(done));
    return;
  }
  ++bounded_in_flight_;
  StartBounded(call, std::move(done));
}

void ArrivalSink::StartBounded(const ApiCall& call, Done done) {
  Start(call, [this, done = std::move(done)](const Status& status) {
    // First, because the answer may add a call.
    if (beyond_bound_.empty()) {
      --bounded_in_flight_;
    } else {
      auto [next, next_done] = std::move(beyond_bound_.front());
      beyond_bound_.pop_front();
      StartBounded(*next, std::move(next_done));
    }
    done(status);
  });
}

void ArrivalSink::Start(const ApiCall& call, Done done) {
  const bool is_apart = settings_.bindings_have_client && call.type == CallType::kBinding;
  const Duration wait = (is_apart ? of_bindings_ : shared_).Take();
  if (call.sends_event && !settings_.events_have_client) TakeEventToken();
  if (wait == Duration(0)) return server_.Execute(call, std::move(done));
  clock_.At(clock_.Now() + wait,
            [this, &call, done = std::move(done)] { server_.Execute(call, done); });
}

}  // namespace schedq
