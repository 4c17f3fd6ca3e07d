#include "bench/sim/queue/queue_driver.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <utility>

#include "bench/sim/placing/profile_plugins.h"
#include "engine/base/result.h"
#include "hints/world.h"

namespace schedq {
namespace {

constexpr std::chrono::milliseconds kMillisecond{1};

}  // namespace

// The clock of a recorded queue. A trace counts time in whole milliseconds, so this clock does too.
// No two pods may get the same timestamp, because each engine would choose their order, and a trace
// is for all engines. Where operations come faster than one a millisecond, this clock therefore
// runs ahead of the run's clock; it stands still until the run's clock has caught up.
class RecordedTime final : public Clock {
 public:
  explicit RecordedTime(Clock* clock) : clock_(clock) {}

  // Called before an operation that may give a pod its timestamp.
  void Advance() { latest_ = std::max(Whole(), latest_ + kMillisecond); }

  Instant Now() const override { return std::max(Whole(), latest_); }
  TimerId At(Instant at, std::function<void()> action) override {
    return clock_->At(at, std::move(action));
  }
  TimerId Every(Instant first, Duration period, std::function<void()> action) override {
    return clock_->Every(first, period, std::move(action));
  }
  bool Cancel(TimerId id) override { return clock_->Cancel(id); }

 private:
  Instant Whole() const { return std::chrono::floor<std::chrono::milliseconds>(clock_->Now()); }

  Clock* const clock_;
  Instant latest_{};
};

QueueDriver::QueueDriver(const QueueDriverOptions& options)
    : options_(options),
      meter_(options.judge_cost),
      watch_(options.clock),
      tickers_(options.clock) {
  SCHEDQ_CHECK(options.recorder == nullptr || !options.alternatives.any(),
               "no trace can say what the alternatives do");
  AssemblyOptions assembly;
  assembly.engine = options.engine;
  assembly.clock = options.clock;
  assembly.plugins = [this](World* world) { return MakePlugins(world); };
  assembly.gates = options.gates;
  assembly.backoff = options.backoff;
  assembly.observers = {&watch_};
  assembly.api_calls = options.api_calls;
  assembly.judges_in_parallel = false;
  assembly.now = HintMeter::Now;
  assembly.measures_pre_enqueue = false;
  assembly.make_queue = options.make_queue;
  if (options.recorder != nullptr) {
    recorded_time_ = std::make_unique<RecordedTime>(options.clock);
    assembly.clock = recorded_time_.get();
    assembly.observers.push_back(options.recorder);
  }
  const RecordedQueue recorded = {.clock = assembly.clock,
                                  .gates = assembly.gates,
                                  .backoff = assembly.backoff,
                                  .max_in_unschedulable = assembly.max_in_unschedulable};
  Result<std::unique_ptr<AssembledQueue>> queue = AssembledQueue::Create(std::move(assembly));
  SCHEDQ_CHECK(queue.ok(), "a run's plugins and gates were checked before it");
  queue_ = std::move(*queue);
  if (options.recorder != nullptr) BeginRecording(recorded);
  StartTickers();
}

QueueDriver::~QueueDriver() {
  tickers_.Stop();
  queue_->Close();
}

void QueueDriver::BeginRecording(RecordedQueue recorded) {
  recorded.queue = &queue();
  recorded.plugins = &plugins();
  options_.recorder->Begin(recorded);
}

// Not as the assembly's further plugins: these are metered and recorded too.
Result<std::vector<Plugin>> QueueDriver::MakePlugins(World* world) {
  std::vector<Plugin> plugins =
      WithProfiles(BuiltinPlugins(world, options_.gates, options_.pod_rules), options_.settings);
  for (const PluginSource& source : options_.further_plugins) {
    Result<std::vector<Plugin>> further = source(world);
    if (!further) return further.error();
    std::move(further->begin(), further->end(), std::back_inserter(plugins));
  }
  for (Plugin& plugin : plugins) {
    plugin = meter_.Meter(std::move(plugin));
    if (options_.alternatives.narrows_by_owner) {
      plugin = NarrowedByOwner(std::move(plugin), &world->pod_names());
    }
    if (options_.recorder != nullptr) {
      plugin = options_.recorder->answers().Record(std::move(plugin));
    }
  }
  return plugins;
}

// Ticks like AssembledQueue::Run, and records each tick.
void QueueDriver::StartTickers() {
  FlushActions actions;
  actions.flush_backoff = [this] {
    queue_->FlushBackoff();
    if (options_.alternatives.flushed_when_empty > 0) FlushWhenEmpty();
    AfterOperation([](TraceRecorder& recorder) { recorder.Flushed(TraceOp::kFlushBackoff); });
  };
  actions.flush_unschedulable = [this] {
    queue_->FlushUnschedulable();
    AfterOperation([](TraceRecorder& recorder) { recorder.Flushed(TraceOp::kFlushUnschedulable); });
  };
  tickers_.Start(options_.gates.PopFromBackoffQ(), std::move(actions));
}

// Pods move in the order of their expirations, in which the proposal's own design pops them.
void QueueDriver::FlushWhenEmpty() {
  if (queue_->Counts().active > 0) return;
  std::vector<std::pair<Instant, PodRef>> waiting;
  for (PodRef& pod : queue_->List(Place::kBackoff)) {
    const PodWhereabouts where = queue_->Where(QualifiedName(pod->namespace_name, pod->name));
    waiting.emplace_back(where.fields.backoff_expiration.value_or(Instant{}), std::move(pod));
  }
  std::sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, AsClusterPod(*a.second).number) <
           std::pair(b.first, AsClusterPod(*b.second).number);
  });
  std::vector<PodRef> moved;
  for (auto& [expiration, pod] : waiting) {
    if (moved.size() == static_cast<size_t>(options_.alternatives.flushed_when_empty)) break;
    moved.push_back(std::move(pod));
  }
  queue_->Activate(moved);
}

