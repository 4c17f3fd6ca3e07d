#include "bench/kep/dispatch/status_world.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "dispatcher/api_sink.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/queue.h"  // IWYU pragma: keep
#include "hints/world.h"
#include "schedq/assembly_options.h"

namespace schedq {
namespace {

constexpr const char* kNamespace = "default";
constexpr std::array<const char*, 3> kRejectorNames = {"Reports", "Transient", "Silent"};

ServerOptions ServerOf(const StatusWorldOptions& options, Clock* clock) {
  ServerOptions server;
  server.clock = clock;
  server.seed = options.seed;
  server.latency = options.latency;
  server.latency_extra = options.latency_extra;
  return server;
}

ApiCallOptions CallsOf(const StatusWorldOptions& options, ApiSink* sink) {
  ApiCallOptions calls;
  calls.sink = sink;
  calls.driver = CallDriver::kClock;
  calls.calls_per_second = options.calls_per_second;
  if (options.calls_per_second == 0) calls.in_flight_max = ~uint32_t{0};
  calls.status_model = options.model;
  return calls;
}

Gates GatesOf(const StatusWorldOptions& options) {
  GateRequest request;
  request.Set(Gate::kSchedulerPreEnqueuePodStatus, options.gates_on);
  return Gates::Resolve(request).value();
}

}  // namespace

StatusWorld::StatusWorld(const StatusWorldOptions& options)
    : options_(options), random_(options.seed), server_(ServerOf(options, &clock_)) {
  server_.Trace([this, start = clock_.Now()](const PodRef& before, const PodRef& after) {
    audit_.OnStored(before, after);
    if (before != nullptr && after != nullptr) stored_.push_back(clock_.Now() - start);
  });
  AssemblyOptions assembly;
  assembly.engine = options.engine;
  assembly.clock = &clock_;
  assembly.plugins = [this](World*) -> Result<std::vector<Plugin>> { return MakePlugins(); };
  assembly.gates = GatesOf(options);
  assembly.observers = {&audit_};
  assembly.api_calls = CallsOf(options, &server_);
  queue_ = std::move(*AssembledQueue::Create(std::move(assembly)));
  server_.Watch([this](const PodRef& before, const PodRef& after) { OnWatch(before, after); });
  queue_->Run();
}

StatusWorld::~StatusWorld() = default;

void StatusWorld::OnWatch(const PodRef& before, const PodRef& after) {
  if (before == nullptr) return;  // AddPod has added the pod to the queue already.
  if (after != nullptr) pods_[after->name] = after;
  MustSucceed(queue_->PodChanged(before, after));
}

std::vector<Plugin> StatusWorld::MakePlugins() {
  std::vector<Plugin> plugins;
  for (size_t i = 0; i < kRejectorNames.size(); ++i) {
    const Rejector rejector = static_cast<Rejector>(i);
    Plugin plugin;
    plugin.name = kRejectorNames[i];
    plugin.rejection_message = "rejected";
    plugin.pre_enqueue = [this, rejector](const Pod& pod, std::string* message) {
      return MayEnter(pod, rejector, message);
    };
    if (rejector != Rejector::kReports) {
      plugin.user_message = [](const Pod&, std::string_view) { return std::string(); };
    }
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

bool StatusWorld::MayEnter(const Pod& pod, Rejector rejector, std::string* message) const {
  const auto script = scripts_.find(pod.name);
  if (script == scripts_.end() || script->second.reason.empty()) return true;
  if (script->second.rejector != rejector) return true;
  if (message != nullptr) *message = script->second.reason;
  return false;
}

void StatusWorld::AddPod(const std::string& name, Rejector rejector, const std::string& reason,
                         bool has_gates) {
  scripts_[name] = {rejector, reason};
  Pod pod;
  pod.namespace_name = kNamespace;
  pod.name = name;
  pod.uid = name;
  if (has_gates) pod.scheduling_gates.push_back("gate");
  const PodRef stored = server_.Create(std::move(pod));
  pods_[name] = stored;
  MustSucceed(queue_->PodAdded(stored));
}

void StatusWorld::SetReason(const std::string& name, Rejector rejector, const std::string& reason) {
  scripts_[name] = {rejector, reason};
  const std::array<PodRef, 1> pods = {pods_[name]};
  queue_->Activate(pods);
}

void StatusWorld::SetReasonAfter(Duration delay, const std::string& name, Rejector rejector,
                                 const std::string& reason) {
  At(delay, [this, name, rejector, reason] { SetReason(name, rejector, reason); });
}

void StatusWorld::Bind(const std::string& name) {
  ApiCall call;
  call.object = queue_->queue().KeyOf(*pods_.at(name)).id;
  call.type = CallType::kBinding;
  call.pod = pods_.at(name);
  call.listener = this;
  call.tag = static_cast<uint64_t>(clock_.Now().time_since_epoch().count());
  call.placement.Mutable().node = "node";
  calls().Add(std::move(call));
}

// The ended call is a binding. Its time without the server's latency is the time that the call
// waited.
void StatusWorld::OnEnd(const ApiCall& call, CallEnd end, const Status&) {
  if (end != CallEnd::kSuccess) return;
  const Instant asked{Duration(static_cast<int64_t>(call.tag))};
  binding_waits_.push_back(clock_.Now() - asked - options_.latency);
}

void StatusWorld::At(Duration delay, std::function<void()> action) {
  clock_.At(clock_.Now() + delay, std::move(action));
}

uint64_t StatusWorld::WrongPods() const {
  uint64_t wrong = 0;
  for (const auto& [name, script] : scripts_) {
    const PodRef pod = server_.Find(std::string(kNamespace) + "/" + name);
    if (pod == nullptr) continue;
    const PodCondition* shown = UnscheduledCondition(*pod);
    const bool is_ours = shown != nullptr && shown->reason == kNotReadyReason;
    if (script.reason.empty() ? is_ours : shown == nullptr || shown->message != script.reason) {
      ++wrong;
    }
  }
  return wrong;
}

void StatusWorld::CountCalls(StatusOutcome* outcome) const {
  for (int type = 0; type < kCallTypeCount; ++type) {
    const std::string name(CallTypeName(static_cast<CallType>(type)));
    const auto count = [&](const char* family, const LabelValues& labels) {
      return static_cast<uint64_t>(queue_->metrics().Value(family, labels).value_or(0));
    };
    outcome->calls_added += count("schedq_api_calls_added_total", {name});
    for (const char* end : {"success", "error", "overwritten", "skipped"}) {
      outcome->calls_ended += count("schedq_api_calls_ended_total", {name, end});
    }
  }
}

StatusOutcome StatusWorld::Outcome() {
  StatusOutcome outcome;
  if (const StatusReporter* reporter = queue_->api_calls()->statuses()) {
    outcome.counts = reporter->counts();
  }
  outcome.measures = audit_.Measures();
  outcome.server = server_.counts();
  CountCalls(&outcome);
  outcome.wrong_at_end = WrongPods();
  outcome.stored = stored_;
  outcome.binding_waits = binding_waits_;
  std::sort(outcome.binding_waits.begin(), outcome.binding_waits.end());
  return outcome;
}

}  // namespace schedq
