#include "schedq/assembly_options.h"

#include <algorithm>

namespace schedq {

Status CheckOptions(const AssemblyOptions& options) {
  const auto refuse = [](const std::string& what) { return Error("assembled queue: " + what); };
  if (options.backoff.initial < Duration(0) || options.backoff.maximum < Duration(0)) {
    return refuse("a backoff is negative, expected 0 or more");
  }
  if (options.max_in_unschedulable < Duration(0)) {
    return refuse("max_in_unschedulable is negative, expected 0 or more");
  }
  if (std::count(options.observers.begin(), options.observers.end(), nullptr) != 0) {
    return refuse("an observer is null");
  }
  if (!options.api_calls) return Status::Ok();
  const ApiCallOptions& calls = *options.api_calls;
  if (!options.gates.On(Gate::kSchedulerAsyncAPICalls)) {
    return refuse("api_calls needs the gate SchedulerAsyncAPICalls, which is off");
  }
  if (calls.sink == nullptr) return refuse("api_calls.sink is null, expected what executes calls");
  if (calls.in_flight_max == 0) return refuse("api_calls.in_flight_max is 0, expected 1 or more");
  if (!(calls.calls_per_second >= 0)) {
    return refuse("api_calls.calls_per_second is negative, expected 0 (no limit) or a rate");
  }
  if (calls.calls_per_second > 0 && calls.burst == 0) {
    return refuse("api_calls.burst is 0, expected 1 or more beside a rate");
  }
  if (calls.driver == CallDriver::kClock && options.clock == nullptr) {
    return refuse("clock is null, expected the one that drives api_calls");
  }
  return Status::Ok();
}

}  // namespace schedq
