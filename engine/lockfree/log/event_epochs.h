// How many events have begun, and for each plugin the last of them that it registered for.
//
// Purpose: PreEnqueue is asked about a pod before the pool holds it. An event that begins between
// the question and the pod's entry may look at the pool too early. So the question takes the number
// of events before it, and compares it after the entry.
// Threads: all operations from any thread, lock-free; all are seq_cst.
// Invariant: an event is counted before it looks at the pool. So if a pod is in the pool and no
// event of its plugin has begun since the question, each later one finds the pod there.
#pragma once

#include <array>
#include <cstdint>

#include "engine/plugin.h"

namespace schedq {

template <template <typename> class Atom>
class EventEpochs {
 public:
  // Events that have begun.
  uint64_t Begun() const { return begun_.load(); }

  // An event begins for which these plugins registered. A retry means that a later event came
  // first, which will do.
  void Count(PluginSet registered) {
    const uint64_t number = begun_.fetch_add(1) + 1;
    registered.ForEach([&](PluginId plugin) {
      Atom<uint64_t>& last = last_of_[plugin];
      uint64_t seen = last.load();
      while (seen < number && !last.compare_exchange_weak(seen, number)) {
      }
    });
  }

  // The number of the last event for which the plugin registered.
  uint64_t LastOf(PluginId plugin) const { return last_of_[plugin].load(); }

 private:
  // Written by events.
  Atom<uint64_t> begun_{0};
  std::array<Atom<uint64_t>, kPluginCountMax> last_of_{};
};

}  // namespace schedq