template <typename Act>
void QueueDriver::AfterOperation(Act act) {
  if (options_.recorder != nullptr) act(*options_.recorder);
  wake_up_();
}

void QueueDriver::Stamp() {
  if (recorded_time_ != nullptr) recorded_time_->Advance();
}

void QueueDriver::Add(const ClusterPodRef& pod) {
  Stamp();
  MustSucceed(queue_->PodAdded(pod));
  AfterOperation([&](TraceRecorder& recorder) { recorder.Added(pod); });
}

void QueueDriver::Update(const ClusterPodRef& before, const ClusterPodRef& after) {
  Stamp();
  MustSucceed(queue_->PodUpdated(before, after));
  AfterOperation([&](TraceRecorder& recorder) { recorder.Updated(after); });
}

void QueueDriver::Delete(const ClusterPodRef& pod) {
  queue_->PodDeleted(pod);
  AfterOperation([&](TraceRecorder& recorder) { recorder.Deleted(pod); });
}

void QueueDriver::Bind(const ClusterPodRef& pod) {
  queue_->PodBound(pod);
  EndAttempt(*pod);
  AfterOperation([&](TraceRecorder& recorder) { recorder.Bound(pod); });
}

void QueueDriver::CountMember(const ClusterPodRef& before, const ClusterPodRef& after) {
  if (!has_groups()) return;
  const bool was_assigned = before != nullptr && !before->node_name.empty();
  // For an assigned pod that finds no room there is nothing to refuse: its group counts one less.
  if (!was_assigned && after != nullptr) static_cast<void>(queue_->world().MemberAdded(*after));
  if (after == nullptr) queue_->world().MemberDeleted(*before);
}

bool QueueDriver::ChangeGroup(const PodGroupRef& before, const PodGroupRef& after) {
  const GroupKey& key = (after != nullptr ? after : before)->key;
  const bool is_known =
      key.kind == GroupKind::kComposite ? options_.gates.CompositePodGroup() : has_groups();
  if (!is_known) return false;
  Stamp();
  if (after == nullptr) {
    queue_->GroupDeleted(key);
    AfterOperation([&](TraceRecorder& recorder) { recorder.GroupDeleted(key); });
  } else if (before == nullptr) {
    queue_->GroupAdded(after);
    AfterOperation([&](TraceRecorder& recorder) { recorder.GroupAdded(after); });
  } else {
    queue_->GroupUpdated(after);
    AfterOperation([&](TraceRecorder& recorder) { recorder.GroupUpdated(after); });
  }
  return true;
}

