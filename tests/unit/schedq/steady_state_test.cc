// Goal: in steady state no operation takes a lock, asks the kernel to wait or to wake, allocates or
// frees; what does, is named here and in the folders' READMEs.
// Method: this program's own pthread_mutex_lock, pthread_once, syscall, malloc and free count what
// the calling thread does. A round of all operations runs a few times, and the last time is
// counted, operation by operation. A mutex, a futex and a string on the heap are the controls.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/atom.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/claims/claim_index.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/registry.h"
#include "tests/support/call_scene.h"
#include "tests/support/queue/queue_bench.h"

namespace {

struct Costs {
  uint64_t locks = 0;
  uint64_t onces = 0;
  uint64_t futexes = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;

  bool operator==(const Costs&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Costs& costs) {
  return out << costs.locks << " locks, " << costs.onces << " onces, " << costs.futexes
             << " futexes, " << costs.allocations << " allocations, " << costs.frees << " frees";
}

constinit thread_local Costs costs_of_thread;

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

void* malloc(size_t bytes) {
  ++costs_of_thread.allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++costs_of_thread.allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++costs_of_thread.allocations;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++costs_of_thread.allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = aligned_alloc(alignment, bytes);
  return 0;
}
void free(void* memory) {
  if (memory != nullptr) ++costs_of_thread.frees;
  __libc_free(memory);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const kNext = Next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  ++costs_of_thread.locks;
  return kNext(mutex);
}
int pthread_once(pthread_once_t* once, void (*run)()) {
  static auto* const kNext = Next<int(pthread_once_t*, void (*)())>("pthread_once");
  ++costs_of_thread.onces;
  return kNext(once, run);
}
long syscall(long number, ...) {
  static auto* const kNext = Next<long(long, ...)>("syscall");
  if (number == SYS_futex) ++costs_of_thread.futexes;
  va_list given;
  va_start(given, number);
  std::array<long, 6> arguments;
  for (long& argument : arguments) argument = va_arg(given, long);
  va_end(given);
  return kNext(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
               arguments[5]);
}

}  // extern "C"

namespace schedq {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The costs of each operation by name, of the round that is counted.
class Ledger {
 public:
  template <typename Operation>
  auto Count(const char* name, const Operation& operation) {
    const Costs before = costs_of_thread;
    struct AtEnd {
      ~AtEnd() {
        const Costs after = costs_of_thread;
        Costs& costs = ledger->costs_[name];
        costs = {after.locks - before.locks, after.onces - before.onces,
                 after.futexes - before.futexes, after.allocations - before.allocations,
                 after.frees - before.frees};
      }
      Ledger* ledger;
      const char* name;
      const Costs& before;
    };
    const AtEnd at_end{this, name, before};
    return operation();
  }

  // Each operation costs nothing, but for those that `named` names, which cost at most that.
  void Expect(const std::map<std::string, Costs>& named) const {
    for (const auto& [name, costs] : costs_) {
      const auto found = named.find(name);
      if (found == named.end()) {
        EXPECT_EQ(costs, Costs()) << name;
      } else {
        EXPECT_EQ(costs.locks + costs.onces + costs.futexes, 0u) << name << ": " << costs;
        EXPECT_LE(costs.allocations, found->second.allocations) << name << ": " << costs;
        EXPECT_LE(costs.frees, found->second.frees) << name << ": " << costs;
      }
    }
    for (const auto& [name, costs] : named) EXPECT_EQ(costs_.count(name), 1u) << name;
  }
  const Costs& Of(const char* name) const { return costs_.at(name); }

