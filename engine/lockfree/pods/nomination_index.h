// Which pods are nominated to a node.
//
// Purpose: a pod's record names its nomination, an entry of this index; the index finds the entries
// of a node. An entry counts only while the pod's record names it: it is added before the record is
// published and ended after another one took its place.
// When not to use it: as a record of which pod is nominated where; that is the pod's record.
// Threads: all operations from any thread, lock-free: a retry means that another thread's step
// succeeded. To add an entry is a push; to end one is a mark, and after as many ends as there are
// entries one walk over the node's list, which takes out what is marked: O(1) an operation, summed.
//
// Invariants:
//  1. An entry's state is (generation, references). One reference is the nomination's, others are
//     of threads that read the node's name. The last one to go marks the entry's link.
//  2. A marked entry is taken out of its list by the exchange of the link before it, and freed by
//     the thread that did that.
//  3. The tag of a link grows with each change for the life of the memory. So a thread that reads
//     an entry and then finds the link before it unchanged has read an entry of this list, which
//     was not used for another nomination meanwhile.
//  4. An entry without a mark holds a reference to its node's name. So lists of unknown and deleted
//     nodes hold nothing but marked entries, and the next node of that number takes them out.
// Memory: 32 bytes an entry, for twice as many as ever were at one time, and 16 bytes for each node
// that had entries at one time. It is used again.
// Source: M. Michael, High Performance Dynamic Lock-Free Hash Tables and List-Based Sets, 2002 (the
// variant with tags).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/names/interner-inl.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/pod_key.h"

namespace schedq {

template <template <typename> class Atom>
class NominationIndex {
 public:
  struct Entry {
    PodId pod = kNoPod;
    Nomination nomination;
    bool operator==(const Entry&) const = default;
  };

  explicit NominationIndex(uint32_t first_bits) : entries_(first_bits), lists_(first_bits) {
    // Number 0 means no entry.
    SCHEDQ_CHECK(entries_.Allocate() == kNone, "a fresh pool begins with number 0");
  }
  NominationIndex(const NominationIndex&) = delete;
  NominationIndex& operator=(const NominationIndex&) = delete;

  // A nomination for a record that is about to be published; its entry counts from then on. An
  // empty node is none. Nothing: there is no room for the node's name.
  std::optional<Nomination> Begin(PodId pod, std::string_view node) {
    if (node.empty()) return Nomination();
    const uint32_t id = nodes_.Acquire(node);
    if (id == kNoName) [[unlikely]]
      return std::nullopt;
    lists_.ReserveThrough(id);
    RaiseLimit(id + 1);
    const uint32_t number = entries_.Allocate();
    Cell& entry = entries_[number];
    const uint32_t generation = entry.Begin(pod, id);
    List& list = lists_[id];
    uint64_t head = list.head.load();
    do {
      entry.SetNext(Link::From(head).entry);
    } while (!list.head.compare_exchange_weak(head, Link::From(head).To(number).Bits()));
    list.linked.fetch_add(1, std::memory_order_relaxed);
    return Nomination{number, generation};
  }

  // The record that carried it was replaced by one that does not, or was not published at all.
  void End(PodId pod, const Nomination& nomination) {
    if (nomination.entry == kNone) return;
    SCHEDQ_CHECK(entries_[nomination.entry].pod() == pod, "a nomination ends with its pod");
    Drop(nomination.entry);
  }

  // Those that were there throughout, and maybe others.
  std::vector<Entry> On(std::string_view node) const {
    std::vector<Entry> found;
    // The node's number belongs to its name until what was read is complete.
    const bool is_known = nodes_.ReadKnown(node, [&](uint32_t id) {
      found.clear();
      if (id < limit_.load()) Collect(id, &found);
    });
    if (!is_known) found.clear();
    return found;
  }

  // Nothing: the nomination has ended, so the record that carried it is not the pod's any more.
  std::optional<std::string> NodeName(PodId, const Nomination& nomination) {
    if (nomination.entry == kNone) return std::string();
    Cell& entry = entries_[nomination.entry];
    if (!entry.TryRetain(nomination.generation)) return std::nullopt;
    std::string name(nodes_.Text(entry.node()));
    Drop(nomination.entry);
    return name;
  }

  // Entries that were ever in use at one time, and are used again.
  uint64_t entries() const { return entries_.Used() - 1; }

 private:
  static constexpr uint32_t kNone = 0;

  // An entry's number with a tag, and whether the entry that has this link is taken out.
  struct Link {
    static constexpr uint64_t kMark = uint64_t{1} << 32;
    static constexpr uint64_t kOneTag = uint64_t{2} << 32;

    uint32_t entry = kNone;
    uint64_t upper = 0;  // Tag and mark, in place.

    static Link From(uint64_t bits) { return {static_cast<uint32_t>(bits), bits >> 32 << 32}; }
    uint64_t Bits() const { return upper | entry; }
    bool IsMarked() const { return (upper & kMark) != 0; }
    Link To(uint32_t next) const { return {next, (upper & ~kMark) + kOneTag}; }
  };

  class Cell {
   public:
    Atom<uint64_t>& FreeLink() { return free_link_; }

