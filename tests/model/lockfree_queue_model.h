// What the model tests of the whole lock-free engine share: the engine with small dimensions, a
// world of two switches around it, its operations in short words, and what must hold at the end.
//
// The world: plugin 0 (Filter) rejects pods until `has_room`, and a node's event says so; plugin 1
// (Gating) rejects pods in PreEnqueue until `is_open`, and a claim's event says so. Switches are
// turned before their event is sent, as docs/semantics.md wants it.
// Names, metrics and the clock are not the model's: each use of them is one step.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/queue_parts.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"
#include "engine/queueing_fields.h"
#include "tests/model/active_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/heap.h"
#include "tests/support/queue_wiring.h"

namespace schedq {

struct ModelWindowsShape {
  using Window = ModelShape;
  static constexpr int64_t kWindows = 4;
  static constexpr size_t kRunEntriesMax = 2;
};

struct ModelQueueShape {
  using Active = ModelShape;
  using Windows = ModelWindowsShape;
  static constexpr uint32_t kFirstPodsBits = 1;
  static constexpr uint32_t kFirstMarksBits = 0;
  static constexpr uint32_t kFirstNominationsBits = 2;
  static constexpr uint32_t kFirstLogBits = 1;
  static constexpr uint32_t kRecordsMax = 1 << 28;
  static constexpr uint32_t kLogEventsMax = 65'536;
  static constexpr uint32_t kLogTrimMax = 64;
  static constexpr uint64_t kEventsPerClear = 1;
  static constexpr bool kMayBeObserved = true;
  // Hints would only make more steps of what is explored.
  static constexpr uint32_t kPrefetchAhead = 0;
  // Never: see SweepingQueueShape.
  static constexpr uint64_t kSpareTickets = 1'000'000;
  static constexpr uint64_t kTicketsPerPush = 1;
};

inline constexpr PluginId kFilter = 0;
inline constexpr PluginId kGating = 1;

// Looks for stale tickets at every push.
struct SweepingQueueShape : ModelQueueShape {
  static constexpr uint64_t kSpareTickets = 0;
};

class ModelWorld final : public RequeueJudge, public PreEnqueueCheck, public Clock {
 public:
  model::Atomic<bool> has_room{false};
  model::Atomic<bool> is_open{true};
  // Moved between the threads' lives only.
  Instant now = Instant(std::chrono::seconds(1000));

  PluginSet RegisteredFor(const ClusterEvent& event) const override {
    if (event.IsWildcard()) return PluginSet(3);
    return event.resource == Resource::kResourceClaim ? PluginSet::Of(kGating)
                                                      : PluginSet::Of(kFilter);
  }
  void Narrow(const ClusterEvent& event, const ObjectChange&, Narrowing* narrowing) const override {
    narrowing->asked_of_all = kEveryRegistration;
    narrowing->plugins_of_all = RegisteredFor(event);
  }
  void Judge(std::span<const JudgedPod> pods, const ClusterEvent& event, const ObjectChange&,
             std::span<Verdict> verdicts) const override {
    for (size_t i = 0; i < pods.size(); ++i) {
      const PluginSet rejectors = pods[i].unschedulable | pods[i].pending;
      const bool helps =
          event.IsWildcard() || rejectors.empty() || !(rejectors & RegisteredFor(event)).empty();
      verdicts[i] = helps ? Verdict::kAfterBackoff : Verdict::kSkip;
    }
  }
  PluginId Check(const Pod&, PluginId) const override {
    return is_open.load() ? kNoPlugin : kGating;
  }
  std::string Explain(const Pod&, PluginId) const override { return "closed"; }

  Instant Now() const override { return now; }
  TimerId At(Instant, std::function<void()>) override { return 1; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 1; }
  bool Cancel(TimerId) override { return false; }
};

// What classes of the engine are made of: a test may replace a function of one by one that leaves
// something undone.
template <typename Shape>
using ModelParts = QueueParts<model::Atomic, Shape>;

template <typename Shape>
class ModelScene {
 public:
  using Queue = BasicLockfreeQueue<model::Atomic, Shape>;

  // Without backoff what an event requeues is active at once. With groups all pods are members of
  // one, "g".
  explicit ModelScene(Duration backoff = Duration(0), bool has_groups = false)
      : names_(2), metrics_(has_groups ? MetricsOf<true>() : MetricsOf<false>()) {
    metrics_.Clear();
    QueueOptions options = OptionsAround(&world, &names_, &world, &metrics_, {"Filter", "Gating"});
    options.backoff = {.initial = backoff, .maximum = backoff};
    if (has_groups) {
      GateRequest request;
      request.Set(Gate::kGenericWorkload, true);
      options.gates = *Gates::Resolve(request);
    }
    queue_ = std::make_unique<Queue>(std::move(options));
    for (size_t i = 0; i < pods_.size(); ++i) {
      auto first = std::make_shared<Pod>(*MakeVersion(i, 1, "first"));
      if (has_groups) first->group_name = "g";
      pods_[i] = std::move(first);
      auto anew = std::make_shared<Pod>(*pods_[i]);
      anew->uid = "anew-" + pods_[i]->name;
      created_anew_[i] = std::move(anew);
    }
  }

