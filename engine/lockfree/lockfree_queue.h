// The product: the scheduling queue without locks. README.md in this folder says what concurrency
// means here.
//
// Purpose: what SchedulingQueue promises, callable from any thread at any time, where no operation
// takes a lock or waits for another thread, but for a Pop that sleeps because there is nothing.
// When not to use it: as the judge of what is right; that is the classic engine.
// Progress: every operation is lock-free except Pop, which blocks while there is nothing to pop,
// and Run and Close, which take a mutex of their own around the tickers.
// Linearization: each operation on a pod linearizes at the exchange of the pod's slot word that
// makes its draft true (pod_table.h); a pop at the moment before its exchange at which no better
// ticket was there. What follows from an exchange is announced, and others finish it
// (unfinished_moves.h).
//
// Invariants:
//  1. A ticket is published only after the exchange that gave the pod its place, and counts only
//     while the slot's version and place are the ticket's. So a queue may hold stale tickets, or a
//     ticket twice, and no pod twice.
//  2. No lost wake-up. An event is logged, then the pool is looked at. A failing pod enters the
//     pool, then reads the log on. A pod that PreEnqueue rejects enters the pool, and if an event
//     that the gating plugin registered for began meanwhile PreEnqueue is asked again.
//  3. Observers hear of a move after it happened and before its ticket is published, unless another
//     thread finishes the move.
// Memory: README.md has the sum; nothing grows but with the most pods there were at one time. Stale
// tickets end when they are popped, flushed, or so many that they are looked for.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/metrics/sampled_duration.h"
#include "engine/base/result.h"
#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/base/zeroed_memory.h"
#include "engine/event.h"
#include "engine/flush_tickers.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/active/stale_watch.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "engine/lockfree/event_count.h"
#include "engine/lockfree/groups/asked_of_group.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/draft.h"
#include "engine/lockfree/pods/nomination_index.h"
#include "engine/lockfree/pods/place_counts.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/pods/rejector_index.h"
#include "engine/lockfree/pods/unfinished_moves.h"
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

namespace schedq {

// The queue's dimensions; models use smaller ones, to meet the borders sooner.
struct LockfreeQueueShape {
  using Active = ActiveQueueShape;
  using Windows = BackoffWindowsShape;
  static constexpr uint32_t kFirstPodsBits = 10;
  static constexpr uint32_t kFirstMarksBits = 4;
  static constexpr uint32_t kFirstLogBits = 6;
  // Records of pods; half of them may be pods' (pod_record.h).
  static constexpr uint32_t kRecordsMax = PodTable<std::atomic>::kRecordsMax;
  // How many events are kept for pods in flight at most, and let go by one operation at most.
  static constexpr uint32_t kLogEventsMax = 65'536;
  static constexpr uint32_t kLogTrimMax = 64;
  // One event in so many clears marks of pods that have left the pool (rejector_index.h).
  static constexpr uint64_t kEventsPerClear = 8;
  // False: no observer may be given, and Add has no code for them.
  static constexpr bool kMayBeObserved = true;
  // How many pops ahead a record is fetched into the cache, and half as many the pod; 0: never.
  static constexpr uint32_t kWarmAhead = 6;
  // When stale tickets are looked for (stale_watch.h).
  static constexpr uint64_t kSpareTickets = 4096;
  static constexpr uint64_t kTicketsPerPush = 4;
};

template <template <typename> class Atom, typename Shape = LockfreeQueueShape>
class BasicLockfreeQueue final : public SchedulingQueue {
 public:
  explicit BasicLockfreeQueue(QueueOptions options);
  ~BasicLockfreeQueue() override;

  Status Add(PodRef pod) override;
  Status Update(PodRef before, PodRef after) override;
  void Delete(const Pod& pod) override;
  void Bind(const PodKey& pod) override;
  using SchedulingQueue::Event;
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override;
  void Activate(std::span<const PodRef> pods) override;
  void GroupAdd(PodGroupRef group) override;
  void GroupUpdate(PodGroupRef group) override;
  void GroupDelete(const GroupKey& group) override;

  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override;
  std::optional<PoppedPod> TryPop() override;
  void Done(const PodKey& pod) override;
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override;
  void GroupDone(const GroupKey& root, GroupStatus status) override;