    // Of a free entry. Release, here and in SetNext, pairs with the acquire of a late reader, which
    // has come by an older link: without it the reader could see what is written now, and yet find
    // that link unchanged.
    uint32_t Begin(PodId pod, uint32_t node) {
      StoreRelease(pod_, pod);
      StoreRelease(node_, node);
      const uint64_t generation = (LoadRelaxed(state_) >> 32) + 1;
      // Release pairs with the acquire in TryRetain: a holder of this generation reads its node.
      StoreRelease(state_, generation << 32 | 1);
      return static_cast<uint32_t>(generation);
    }
    // Before the entry is linked.
    void SetNext(uint32_t next) {
      StoreRelease(next_, Link::From(LoadRelaxed(next_)).To(next).Bits());
    }

    // Acquire: see Begin.
    PodId pod() const { return LoadAcquire(pod_); }
    uint32_t node() const { return LoadAcquire(node_); }
    uint32_t generation() const { return static_cast<uint32_t>(LoadAcquire(state_) >> 32); }

    // False: the generation is over.
    bool TryRetain(uint32_t generation) {
      uint64_t state = LoadRelaxed(state_);
      do {
        if (state >> 32 != generation || static_cast<uint32_t>(state) == 0) return false;
      } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                             std::memory_order_relaxed));
      return true;
    }
    // True: that was the last one. Acquire-release: what follows comes after every use.
    bool Drop() {
      const uint64_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
      SCHEDQ_CHECK(static_cast<uint32_t>(before) != 0, "a nomination ends once");
      return static_cast<uint32_t>(before) == 1;
    }
    void Mark() { next_.fetch_or(Link::kMark); }

    Atom<uint64_t>& next() { return next_; }

   private:
    Atom<uint64_t> free_link_{0};
    // (generation, references). Written by its maker and by holders.
    Atom<uint64_t> state_{0};
    // Written by threads that link it, mark it, and take out its successor.
    Atom<uint64_t> next_{0};
    // Written by its maker. A late reader may see another's.
    Atom<uint32_t> pod_{0};
    Atom<uint32_t> node_{0};
  };

  // By a node's number. Counts are hints of when a walk is worth it: relaxed, and a moment late.
  struct List {
    Atom<uint64_t> head{0};
    Atom<int32_t> linked{0};
    Atom<int32_t> marked{0};
  };

  // Walks over the list, takes out what is marked, and calls `visit(number, entry)` for the others.
  // False: another thread changed the list under the walk.
  template <typename Visit>
  bool Walk(List* list, Visit visit) const {
    Atom<uint64_t>* before = &list->head;
    Link link = Link::From(before->load());
    while (link.entry != kNone) {
      const uint32_t number = link.entry;
      Cell& entry = entries_[number];
      const Link next = Link::From(entry.next().load());
      const Entry seen{entry.pod(), {number, entry.generation()}};
      // What was read is of an entry that is linked here.
      if (before->load() != link.Bits()) return false;
      if (!next.IsMarked()) {
        visit(seen);
        before = &entry.next();
        link = next;
        continue;
      }
      const Link beyond = link.To(next.entry);
      uint64_t expected = link.Bits();
      if (!before->compare_exchange_strong(expected, beyond.Bits())) return false;
      list->linked.fetch_sub(1, std::memory_order_relaxed);
      list->marked.fetch_sub(1, std::memory_order_relaxed);
      entries_.Free(number);
      link = beyond;
    }
    return true;
  }

  void Collect(uint32_t id, std::vector<Entry>* found) const {
    while (!Walk(&lists_[id], [&](const Entry& entry) { found->push_back(entry); })) {
      found->clear();
    }
  }

  // Gives up a reference to an entry.
  void Drop(uint32_t number) {
    Cell& entry = entries_[number];
    const uint32_t id = entry.node();
    if (!entry.Drop()) return;
    entry.Mark();
    // From here on others may take the entry out.
    List& list = lists_[id];
    const int32_t marked = list.marked.fetch_add(1, std::memory_order_relaxed) + 1;
    if (2 * marked >= LoadRelaxed(list.linked)) {
      // Once: where another thread changes the list, it or a later end takes out what is left.
      static_cast<void>(Walk(&list, [](const Entry&) {}));
    }
    nodes_.Release(id);
  }

  // Lists below it may be read. Each failed exchange means that another thread raised it.
  void RaiseLimit(uint32_t limit) {
    uint32_t seen = limit_.load();
    while (seen < limit && !limit_.compare_exchange_weak(seen, limit)) {
    }
  }

  Interner nodes_;
  // Mutable: a read takes marked entries out, too.
  mutable IndexPool<Cell, Atom> entries_;
  SegmentedArray<List, Atom> lists_;
  Atom<uint32_t> limit_{0};
};

// The nomination of a change: it ends with its scope, unless the change was published.
template <template <typename> class Atom, typename Change>
class CarriedNomination {
 public:
  // `change` has a record of its own until it is published.
  CarriedNomination(NominationIndex<Atom>* index, Change* change, PodId pod, std::string_view node)
      : index_(index), change_(change), pod_(pod), nomination_(index->Begin(pod, node)) {
    if (nomination_) change->Edit().nomination = *nomination_;
  }
  CarriedNomination(const CarriedNomination&) = delete;
  CarriedNomination& operator=(const CarriedNomination&) = delete;
  ~CarriedNomination() {
    if (change_->own_record() != kNoRecord && nomination_) index_->End(pod_, *nomination_);
  }

  // There is no room for the node's name: the change is to be given up.
  bool is_refused() const { return !nomination_; }

 private:
  NominationIndex<Atom>* const index_;
  const Change* const change_;
  const PodId pod_;
  const std::optional<Nomination> nomination_;
};

}  // namespace schedq