  Queue& queue() { return *queue_; }
  const PodRef& pod(size_t number) const { return pods_[number]; }

  static PodRef MakeVersion(size_t number, int32_t priority, const std::string& label) {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = std::string(1, static_cast<char>('a' + number));
    pod->uid = pod->name;
    pod->priority = priority;
    pod->labels = {{"version", label}};
    return pod;
  }

  void Add(size_t number) { MustSucceed(queue_->Add(pods_[number])); }
  // Under the same name and another uid. The old pod is gone, whether that was told or not.
  void AddAnew(size_t number) { MustSucceed(queue_->Add(created_anew_[number])); }
  void Delete(size_t number) { queue_->Delete(*pods_[number]); }
  void Activate(size_t number) { queue_->Activate({&pods_[number], 1}); }
  // Another version: an event of its own, and another place among the active.
  void Update(size_t number) {
    MustSucceed(queue_->Update(pods_[number], MakeVersion(number, 2, "second")));
  }
  PodKey Key(size_t number) const { return queue_->KeyOf(*pods_[number]); }
  void RejectByFilter(const PodKey& key) {
    static_cast<void>(queue_->Fail(key, PluginSet::Of(kFilter), {}));
  }
  // Pops and does with the pod what the world says: no room, no success.
  void Schedule() {
    const std::optional<PoppedPod> popped = queue_->TryPop();
    if (!popped) return;
    if (world.has_room.load()) return queue_->Done(popped->key);
    RejectByFilter(popped->key);
  }
  void MakeRoom() {
    world.has_room.store(true);
    queue_->Event(MakeEvent(Resource::kNode, Action::kAdd), {});
  }
  void Open() {
    world.is_open.store(true);
    queue_->Event(MakeEvent(Resource::kResourceClaim, Action::kUpdate), {});
  }

  Place PlaceOf(size_t number) const { return queue_->Where("ns/" + pods_[number]->name).place; }

  // No thread works on the queue any more. Counts are what is there, no pod sleeps whose event
  // came, every pod that can be popped is popped once, and in the end nothing is left.
  void Judge() {
    CheckCounts();
    CheckGauges();
    for (size_t i = 0; i < pods_.size(); ++i) {
      const Place place = PlaceOf(i);
      MODEL_CHECK(place != Place::kUnschedulable || !world.has_room.load(), "a pod sleeps on");
      MODEL_CHECK(place != Place::kGated || !world.is_open.load(), "a pod stays gated");
    }
    CheckPops();
    for (const PodRef& pod : queue_->List(Place::kInFlight)) queue_->Done(queue_->KeyOf(*pod));
    for (size_t i = 0; i < pods_.size(); ++i) {
      Delete(i);
      queue_->Delete(*created_anew_[i]);
    }
    MODEL_CHECK(queue_->Counts() == QueueCounts(), "nothing is left");
    MODEL_CHECK(queue_->LoggedEvents() == 0, "no pod needs an event");
    queue_->Event(MakeEvent(Resource::kNode, Action::kAdd), {});
    MODEL_CHECK(queue_->LoggedEvents() == 0, "no attempt that is over holds a place in the log");
    CheckGauges();
    for (const Resource resource : {Resource::kNode, Resource::kResourceClaim}) {
      for (const Action action : {Action::kAdd, Action::kUpdate}) {
        const std::string label(LabelText(MakeEvent(resource, action).label));
        MODEL_CHECK(Gauge("scheduler_inflight_events", {label}) == 0, "a dropped event is counted");
      }
    }
    MODEL_CHECK(names_.size() == 0, "no name is held");
  }

  // As Judge, of members. The group's object may be known or not.
  void JudgeGroups() {
    CheckCounts();
    CheckGauges();
    for (size_t i = 0; i < pods_.size(); ++i) {
      const Place place = PlaceOf(i);
      MODEL_CHECK(place != Place::kGated || !world.is_open.load(), "a group stays gated");
    }
    for (const PodRef& pod : queue_->List(Place::kInFlight)) queue_->Done(queue_->KeyOf(*pod));
    queue_->GroupDone(GroupOfAll()->key, GroupStatus::kSuccess);
    uint64_t waiting = queue_->Counts().active;
    while (const std::optional<PoppedPod> popped = queue_->TryPop()) {
      waiting -= popped->group->members.size();
      for (const PoppedPod& member : popped->group->members) queue_->Done(member.key);
    }
    MODEL_CHECK(waiting == 0, "an active group can be popped");
    queue_->GroupDone(GroupOfAll()->key, GroupStatus::kSuccess);
    for (size_t i = 0; i < pods_.size(); ++i) Delete(i);
    queue_->GroupDelete(GroupOfAll()->key);
    MODEL_CHECK(queue_->Counts() == QueueCounts(), "nothing is left");
    queue_->Event(MakeEvent(Resource::kNode, Action::kAdd), {});
    MODEL_CHECK(queue_->LoggedEvents() == 0, "no attempt that is over holds a place in the log");
    CheckGauges();
    MODEL_CHECK(names_.size() == 0, "no name is held");
  }
  static PodGroupRef GroupOfAll() {
    auto group = std::make_shared<PodGroup>();
    group->key = {GroupKind::kPodGroup, "ns", "g"};
    return group;
  }

