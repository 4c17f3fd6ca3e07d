#include "bench/kep/dispatch/flood_scenario.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "dispatcher/clock_dispatcher.h"
#include "dispatcher/rate_limit.h"
#include "dispatcher/server/embedded_api_server.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"

namespace schedq {
namespace {

constexpr Instant kStart{std::chrono::seconds(1'700'000'000)};

// The load: all patches at once, then bindings of other pods at instants drawn from the seed.
class Load {
 public:
  explicit Load(const FloodOptions& options) : options_(options), random_(options.seed) {}

  uint64_t pods() const { return options_.patches + options_.bindings; }
  static Pod PodOf(uint64_t number) {
    Pod pod;
    pod.namespace_name = "default";
    pod.name = pod.uid = "pod-" + std::to_string(number);
    return pod;
  }
  ApiCall Patch(uint64_t number, const PodRef& pod) const {
    ApiCall call;
    call.object = static_cast<ObjectId>(number);
    call.pod = pod;
    call.condition = {ConditionPatch::Kind::kSet, kNotReadyReason, "rejected with all others"};
    return call;
  }
  ApiCall Binding(uint64_t number, const PodRef& pod) const {
    ApiCall call;
    call.object = static_cast<ObjectId>(number);
    call.type = CallType::kBinding;
    call.pod = pod;
    call.placement.Mutable().node = "node";
    return call;
  }
  // Each binding comes within its own interval.
  std::vector<Instant> BindingInstants() {
    std::vector<Instant> instants;
    for (uint64_t i = 0; i < options_.bindings; ++i) {
      const auto within = random_.Below(static_cast<uint64_t>(options_.binding_interval.count()));
      instants.push_back(kStart + static_cast<int64_t>(i) * options_.binding_interval +
                         Duration(static_cast<int64_t>(within)));
    }
    return instants;
  }

 private:
  const FloodOptions& options_;
  Random random_;
};

void Finish(FloodOutcome* outcome) { std::sort(outcome->waits.begin(), outcome->waits.end()); }

}  // namespace

Duration FloodOutcome::WaitAt(double quantile) const {
  if (waits.empty()) return Duration(0);
  const double rank = std::ceil(quantile * static_cast<double>(waits.size()));
  return waits[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

FloodOutcome RunFlood(const FloodOptions& options) {
  // Records the start of each binding, and forwards all calls.
  class Watching final : public ApiSink {
   public:
    Watching(Clock* clock, ApiSink* sink, FloodOutcome* outcome)
        : clock_(*clock), sink_(*sink), outcome_(*outcome) {}
    void Execute(const ApiCall& call, std::function<void(const Status&)> done) override {
      if (call.type == CallType::kBinding) {
        outcome_.waits.push_back(clock_.Now() - kStart - Duration(static_cast<int64_t>(call.tag)));
      }
      sink_.Execute(call, std::move(done));
    }

   private:
    Clock& clock_;
    ApiSink& sink_;
    FloodOutcome& outcome_;
  };

  VirtualClock clock(kStart);
  Load load(options);
  FloodOutcome outcome;
  EmbeddedApiServer server({.clock = &clock, .seed = options.seed, .latency = options.latency});
  Watching sink(&clock, &server, &outcome);
  ClockDispatcher dispatcher(
      {.clock = &clock, .calls_per_second = options.calls_per_second, .burst = options.burst},
      &sink);
  std::vector<PodRef> pods;
  for (uint64_t pod = 0; pod < load.pods(); ++pod) pods.push_back(server.Create(Load::PodOf(pod)));
  for (uint64_t pod = 0; pod < options.patches; ++pod) {
    dispatcher.queue().Add(load.Patch(pod, pods[pod]));
  }
  uint64_t number = options.patches;
  for (const Instant at : load.BindingInstants()) {
    clock.At(at, [&, pod = number++] {
      auto call = load.Binding(pod, pods[pod]);
      call.tag = static_cast<uint64_t>((clock.Now() - kStart).count());
      dispatcher.queue().Add(std::move(call));
    });
  }
  clock.AdvanceBy(static_cast<int64_t>(options.bindings) * options.binding_interval);
  outcome.patches_meanwhile = server.counts().patches;
  clock.RunUntil([&] { return server.counts().bindings == options.bindings; });
  outcome.bindings_done = server.counts().bindings;
  Finish(&outcome);
  return outcome;
}

// Upstream's queue under the same rate: calls start in the order in which they came.
FloodOutcome RunFloodOnFifo(const FloodOptions& options) {
  constexpr Duration kTick = std::chrono::milliseconds(1);
  Load load(options);
  FloodOutcome outcome;
  RateLimit rate(options.calls_per_second, options.burst, kTick);
  struct Entry {
    CallType type;
    Instant added;
  };
  std::deque<Entry> fifo(options.patches, Entry{CallType::kStatusPatch, kStart});
  const std::vector<Instant> instants = load.BindingInstants();
  const Instant asked_last =
      kStart + static_cast<int64_t>(options.bindings) * options.binding_interval;
  size_t next = 0;
  for (Tick tick = 0; outcome.bindings_done < options.bindings; ++tick) {
    const Instant now = kStart + static_cast<int64_t>(tick) * kTick;
    for (; next < instants.size() && instants[next] <= now; ++next) {
      fifo.push_back({CallType::kBinding, instants[next]});
    }
    while (!fifo.empty() && rate.HasToken(tick)) {
      rate.SpendToken();
      const Entry entry = fifo.front();
      fifo.pop_front();
      if (entry.type == CallType::kBinding) {
        outcome.waits.push_back(now - entry.added);
        ++outcome.bindings_done;
      } else if (now <= asked_last) {
        ++outcome.patches_meanwhile;
      }
    }
  }
  Finish(&outcome);
  return outcome;
}

}  // namespace schedq