  void FlushBackoff() override;
  void FlushUnschedulable() override;
  void Run() override;
  void Close() override;

  Status Nominate(const PodRef& pod, std::string_view node) override;
  std::vector<PodRef> NominatedPods(std::string_view node) const override;
  std::string NominatedNode(const PodKey& pod) const override;

  PodKey KeyOf(const Pod& pod) const override;
  QueueCounts Counts() const override;
  std::vector<PodRef> List(Place place) const override;
  PodWhereabouts Where(std::string_view pod_name) const override;
  uint64_t SchedulingCycle() const override { return cycle_.load(); }
  uint64_t LoggedEvents() const override { return log_.events(); }
  const QueueMetrics& Metrics() const override { return metrics_; }

  // How many tickets the active queue holds, stale ones among them. May be off by what is pushed
  // and popped meanwhile.
  uint64_t ActiveTickets() const { return active_.Size(); }

 private:
  using Table = PodTable<Atom>;
  using Pinned = typename Table::Pinned;
  using Scan = typename Table::Scan;
  using Draft = schedq::Draft<Atom>;
  using NominationOfDraft = DraftedNomination<Atom, Draft>;
  // Counts an event that the log lets go.
  struct DropCounter {
    const QueueMetrics* metrics;
    void operator()(EventLabel label) const { metrics->AddInFlight(label, -1); }
  };
  using Log = EventLog<Atom, DropCounter, Shape>;
  using Moves = UnfinishedMoves<Atom, Shape::Windows::kRunEntriesMax>;
  using TimeQueue =
      ActiveQueue<Atom, typename Shape::Windows::Window>;  // By exact expiration; one priority.
  // A batch costs two looks at the clock, and what is known of its pods has to stay near.
  static constexpr size_t kBatch = 256;
  // Up to so many narrowed pods are judged one by one, without a batch's memory.
  static constexpr size_t kFewPods = 4;

  // What an operation is to a pod that it moves.
  struct Cause {
    EventLabel label = kNoLabel;
    // Events and flushes take a pod out of the pool first: one that is gated again counts again.
    bool takes_out_first = false;
    // The place that a verdict has named, for both queues of backoff and both places of the pool.
    Place named = Place::kAbsent;
  };
  static Place PlaceNamedBy(Verdict verdict);

  // Deciding (lockfree_requeue-inl.h): works on a draft, changes nothing else.
  bool PassesPreEnqueue(Draft* draft) const;
  bool IsBackingOff(Draft* draft) const;
  void DecidePlace(Draft* draft, Verdict verdict, bool skip_pre_enqueue) const;
  // Making it true. False: the slot changed, and nothing happened.
  [[gnu::noinline]] bool Commit(PodId id, const Pinned& pinned, Draft* draft, Cause cause);
  // The same without what follows a move into the pool; `announcement` stands until that is done.
  using Announcement = typename Moves::Announcement;
  bool CommitMove(PodId id, const Pinned& pinned, Draft* draft, Cause cause,
                  Announcement* announcement);
  [[gnu::noinline, gnu::cold]] bool CommitObserved(PodId id, const Pinned& pinned, Draft* draft,
                                                   Cause cause, Announcement* announcement);
  template <bool kIsObserved>
  [[gnu::always_inline]] bool CommitAs(PodId id, const Pinned& pinned, Draft* draft, Cause cause,
                                       Announcement* announcement);
  // What will stand in a queue for the pod.
  struct Ticket {
    ActiveEntry entry;
    MaybeInstant expiration;
  };
  static Ticket TicketFor(const PodFacts& facts);
  static PodId IdIn(uint64_t ticket) { return static_cast<PodId>(ticket >> 32); }
  // Whether the pod whose word this is still is in `place` where the ticket says.
  static bool IsOf(uint64_t ticket, Place place, const SlotWord& word) {
    return word.queued == place && word.version_or_position == static_cast<uint32_t>(ticket);
  }
  static SlotWord WordWith(const SlotWord& before, const Draft& draft);
  SlotWord WordAfter(const Pinned& pinned, Draft* draft) const;
  [[gnu::always_inline]] void CountMove(const SlotWord& before, const Draft& draft,
                                        Cause cause) const;
  void TellPublished(const Pinned& pinned, const PodFacts& facts, const Draft& draft,
                     Cause cause) const;
  [[gnu::always_inline]] void PushTicket(Place place, const Ticket& ticket);
  [[gnu::noinline, gnu::cold]] void DropStaleTickets(uint64_t pushes);
  bool IsOvertaken(const Draft& draft) const;
  void RecheckGated(PodId id, Cause cause, Announcement* announcement);

