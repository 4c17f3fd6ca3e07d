// The structures that all operations of the lock-free queue share.
//
// Each structure keeps its own promises (its header says which). What they promise together is made
// by the classes of moves/ and operations/, which take this aggregate as their parameter `Parts`.
// Threads: as each structure says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/metrics/sampled_duration.h"
#include "engine/base/zeroed_memory.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/active/stale_watch.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "engine/lockfree/event_count.h"
#include "engine/lockfree/groups/group_store.h"
#include "engine/lockfree/log/event_epochs.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/nomination_index.h"
#include "engine/lockfree/pods/place_counts.h"
#include "engine/lockfree/pods/pod_change.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/pods/rejector_index.h"
#include "engine/lockfree/pods/unfinished_moves.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"

namespace schedq {

template <template <typename> class Atom, typename QueueShape>
struct QueueParts {
  using Shape = QueueShape;
  using Table = PodTable<Atom>;
  using Pinned = typename Table::Pinned;
  using Scan = typename Table::Scan;
  using Records = PodRecordPool<Atom>;
  using Change = PodChange<Atom>;
  using Nominations = NominationIndex<Atom>;
  using CarriedNomination = schedq::CarriedNomination<Atom, Change>;
  // Counts an event that the log lets go.
  struct DropCounter {
    const QueueMetrics* metrics;
    void operator()(EventLabel label) const { metrics->AddInFlight(label, -1); }
  };
  using Log = EventLog<Atom, DropCounter, Shape>;
  using Epochs = EventEpochs<Atom>;
  static constexpr size_t kRunEntriesMax = Shape::Windows::kRunEntriesMax;
  using Moves = UnfinishedMoves<Atom, kRunEntriesMax>;
  using TimeQueue =
      ActiveQueue<Atom, typename Shape::Windows::Window>;  // By exact expiration; one priority.
  using Groups = GroupStore<Atom, Table, Log, Nominations, Epochs>;

  QueueParts(QueueOptions queue_options, const std::function<QueueCounts()>& count)
      : options(std::move(queue_options)),
        all_plugins(options.plugin_names.size() >= kPluginCountMax
                        ? ~uint64_t{0}
                        : (uint64_t{1} << options.plugin_names.size()) - 1),
        metrics(options.metrics, options.plugin_names, options.gates.GenericWorkload(), count),
        groups(options.gates.GenericWorkload()
                   ? std::make_unique<Groups>(table, &log, &nominations, epochs)
                   : nullptr) {}
  QueueParts(const QueueParts&) = delete;
  QueueParts& operator=(const QueueParts&) = delete;
  ~QueueParts() {
    for (PodId id = 0; id < table.limit(); ++id) {
      if (table.Peek(id).record != kNoRecord) options.pod_names->Release(id);
    }
  }

  // The number means something only while a caller holds the name; every use checks the uid, too.
  PodKey FindKey(const Pod& pod) const {
    const std::optional<PodId> id = options.pod_names->Find(pod.namespace_name, pod.name);
    if (!id) return {};
    return {*id, UidFingerprint(pod.uid)};
  }

  // Whether the pod, or the pod of this attempt, is a member of a group (groups/).
  bool IsMember(const Pod& pod) const { return groups != nullptr && !pod.group_name.empty(); }
  bool HasMember(const PodKey& key) const {
    return groups != nullptr && groups->StateWith(key) != nullptr;
  }

  const QueueOptions options;
  // From how many records on an Add counts the pods that there are.
  const uint64_t pods_max = std::min<uint64_t>(
      options.pods_max == 0 ? Shape::kRecordsMax : options.pods_max, Shape::kRecordsMax / 2);
  const bool is_observed = !options.observers.empty();
  const PluginSet all_plugins;
  QueueMetrics metrics;
  PlaceCounts counts;

  Table table{Shape::kFirstPodsBits, Shape::kRecordsMax};
  RejectorIndex<Atom> rejectors{Shape::kFirstMarksBits};
  ActiveQueue<Atom, typename Shape::Active> active;
  BackoffWindows<Atom, typename Shape::Windows> windows;  // Gate SchedulerPopFromBackoffQ on.
  TimeQueue backoff_by_time;                              // The gate off.
  TimeQueue error_backoff;
  Log log{DropCounter{&metrics}};
  Nominations nominations{Shape::kFirstNominationsBits};
  Moves moves;

  // On lines of their own: each is written by another kind of operation.
  // By pops that sleep, and by pushes that wake them.
  alignas(kCacheLineBytes) EventCount<Atom> poppable;
  // By pushes: tickets that were pushed where a pop may find them (ticket_publisher.h).
  alignas(kCacheLineBytes) Atom<uint64_t> pushes{0};
  StaleWatch<Atom, Shape> stale_watch;
  // By pops.
  alignas(kCacheLineBytes) Atom<uint64_t> cycle{0};
  // By events.
  alignas(kCacheLineBytes) Epochs epochs;
  // Of an event that concerns few pods: a hundredth of the shortest that its histogram tells apart.
  SampledDuration<16> short_event;
  // Once, by Close.
  alignas(kCacheLineBytes) Atom<bool> is_closed{false};

  // Null: the gate GenericWorkload is off, and there are none.
  const std::unique_ptr<Groups> groups;
};

}  // namespace schedq
