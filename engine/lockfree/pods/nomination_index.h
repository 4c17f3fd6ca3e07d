// Which pods are nominated to a node.
//
// Purpose: a pod's record says to which node it is nominated; this index finds the pods of a node.
// An entry counts only while the pod's record carries its sequence number: it is added before the
// record is published and removed after another one took its place.
// Threads: all operations from any thread, lock-free: a retry means that another thread changed the
// same node's list. An operation copies the node's list; lists are short.
// Invariants:
//  1. A list says whose it is, and a reader believes the list: by the time it reads, the number
//     that it looked up may stand for another node.
//  2. A node with entries holds a reference to its name for each of them; a node without entries
//     has no list and no name, so unknown and deleted nodes leak nothing.
// Memory: 8 bytes an entry, and a list with the node's name for each node that has entries.
#pragma once

#include <folly/synchronization/Hazptr.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/segmented_array.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/pod_key.h"

namespace schedq {

template <template <typename> class Atom>
class NominationIndex {
 public:
  struct Entry {
    PodId pod = kNoPod;
    uint32_t sequence = 0;
    bool operator==(const Entry&) const = default;
  };

  NominationIndex() : lists_(kFirstBits) {}
  NominationIndex(const NominationIndex&) = delete;
  NominationIndex& operator=(const NominationIndex&) = delete;
  ~NominationIndex() {
    for (uint32_t node = 0; node < limit_.load(); ++node) delete lists_[node].load();
  }

  // A nomination for a record that is about to be published; its entry counts from then on. An
  // empty node is none.
  Nomination Begin(PodId pod, std::string_view node) {
    if (node.empty()) return {};
    const uint32_t id = nodes_.Acquire(node);
    Ensure(id);
    const uint32_t sequence = sequences_.fetch_add(1, std::memory_order_relaxed) + 1;
    Change(id, node, [&](Entries* entries) { entries->push_back({pod, sequence}); });
    return {id + 1, sequence};
  }

  // The record that carried it was replaced by one that does not, or was not published at all.
  void End(PodId pod, const Nomination& nomination) {
    if (nomination.node == 0) return;
    // The entry that goes keeps the name alive until the change is done.
    const uint32_t id = nomination.node - 1;
    Change(id, nodes_.Text(id), [&](Entries* entries) {
      std::erase(*entries, Entry{pod, nomination.sequence});
    });
    nodes_.Release(id);
  }

  std::vector<Entry> On(std::string_view node) const {
    const std::optional<uint32_t> id = nodes_.Find(node);
    if (!id || *id >= limit_.load()) return {};
    folly::hazptr_holder<Atom> hazard = folly::make_hazard_pointer<Atom>();
    const List* list = hazard.protect(lists_[*id]);
    return list == nullptr || list->node != node ? std::vector<Entry>() : list->entries;
  }

  // Nothing: the nomination has ended, so the record that carried it is not the pod's any more.
  std::optional<std::string> NodeName(PodId pod, const Nomination& nomination) const {
    if (nomination.node == 0) return std::string();
    folly::hazptr_holder<Atom> hazard = folly::make_hazard_pointer<Atom>();
    const List* list = hazard.protect(lists_[nomination.node - 1]);
    if (list == nullptr) return std::nullopt;
    const Entry entry{pod, nomination.sequence};
    const bool is_there = std::count(list->entries.begin(), list->entries.end(), entry) != 0;
    return is_there ? std::optional(list->node) : std::nullopt;
  }

 private:
  static constexpr uint32_t kFirstBits = 8;
  using Entries = std::vector<Entry>;
  struct List : folly::hazptr_obj_base<List, Atom> {
    std::string node;
    Entries entries;
  };

  template <typename Edit>
  void Change(uint32_t node, std::string_view name, Edit edit) {
    for (;;) {
      folly::hazptr_holder<Atom> hazard = folly::make_hazard_pointer<Atom>();
      List* before = hazard.protect(lists_[node]);
      auto* after = new List;
      after->node = name;
      if (before != nullptr) after->entries = before->entries;
      edit(&after->entries);
      if (after->entries.empty()) delete std::exchange(after, nullptr);
      if (lists_[node].compare_exchange_strong(before, after)) {
        if (before != nullptr) before->retire();
        return;
      }
      delete after;
    }
  }

  void Ensure(uint32_t id) {
    lists_.ReserveThrough(id);
    uint32_t seen = limit_.load();
    while (seen <= id && !limit_.compare_exchange_weak(seen, id + 1)) {
    }
  }

  Interner nodes_;
  // Each list is replaced by who changes it; null without entries.
  SegmentedArray<Atom<List*>, Atom> lists_;
  Atom<uint32_t> limit_{0};
  // Wraps: two entries of one pod on one node are never 2^32 nominations apart.
  Atom<uint32_t> sequences_{0};
};

}  // namespace schedq