  // Finishing what other threads have begun (lockfree_finish-inl.h).
  Pinned PinFinished(PodId id);
  bool FinishAllMoves();
  // Remembers that a scope was left by an exception before what it began was finished.
  class Leftover {
   public:
    explicit Leftover(BasicLockfreeQueue* queue) : queue_(queue) {}
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;
    // Relaxed: the thread's own next operation finishes it, or any other that sees this.
    ~Leftover() {
      if (!is_finished_) StoreRelaxed(queue_->has_left_, true);
    }
    void Finished() { is_finished_ = true; }

   private:
    BasicLockfreeQueue* const queue_;
    bool is_finished_ = false;
  };
  void FinishLeft();
  template <typename IsUnderWay>
  bool FinishMove(const Move& move, const IsUnderWay& is_under_way);
  static uint32_t NoteOf(Cause cause);
  static Cause CauseIn(uint32_t note);

  // Pods that come, change and go (lockfree_cluster-inl.h).
  PodKey FindKey(const Pod& pod) const;
  void EnsureSlot(PodId id);
  // What became of an attempt to change a pod's slot: the slot changed (try again), the pod is
  // nowhere, or there was no room for what is new.
  enum class Outcome : uint8_t { kDone, kChanged, kAbsent, kRefused };
  Outcome TryAdd(PodId id, Draft* draft, bool* is_new);
  Outcome TryAddKnown(PodId id, const Pinned& pinned, const PodRef& pod);
  bool HasRoom() const;
  Status Refused(std::string_view operation, const Pod& pod, std::string_view node) const;
  uint32_t OlderAttempts(const Pinned& pinned);
  // Whether an attempt that is in flight is told of the update, and nothing else is done.
  enum class UpdateOf : uint8_t { kAttemptFirst, kQueuedPod };
  Outcome TryUpdate(PodId id, const PodRef& before, const PodRef& after, UpdateOf update_of);
  void UpdateInFlight(const PodKey& key, Place place, const PodRef& before, const PodRef& after);
  void JudgeUpdate(const PodKey& key, const PodRef& before, const PodRef& after);
  bool RemoveFromCluster(const PodKey& key);
  [[gnu::noinline, gnu::cold]] void TellRemoved(const PodRef& pod, const SlotWord& before,
                                                const PodMove& move, Place to) const;
  bool TryActivate(const PodKey& key);

  // Attempts (lockfree_attempt-inl.h).
  class Popper;
  template <typename IsUnchanged>
  bool TryPopEarly(const IsUnchanged& is_unchanged, std::optional<PoppedPod>* popped);
  void Popped(const PodFacts& facts, Place from, PoppedPod* popped);
  void TellPopped(const PoppedPod& popped, Place from);
  void Discard(PodId id, const Pinned& pinned);
  void CountEarlyPop() const {
    const EventLabel label = LabelOf(SpecialLabel::kPopFromBackoffQ);
    metrics_.AddIncoming(Place::kActive, label);
    metrics_.AddIncomingEntity(Place::kActive, label, EntityType::kPod);
  }
  const PodFacts* FlightOf(const Pinned& pinned, const PodKey& key) const;
  FlightPosition PositionOf(const Pinned& pinned, const PodFacts& attempt) const {
    return &attempt == &pinned.facts() ? pinned.flight() : attempt.flight;
  }
  // Calls `visit(const PodFacts&)` for each attempt under the name that is in flight.
  template <typename Visit>
  void ForEachFlight(const Pinned& pinned, Visit visit) const;
  void DropFlight(PodFacts* own, const PodKey& key);
  SlotWord WordWithoutFlight(const Pinned& pinned, const PodKey& key, Draft* draft);
  void EndFlight(const PodKey& key);
  void EndInLog(FlightPosition flight);
  void EndAttempt(FlightPosition flight);
  // How far a failing attempt has judged the log. Kept when the slot changes under a Fail, which
  // then goes on from there.
  struct LogJudgement {
    FlightPosition position;
    std::optional<typename Log::Reader> reader;  // Nothing: the attempt is over.
    Verdict best = Verdict::kSkip;
  };
  // What a Fail is told.
  struct Failure {
    PodKey key;
    PluginSet unschedulable;
    PluginSet pending;
  };
  class EndOfAttempt;
  bool TryFail(const Failure& failure, LogJudgement* judgement, Status* status);
  bool TryReturn(const Pinned& pinned, const PodFacts* attempt, const Failure& failure,
                 LogJudgement* judgement);
  bool BeginJudging(const Pinned& pinned, FlightPosition flight, LogJudgement* judgement);
  void CountFailure(QueueingFields* fields, PluginSet unschedulable, PluginSet pending,
                    Instant now) const;
  Verdict JudgeLogged(const PodFacts& facts, LogJudgement* judgement);
  void ReadLogAgain(PodId id, typename Log::Reader* reader);