 private:
  std::map<std::string, Costs> costs_;
};

constexpr int kRounds = 4;

TEST(SteadyState, TheControlsAreCounted) {
  Ledger ledger;
  std::mutex mutex;
  std::once_flag once;
  const std::atomic<uint32_t> word{0};
  std::string text;
  ledger.Count("nothing", [] {});
  ledger.Count("mutex", [&] { mutex.lock(); });
  ledger.Count("once", [&] { std::call_once(once, [] {}); });
  ledger.Count("futex", [&] { Seam<std::atomic>::WakeOne(word); });
  ledger.Count("string", [&] { text = std::string(100, 'x'); });
  ledger.Count("no string", [&] { std::string().swap(text); });
  mutex.unlock();
  EXPECT_EQ(ledger.Of("nothing"), Costs());
  EXPECT_EQ(ledger.Of("mutex").locks, 1u);
  EXPECT_EQ(ledger.Of("once").onces, 1u);
  EXPECT_EQ(ledger.Of("futex").futexes, 1u);
  EXPECT_EQ(ledger.Of("string").allocations, 1u);
  EXPECT_EQ(ledger.Of("no string").frees, 1u);
}

Plugin ClaimWatcher() {
  Plugin plugin;
  plugin.name = "Claims";
  plugin.events = {{Resource::kResourceClaim,
                    Action::kUpdate,
                    [](const Pod&, const ObjectChange&) { return Hint::kQueue; },
                    {}}};
  return plugin;
}

ObjectChange ClaimChange() {
  auto claim = std::make_shared<ObjectView>();
  claim->resource = Resource::kResourceClaim;
  claim->namespace_name = "ns";
  claim->name = "claim";
  return {claim, claim};
}

const ClusterEvent kClaimUpdate = MakeEvent(Resource::kResourceClaim, Action::kUpdate);

void RoundOfQueue(QueueBench& bench, const std::vector<PodRef>& pods, const ObjectChange& change,
                  Ledger* ledger) {
  SchedulingQueue& queue = bench.queue();
  const PluginSet rejectors = bench.Plugins({"Claims"});
  const PodRef& pod = pods[0];
  const auto updated = std::make_shared<Pod>(*pod);
  updated->labels = {{"changed", "1"}};
  ledger->Count("Add", [&] { MustSucceed(queue.Add(pod)); });
  ledger->Count("Add, known", [&] { MustSucceed(queue.Add(pod)); });
  ledger->Count("Update", [&] { MustSucceed(queue.Update(pod, updated)); });
  ledger->Count("Counts", [&] { queue.Counts(); });
  ledger->Count("KeyOf", [&] { queue.KeyOf(*pod); });
  const PoppedPod popped = *ledger->Count("TryPop", [&] { return queue.TryPop(); });
  ledger->Count("TryPop, nothing", [&] { queue.TryPop(); });
  ledger->Count("Event, one in flight", [&] { queue.Event(kClaimUpdate, change); });
  const Status first = ledger->Count("Fail, an event meanwhile",
                                     [&] { return queue.Fail(popped.key, rejectors, {}); });
  // As many seconds as the ring of backoff has windows: each round uses the same windows.
  bench.Advance(seconds(1024));
  ledger->Count("FlushBackoff", [&] { queue.FlushBackoff(); });
  const PoppedPod again = *ledger->Count("Pop", [&] { return queue.Pop(seconds(1)); });
  const Status second = ledger->Count("Fail", [&] { return queue.Fail(again.key, rejectors, {}); });
  ASSERT_TRUE(first.ok() && second.ok());
  ledger->Count("Event, no match",
                [&] { queue.Event(MakeEvent(Resource::kNode, Action::kAdd), {}); });
  ledger->Count("Event", [&] { queue.Event(kClaimUpdate, change); });
  const std::array<PodRef, 1> activated = {pod};
  ledger->Count("Activate", [&] { queue.Activate(activated); });
  const PoppedPod last = *queue.TryPop();
  ledger->Count("Nominate", [&] { MustSucceed(queue.Nominate(pod, "node")); });
  ledger->Count("Nominate, none", [&] { MustSucceed(queue.Nominate(pod, "")); });
  ledger->Count("Done", [&] { queue.Done(last.key); });
  ledger->Count("Delete", [&] { queue.Delete(*pod); });
  MustSucceed(queue.Add(pods[1]));
  const PoppedPod bound = *queue.TryPop();
  ledger->Count("Bind", [&] { queue.Bind(bound.key); });
}

TEST(SteadyState, NoOperationOfTheQueueLocksOrAllocates) {
  QueueBenchOptions options;
  options.plugins = {ClaimWatcher()};
  QueueBench bench(options);
  const std::vector<PodRef> pods = {MakePod(std::string(100, 'a')), MakePod("b")};
  const ObjectChange change = ClaimChange();
  Ledger ledger;
  for (int round = 0; round < kRounds; ++round) RoundOfQueue(bench, pods, change, &ledger);
  // A node's pods and a pod's node are on the heap.
  ledger.Expect({{"Nominate", {.allocations = 2, .frees = 2}},
                 {"Nominate, none", {.allocations = 2, .frees = 2}}});
}

TEST(SteadyState, TheJudgeNeitherLocksNorAllocatesAtAnEventsFirstSight) {
  MetricsRegistry metrics;
  Result<PluginRegistry> registry = PluginRegistry::Build({ClaimWatcher()});
  const PluginJudge judge(*registry, {.metrics = &metrics});
  const PodRef pod = MakePod("a");
  PluginSet rejectors;
  rejectors.Insert(0);
  const std::array<JudgedPod, 1> judged = {JudgedPod{pod.get(), 0, rejectors, {}}};
  std::array<Verdict, 1> verdicts;
  const ObjectChange change = ClaimChange();
  Narrowing narrowing;
  // What a thread keeps for all its judges is no event's first sight.
  MetricsRegistry other_metrics;
  PluginJudge(*registry, {.metrics = &other_metrics}).Narrow(kClaimUpdate, change, &narrowing);
  Ledger ledger;
  ledger.Count("RegisteredFor", [&] { judge.RegisteredFor(kClaimUpdate); });
  ledger.Count("Narrow", [&] { judge.Narrow(kClaimUpdate, change, &narrowing); });
  ledger.Count("Judge", [&] { judge.Judge(judged, kClaimUpdate, change, verdicts); });
  EXPECT_EQ(verdicts[0], Verdict::kAfterBackoff);
  ledger.Expect({});
  const auto* family = metrics.Find("scheduler_queueing_hint_execution_duration_seconds");
  EXPECT_EQ(family->Read().size(), static_cast<size_t>(kHintCount)) << "of the event that came";
}

TEST(SteadyState, NoOperationOfTheClaimIndexLocksOrAllocates) {
  Interner names;
  ClaimIndex index(&names);
  auto pod = MakePod("a");
  pod->claims = {"mine", "ours"};
  auto other = MakePod("a");
  other->claims = {"ours", "another"};
  PodList listed;
  listed.reserve(8);
  Ledger ledger;
  for (int round = 0; round < kRounds; ++round) {
    ledger.Count("Insert", [&] { index.Insert("ns", "mine"); });
    ledger.Count("Update, new", [&] { index.Update(nullptr, pod.get()); });
    ledger.Count("Update", [&] { index.Update(pod.get(), other.get()); });
    ledger.Count("Exists", [&] { index.Exists("ns", "mine"); });
    listed.clear();
    ledger.Count("Lookup", [&] { index.Lookup("ns", "ours", &listed); });
    EXPECT_EQ(listed.size(), 1u);
    ledger.Count("Update, gone", [&] { index.Update(other.get(), nullptr); });
    ledger.Count("Erase", [&] { index.Erase("ns", "mine"); });
  }
  ledger.Expect({});
}

TEST(SteadyState, NoOperationOfTheDispatcherLocksOrAllocates) {
  VirtualClock clock{Instant(seconds(1000))};
  MetricsRegistry metrics;
  CallQueue<> queue({.clock = &clock, .metrics = &metrics, .calls_per_second = 0});
  const PodRef pod = UnmarkedPod();
  const auto call = [&](ObjectId object, Duration delay, const char* message) {
    return SetMessage({object, 1, delay, pod, nullptr}, message);
  };
  const auto start = [](const ApiCall&) {};
  Ledger ledger;
  for (int round = 0; round < kRounds; ++round) {
    ApiCall waits = call(0, seconds(5), "waits");
    ApiCall overwrites = call(0, seconds(5), "newer");
    ApiCall due = call(1, Duration(0), "due");
    ledger.Count("Add", [&] { queue.Add(std::move(waits)); });
    ledger.Count("Add, overwrites", [&] { queue.Add(std::move(overwrites)); });
    ledger.Count("Sync", [&] { queue.Sync(0, pod); });
    ledger.Count("Cancel", [&] { queue.Cancel(0); });
    queue.Add(std::move(due));
    ledger.Count("Dispatch", [&] { queue.Dispatch(clock.Now(), start); });
    ASSERT_EQ(queue.InFlight(), 1u);
    ledger.Count("Complete", [&] { queue.Complete(1, Status()); });
    const PodRef marked = MarkedPod("due");
    ledger.Count("Sync, seen", [&] { queue.Sync(1, marked); });
    ledger.Count("Dispatch, nothing", [&] { queue.Dispatch(clock.Now(), start); });
    clock.AdvanceBy(seconds(10));
  }
  ledger.Expect({});
}

}  // namespace
}  // namespace schedq
