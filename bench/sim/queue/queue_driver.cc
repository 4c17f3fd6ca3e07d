#include "bench/sim/queue/queue_driver.h"

#include <algorithm>
#include <utility>

#include "hints/plugins/builtin.h"

namespace schedq {
namespace {

constexpr std::chrono::milliseconds kMillisecond{1};

}  // namespace

// A trace counts time in whole milliseconds, so the queue of a recorded run must not see more. No
// two pods get the same timestamp: which of them goes first would be each engine's own affair, and
// the trace is for all engines. So the time runs ahead where operations come faster than that, and
// waits until the other has caught up.
class RecordedTime final : public Clock {
 public:
  explicit RecordedTime(Clock* clock) : clock_(clock) {}

  // Before an operation that may give a pod its timestamp.
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
    : options_(options), world_(&pod_names_), meter_(options.judge_cost), watch_(options.clock) {
  SCHEDQ_CHECK(options.recorder == nullptr || !options.alternatives.any(),
               "no trace can say what the alternatives do");
  Result<PluginRegistry> plugins = PluginRegistry::Build(MakePlugins());
  SCHEDQ_CHECK(plugins.ok(), "the built-in plugins are well-formed");
  plugins_ = std::make_unique<PluginRegistry>(std::move(*plugins));
  ExposeGates(options.gates, &registry_);
  pre_enqueue_ = std::make_unique<PluginPreEnqueue>(*plugins_);
  JudgeOptions judge_options;
  judge_options.metrics = &registry_;
  judge_options.now = HintMeter::Now;
  judge_options.parallel_from = JudgeOptions::kNeverParallel;
  judge_ = std::make_unique<PluginJudge>(*plugins_, judge_options);

  QueueOptions queue_options;
  queue_options.clock = options.clock;
  queue_options.pod_names = &pod_names_;
  queue_options.pre_enqueue = pre_enqueue_.get();
  queue_options.judge = judge_.get();
  queue_options.metrics = &registry_;
  queue_options.plugin_names = plugins_->Names();
  queue_options.gates = options.gates;
  queue_options.backoff = options.backoff;
  queue_options.observers = options.observers;
  queue_options.observers.push_back(&watch_);
  if (options.recorder != nullptr) {
    recorded_time_ = std::make_unique<RecordedTime>(options.clock);
    queue_options.clock = recorded_time_.get();
    queue_options.observers.push_back(options.recorder);
    options.recorder->Begin(queue_options, *plugins_);
  }
  queue_ = options.make_queue ? options.make_queue(std::move(queue_options))
                              : MakeQueue(options.engine, std::move(queue_options));
  if (options.recorder != nullptr) options.recorder->Attach(queue_.get());
  Tick();
}

QueueDriver::~QueueDriver() {
  for (const TimerId ticker : tickers_) options_.clock->Cancel(ticker);
}

std::vector<Plugin> QueueDriver::MakePlugins() {
  std::vector<Plugin> plugins;
  for (Plugin& plugin : BuiltinPlugins(&world_)) {
    Plugin metered = meter_.Meter(std::move(plugin));
    if (options_.alternatives.narrows_by_owner) {
      metered = NarrowedByOwner(std::move(metered), &pod_names_);
    }
    if (options_.recorder != nullptr) {
      metered = options_.recorder->answers().Record(std::move(metered));
    }
    plugins.push_back(std::move(metered));
  }
  return plugins;
}

// SchedulingQueue::Run's tickers, of our own so that they are recorded.
void QueueDriver::Tick() {
  Clock& clock = *options_.clock;
  const Instant now = clock.Now();
  const Instant first = options_.gates.PopFromBackoffQ() ? NextWholeSecond(now) : now + kSecond;
  tickers_.push_back(clock.Every(first, kSecond, [this] {
    queue_->FlushBackoff();
    if (options_.alternatives.flushed_when_empty > 0) FlushWhenEmpty();
    Acted([](TraceRecorder& recorder) { recorder.Flushed(TraceOp::kFlushBackoff); });
  }));
  tickers_.push_back(
      clock.Every(now + kFlushUnschedulablePeriod, kFlushUnschedulablePeriod, [this] {
        queue_->FlushUnschedulable();
        Acted([](TraceRecorder& recorder) { recorder.Flushed(TraceOp::kFlushUnschedulable); });
      }));
}

// Which pods would be popped first is what the chosen way pops: by expiration.
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
void QueueDriver::Acted(Act act) {
  if (options_.recorder != nullptr) act(*options_.recorder);
  wake_up_();
}

void QueueDriver::Stamp() {
  if (recorded_time_ != nullptr) recorded_time_->Advance();
}

void QueueDriver::Add(const ClusterPodRef& pod) {
  Stamp();
  world_.PodChanged(nullptr, pod.get());
  queue_->Add(pod);
  Acted([&](TraceRecorder& recorder) { recorder.Added(pod); });
}

void QueueDriver::Update(const ClusterPodRef& before, const ClusterPodRef& after) {
  Stamp();
  world_.PodChanged(before.get(), after.get());
  queue_->Update(before, after);
  Acted([&](TraceRecorder& recorder) { recorder.Updated(after); });
}

void QueueDriver::Delete(const ClusterPodRef& pod) {
  world_.PodChanged(pod.get(), nullptr);
  queue_->Delete(*pod);
  Acted([&](TraceRecorder& recorder) { recorder.Deleted(pod); });
}

void QueueDriver::Bind(const ClusterPodRef& pod) {
  world_.PodChanged(pod.get(), nullptr);
  queue_->Bind(queue_->KeyOf(*pod));
  Acted([&](TraceRecorder& recorder) { recorder.Bound(pod); });
}

bool QueueDriver::Event(const ClusterEvent& event, const ObjectChange& change) {
  if (event.resource == Resource::kResourceClaim) {
    const ObjectView& claim = *change.Latest();
    if (change.after == nullptr) {
      world_.ClaimGone(claim.namespace_name, claim.name);
    } else {
      world_.ClaimSeen(claim.namespace_name, claim.name);
    }
  }
  if (judge_->RegisteredFor(event).empty()) return false;
  queue_->Event(event, change);
  Acted([&](TraceRecorder& recorder) { recorder.Happened(event, change); });
  return true;
}

std::optional<PoppedPod> QueueDriver::Pop() {
  std::optional<PoppedPod> popped = queue_->TryPop();
  Acted([&](TraceRecorder& recorder) { recorder.Popped(popped); });
  return popped;
}

void QueueDriver::Done(const PoppedPod& pod) {
  queue_->Done(pod.key);
  Acted([&](TraceRecorder& recorder) { recorder.Ended(pod); });
}

void QueueDriver::Fail(const PoppedPod& pod, PluginSet unschedulable) {
  Stamp();
  // A refusal, because the pod is queued, ends the attempt all the same.
  static_cast<void>(queue_->Fail(pod.key, unschedulable, PluginSet()));
  Acted([&](TraceRecorder& recorder) { recorder.Failed(pod, unschedulable); });
}

void QueueDriver::Abandon(const PoppedPod& pod) {
  queue_->Done(pod.key);
  Acted([&](TraceRecorder& recorder) { recorder.Abandoned(pod); });
}

bool QueueDriver::MayPop() const {
  const QueueCounts counts = queue_->Counts();
  return counts.active > 0 || (options_.gates.PopFromBackoffQ() && counts.backoff > 0);
}

PluginId QueueDriver::PluginNamed(const std::string& name) const {
  const std::optional<PluginId> plugin = plugins_->Find(name);
  SCHEDQ_CHECK(plugin.has_value(), "the built-in plugins are asked for by their names");
  return *plugin;
}

}  // namespace schedq