  // Events and time (lockfree_events-inl.h).
  // Pods that are looked at together: while one is judged, the next ones' memory comes.
  struct Batch {
    // What it holds is written before it is read: to clear all of it would be felt where an event
    // concerns few pods.
    Batch(const Table& table, uint64_t epoch) : scan(table), epoch(epoch) {}

    Scan scan;
    const uint64_t epoch;  // From before the first of the pods was looked at.
    size_t size = 0;
    std::array<typename Scan::Glance, kBatch> glances;
    // First only who was seen and what is asked; what is judged then moves together.
    union {
      std::array<JudgedPod, kBatch> judged;
    };
    std::array<Verdict, kBatch> verdicts;
  };
  // An event as pods of the pool are judged for it.
  struct PoolEvent {
    const ClusterEvent& event;
    const ObjectChange& change;
    const PluginSet registered;  // Plugins that registered for it.
    const PreCheck& pre_check;
  };
  void CountEvent(PluginSet registered);
  void LogIfAnyInFlight(const ClusterEvent& event, const ObjectChange& change);
  bool IsCandidate(const Pinned& pinned, const PoolEvent& pool_event) const;
  // Of a pod of the pool.
  bool Concerns(const PoolEvent& pool_event, const Pinned& pinned) const;
  static bool IsInPool(const SlotWord& word) { return InPool(word.queued); }
  static bool IsForFew(const Narrowing& narrowing) {
    return narrowing.plugins_of_all.empty() && narrowing.pods.size() <= kFewPods;
  }
  JudgedPod ToJudge(const PodFacts& facts, RegistrationMask asked = kEveryRegistration) const;
  void JudgePool(const PoolEvent& pool_event, const Narrowing& narrowing);
  size_t CollectCandidates(const PoolEvent& pool_event, Batch* batch);
  void JudgeBatch(const PoolEvent& pool_event, Batch* batch);
  // Looks at one pod of the pool for an event, as often as others change the pod meanwhile.
  void React(PodId id, RegistrationMask asked, const PoolEvent& pool_event);
  void FlushWindows(Instant cutoff);
  void FlushRun(std::span<ActiveEntry> run, Instant cutoff, Scan* scan);
  bool TryFlush(uint64_t ticket, const typename Scan::Glance& glance, const Scan& scan);
  void FlushPod(PodId id, Place place, Instant cutoff);
  void FlushByTime(TimeQueue* queue, Place place, Instant cutoff);
  void FlushTicket(uint64_t ticket, Place place, Instant cutoff);
  bool IsDueForFlush(const QueueingFields& fields, Instant now) const;
  void Rescue(PodId id, Instant now);

