#include "bench/kep/dispatch/status_world.h"

#include <algorithm>
#include <array>
#include <utility>

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

CallQueueOptions CallsOf(const StatusWorldOptions& options, Clock* clock,
                         MetricsRegistry* metrics) {
  CallQueueOptions calls;
  calls.clock = clock;
  calls.metrics = metrics;
  calls.calls_per_second = options.calls_per_second;
  if (options.calls_per_second == 0) calls.in_flight_max = ~uint32_t{0};
  return calls;
}

}  // namespace

StatusWorld::StatusWorld(const StatusWorldOptions& options)
    : options_(options),
      random_(options.seed),
      server_(ServerOf(options, &clock_)),
      dispatcher_(CallsOf(options, &clock_, &metrics_), &server_) {
  QueueRigOptions rig;
  rig.engine = options.engine;
  rig.clock = &clock_;
  rig.make_plugins = [this](World*) -> Result<std::vector<Plugin>> { return MakePlugins(); };
  rig.observers = {&audit_};
  if (options.gates_on) {
    MakeReporter();
    rig.observers.push_back(reporter_.get());
  }
  server_.Trace([this, start = clock_.Now()](const PodRef& before, const PodRef& after) {
    audit_.OnStored(before, after);
    if (before != nullptr && after != nullptr) stored_.push_back(clock_.Now() - start);
  });
  rig_ = std::move(*QueueRig::Create(rig));
  server_.Watch([this](const PodRef& before, const PodRef& after) { OnWatch(before, after); });
  rig_->queue().Run();
}

StatusWorld::~StatusWorld() { rig_->queue().Close(); }

void StatusWorld::MakeReporter() {
  StatusReporterOptions reporter;
  reporter.queue = &dispatcher_.queue();
  reporter.model = options_.model;
  reporter.user_message = [](const Pod&, PluginId plugin, std::string_view message) {
    const bool reports = plugin == static_cast<PluginId>(Rejector::kReports);
    return reports ? std::string(message) : std::string();
  };
  reporter_ = std::make_unique<StatusReporter>(std::move(reporter));
}

void StatusWorld::OnWatch(const PodRef& before, const PodRef& after) {
  if (before == nullptr) return;  // AddPod gave it to the queue already.
  if (after == nullptr) return queue().Delete(*before);
  pods_[after->name] = after;
  if (const auto id = rig_->pod_names().Find(after->namespace_name, after->name)) {
    dispatcher_.queue().Sync(*id, after);
  }
  if (!after->node_name.empty()) return queue().Bind(queue().KeyOf(*after));
  queue().Update(before, after);
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
  queue().Add(stored);
}

void StatusWorld::SetReason(const std::string& name, Rejector rejector, const std::string& reason) {
  scripts_[name] = {rejector, reason};
  const std::array<PodRef, 1> pods = {pods_[name]};
  queue().Activate(pods);
}

void StatusWorld::SetReasonAfter(Duration delay, const std::string& name, Rejector rejector,
                                 const std::string& reason) {
  At(delay, [this, name, rejector, reason] { SetReason(name, rejector, reason); });
}

void StatusWorld::Bind(const std::string& name) {
  ApiCall call;
  call.object = queue().KeyOf(*pods_.at(name)).id;
  call.type = CallType::kBinding;
  call.pod = pods_.at(name);
  call.listener = this;
  call.tag = static_cast<uint64_t>(clock_.Now().time_since_epoch().count());
  call.placement.Mutable().node = "node";
  calls().Add(std::move(call));
}

// Of bindings. The server takes its latency, so that the rest is what the call waited.
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
      return static_cast<uint64_t>(metrics_.Value(family, labels).value_or(0));
    };
    outcome->calls_added += count("schedq_api_calls_added_total", {name});
    for (const char* end : {"success", "error", "overwritten", "skipped"}) {
      outcome->calls_ended += count("schedq_api_calls_ended_total", {name, end});
    }
  }
}

StatusOutcome StatusWorld::Outcome() {
  StatusOutcome outcome;
  if (reporter_ != nullptr) outcome.counts = reporter_->counts();
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