  ModelWorld world;

 private:
  void CheckCounts() const {
    const QueueCounts counts = queue_->Counts();
    const auto is_right = [&](Place place, uint64_t count) {
      return queue_->List(place).size() == count;
    };
    MODEL_CHECK(is_right(Place::kActive, counts.active), "active is counted");
    MODEL_CHECK(is_right(Place::kBackoff, counts.backoff), "backoff is counted");
    MODEL_CHECK(is_right(Place::kErrorBackoff, counts.error_backoff), "errors are counted");
    MODEL_CHECK(is_right(Place::kUnschedulable, counts.unschedulable), "the pool is counted");
    MODEL_CHECK(is_right(Place::kGated, counts.gated), "the gated are counted");
    MODEL_CHECK(is_right(Place::kInFlight, counts.in_flight), "attempts are counted");
    MODEL_CHECK(is_right(Place::kIncomplete, counts.incomplete), "the incomplete are counted");
    MODEL_CHECK(is_right(Place::kPending, counts.pending), "the pending are counted");
  }

  double Gauge(const std::string& name, const std::vector<std::string>& labels) const {
    return metrics_.Value(name, labels).value_or(0);
  }
  // As an observer would recount them.
  void CheckGauges() const {
    std::array<int, 2> rejected{};
    for (const Place place :
         {Place::kActive, Place::kBackoff, Place::kErrorBackoff, Place::kUnschedulable,
          Place::kGated, Place::kIncomplete, Place::kPending}) {
      for (const PodRef& pod : queue_->List(place)) {
        const QueueingFields fields = queue_->Where("ns/" + pod->name).fields;
        fields.Rejectors().ForEach([&](PluginId plugin) { ++rejected[plugin]; });
      }
    }
    for (const PluginId plugin : {kFilter, kGating}) {
      const std::string name = plugin == kFilter ? "Filter" : "Gating";
      const double value =
          Gauge("scheduler_unschedulable_pods", {name, std::string(kDefaultProfile)});
      MODEL_CHECK(value == rejected[plugin], "rejected pods are counted: " + name);
    }
    const double flying = static_cast<double>(queue_->List(Place::kInFlight).size());
    MODEL_CHECK(Gauge("scheduler_inflight_events", {"PodPopped"}) == flying, "so are attempts");
  }

  void CheckPops() {
    world.now += std::chrono::seconds(100);
    queue_->FlushBackoff();
    uint64_t waiting = queue_->Counts().active;
    MODEL_CHECK(queue_->Counts().backoff + queue_->Counts().error_backoff == 0, "all is flushed");
    std::set<std::string> popped;
    while (const std::optional<PoppedPod> pod = queue_->TryPop()) {
      --waiting;
      MODEL_CHECK(popped.insert(pod->pod->name).second, "no pod is popped twice");
    }
    MODEL_CHECK(waiting == 0, "an active pod can be popped");
  }

  // One after the other, all scenes count in these: to make them takes longer than a schedule, and
  // to clear those of groups takes a tenth of one.
  template <bool has_groups>
  static MetricsRegistry& MetricsOf() {
    static MetricsRegistry* const metrics = [] {
      const model::Untracked untracked;
      auto* const made = new MetricsRegistry();
      QueueMetrics(made, {"Filter", "Gating"}, has_groups, [] { return QueueCounts(); });
      return made;
    }();
    return *metrics;
  }

  BasicInterner<std::atomic> names_;
  MetricsRegistry& metrics_;
  std::array<PodRef, 2> pods_;
  std::array<PodRef, 2> created_anew_;
  std::unique_ptr<Queue> queue_;
};

// Threads that act on a scene, what comes before them and what is asked after them.
template <typename Shape>
using Act = std::function<void(ModelScene<Shape>&)>;

template <typename Shape>
struct Program {
  Act<Shape> before;
  std::vector<Act<Shape>> threads;
  Act<Shape> after = [](ModelScene<Shape>&) {};
  Duration backoff = Duration(0);
};

template <typename Shape>
model::Body BodyOfProgram(Program<Shape> program) {
  ModelScene<Shape>().Schedule();  // What fills itself at first use belongs to no schedule.
  return [=](model::Trial& trial) {
    ModelScene<Shape> scene(program.backoff);
    program.before(scene);
    for (const Act<Shape>& act : program.threads) trial.Thread([&scene, &act] { act(scene); });
    trial.Join();
    program.after(scene);
    scene.Judge();
  };
}

// An exploration of the test that runs. Weak orderings of the assembled engine are left to those of
// its parts.
inline model::Options Named(uint32_t preemptions_max) {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = 0;
  options.weak_failures_max = 0;
  options.steps_max = 20'000;
  return options;
}

}  // namespace schedq