  // Groups (lockfree_groups-inl.h).
  class GroupPorts;
  struct Groups;
  // Tickets of groups have numbers of groups, marked by this bit, which no pod's number has.
  static constexpr uint32_t kGroupBit = uint32_t{1} << 31;
  static bool IsOfGroup(uint64_t ticket) { return (IdIn(ticket) & kGroupBit) != 0; }
  static GroupId GroupIn(uint64_t ticket) { return IdIn(ticket) & ~kGroupBit; }
  bool IsMember(const Pod& pod) const { return groups_ != nullptr && !pod.group_name.empty(); }
  // The state that has this member; null: it is none.
  std::shared_ptr<const GroupState> StateWith(const PodKey& key) const;
  template <typename Operate>
  bool ChangeGroups(Operate operate);
  bool Publish(GroupChange* change);
  void Apply(const GroupEffects& effects) const;
  void FinishForOthers();
  bool FinishOwed();
  bool FinishOwed(const std::shared_ptr<const GroupState>& state, const GroupState::Owed& owed);
  bool IsGroupOvertaken(const RootState& root) const;
  Status AddMember(const PodRef& pod);
  void RemoveSingleNamedAs(PodId id);
  void RemoveMemberNamedAs(const Pod& pod);
  Status UpdateMember(const PodRef& before, const PodRef& after);
  Status FailMember(const PodKey& key, PluginSet unschedulable, PluginSet pending);
  [[gnu::cold]] void GiveBack(const PoppedGroup& group) noexcept;
  void ActivateMember(const PodKey& key, const PodRef& pod);
  bool IsGroupTicketStale(uint64_t ticket) const;
  void JudgeGroups(const PoolEvent& pool_event, const Narrowing& narrowing);
  void CollectMembers(const GroupState& state, const RootState& root, const AskedOfGroup& asked,
                      const PoolEvent& pool_event, std::vector<JudgedPod>* judged) const;
  void ReactGroup(const JudgedGroups::Group& judged, Verdict verdict, const PoolEvent& pool_event);
  std::vector<GroupId> GroupsDueForFlush(Instant now) const;
  bool WhereIsMember(PodId id, PodWhereabouts* where) const;
  void ListMembers(Place place, std::vector<PodRef>* pods) const;

  const QueueOptions options_;
  // From how many records on an Add counts the pods that there are.
  const uint64_t pods_max_ = std::min<uint64_t>(
      options_.pods_max == 0 ? Shape::kRecordsMax : options_.pods_max, Shape::kRecordsMax / 2);
  // Written when an operation is left by an exception, and by the one that finishes that.
  Atom<bool> has_left_{false};
  const bool is_observed_ = !options_.observers.empty();
  const PluginSet all_plugins_;
  QueueMetrics metrics_;
  PlaceCounts counts_;

  Table table_{Shape::kFirstPodsBits, Shape::kRecordsMax};
  RejectorIndex<Atom> rejectors_{Shape::kFirstMarksBits};
  ActiveQueue<Atom, typename Shape::Active> active_;
  BackoffWindows<Atom, typename Shape::Windows> windows_;  // Gate SchedulerPopFromBackoffQ on.
  TimeQueue backoff_by_time_;                              // The gate off.
  TimeQueue error_backoff_;
  Log log_{DropCounter{&metrics_}};
  // A look at a node's name, or at its pods, takes out what has ended.
  mutable NominationIndex<Atom> nominations_;
  Moves moves_;

  // On lines of their own: each is written by another kind of operation.
  // By pops that sleep, and by pushes that wake them.
  alignas(kCacheLineBytes) EventCount<Atom> poppable_;
  // By pushes. Entries that were pushed where a pop may find them. Added to after the push is
  // visible: a pop that read the same number before and after it looked at several queues saw all
  // of them at once.
  alignas(kCacheLineBytes) Atom<uint64_t> pushes_{0};
  StaleWatch<Atom, Shape> stale_watch_;
  // By pops.
  alignas(kCacheLineBytes) Atom<uint64_t> cycle_{0};
  // By events. Those that have begun to look at the pool. Added to before they look.
  alignas(kCacheLineBytes) Atom<uint64_t> event_epoch_{0};
  // For each plugin the last of them that it registered for.
  std::array<Atom<uint64_t>, kPluginCountMax> last_event_of_{};
  // Of an event that concerns few pods: a hundredth of the shortest that its histogram tells apart.
  SampledDuration<16> short_event_;
  // Once, by Close.
  alignas(kCacheLineBytes) Atom<bool> is_closed_{false};

  // Null: the gate GenericWorkload is off, and there are none.
  const std::unique_ptr<Groups> groups_;

  FlushTickers tickers_;
};

using LockfreeQueue = BasicLockfreeQueue<std::atomic>;

}  // namespace schedq