bool QueueDriver::Event(const ClusterEvent& event, const ObjectChange& change,
                        const AssembledQueue::PreCheck& pre_check) {
  if (!queue_->Event(event, change, pre_check)) return false;
  AfterOperation([&](TraceRecorder& recorder) { recorder.EventHandled(event, change); });
  return true;
}

std::optional<PoppedPod> QueueDriver::Pop() {
  std::optional<PoppedPod> popped;
  if (std::optional<Attempt> attempt = queue_->TryPop()) {
    popped = attempt->popped();
    if (attempt->is_group()) {
      for (Attempt& member : attempt->TakeMembers()) {
        const uint64_t number = AsClusterPod(member.pod()).number;
        attempts_.insert_or_assign(number, std::move(member));
      }
      groups_.insert_or_assign(popped->group->root, std::move(*attempt));
      AfterOperation([&](TraceRecorder& recorder) { recorder.Popped(popped); });
      return popped;
    }
    const uint64_t number = AsClusterPod(attempt->pod()).number;
    attempts_.insert_or_assign(number, std::move(*attempt));
  }
  AfterOperation([&](TraceRecorder& recorder) { recorder.Popped(popped); });
  return popped;
}

void QueueDriver::EndGroup(const PoppedGroup& group, GroupStatus status) {
  Stamp();
  auto ended = groups_.extract(group.root);
  SCHEDQ_CHECK(!ended.empty(), "the group was popped and its cycle has not ended");
  const Status done = ended.mapped().EndGroup(status);
  SCHEDQ_CHECK(done.ok(), "a cycle ends once");
  AfterOperation([&](TraceRecorder& recorder) { recorder.GroupEnded(group.root, status); });
}

Attempt& QueueDriver::AttemptOf(const PoppedPod& pod) {
  const auto found = attempts_.find(AsClusterPod(*pod.pod).number);
  SCHEDQ_CHECK(found != attempts_.end(), "the pod was popped and its attempt has not ended");
  return found->second;
}

void QueueDriver::EndAttempt(const Pod& pod) { attempts_.erase(AsClusterPod(pod).number); }

void QueueDriver::Done(const PoppedPod& pod) {
  const Status done = AttemptOf(pod).Done();
  SCHEDQ_CHECK(done.ok(), "an attempt is done once");
  AfterOperation([&](TraceRecorder& recorder) { recorder.Ended(pod); });
}

void QueueDriver::Fail(const PoppedPod& pod, PluginSet unschedulable) {
  Stamp();
  // The queue refuses where the pod is queued again, but the attempt ends in any case.
  static_cast<void>(AttemptOf(pod).Fail(unschedulable));
  EndAttempt(*pod.pod);
  AfterOperation([&](TraceRecorder& recorder) { recorder.Failed(pod, unschedulable); });
}

// The queue refuses where the pod is not live any more, and then has no nomination either.
void QueueDriver::Nominate(const PodRef& pod, const std::string& node) {
  static_cast<void>(queue_->Nominate(pod, node));
  AfterOperation([&](TraceRecorder& recorder) { recorder.Nominated(pod, node); });
}

void QueueDriver::Activate(const PodRef& pod) {
  queue_->Activate({&pod, 1});
  AfterOperation([&](TraceRecorder& recorder) { recorder.Activated(pod); });
}

void QueueDriver::Abandon(const PoppedPod& pod) {
  const Status abandoned = AttemptOf(pod).Abandon();
  SCHEDQ_CHECK(abandoned.ok(), "an attempt is abandoned once, before it is done");
  EndAttempt(*pod.pod);
  AfterOperation([&](TraceRecorder& recorder) { recorder.Abandoned(pod); });
}

bool QueueDriver::MayPop() const {
  const QueueCounts counts = queue_->Counts();
  return counts.active > 0 || (options_.gates.PopFromBackoffQ() && counts.backoff > 0);
}

PluginId QueueDriver::PluginNamed(const std::string& name) const {
  const std::optional<PluginId> plugin = plugins().Find(name);
  SCHEDQ_CHECK(plugin.has_value(), "the built-in plugins are asked for by their names");
  return *plugin;
}

}  // namespace schedq
