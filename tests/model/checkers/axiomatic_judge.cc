#include "tests/model/checkers/axiomatic_judge.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace schedq {
namespace {

constexpr size_t kEventsMax = 24;

// A relation between events: row a has a bit for each b behind a.
class Relation {
 public:
  void Add(size_t a, size_t b) { rows_[a] |= uint32_t{1} << b; }
  bool Has(size_t a, size_t b) const { return (rows_[a] >> b & 1) != 0; }

  Relation operator|(const Relation& other) const {
    Relation both = *this;
    for (size_t a = 0; a < kEventsMax; ++a) both.rows_[a] |= other.rows_[a];
    return both;
  }
  // First this and then the other.
  Relation operator*(const Relation& other) const {
    Relation chain;
    for (size_t a = 0; a < kEventsMax; ++a) {
      for (uint32_t rest = rows_[a]; rest != 0; rest &= rest - 1) {
        chain.rows_[a] |= other.rows_[static_cast<size_t>(__builtin_ctz(rest))];
      }
    }
    return chain;
  }
  Relation Closed() const {
    Relation closed = *this;
    for (size_t via = 0; via < kEventsMax; ++via) {
      for (size_t a = 0; a < kEventsMax; ++a) {
        if (closed.Has(a, via)) closed.rows_[a] |= closed.rows_[via];
      }
    }
    return closed;
  }
  bool IsIrreflexive() const {
    for (size_t a = 0; a < kEventsMax; ++a) {
      if (Has(a, a)) return false;
    }
    return true;
  }

 private:
  std::array<uint32_t, kEventsMax> rows_{};
};

bool IsAcquire(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool IsRelease(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

// One program's candidate executions. Event i below the number of locations is the first store to
// location i.
class Judge {
 public:
  Judge(const LitmusProgram& program, bool load_buffering)
      : locations_(program.locations), load_buffering_(load_buffering) {
    for (uint32_t i = 0; i < locations_; ++i) {
      events_.push_back({Access::Kind::kStore, i, 0, std::memory_order_relaxed});
    }
    for (const auto& thread : program.threads) {
      const size_t first = events_.size();
      for (const Access& access : thread) {
        for (size_t earlier = 0; earlier < locations_; ++earlier) before_.Add(earlier, Next());
        for (size_t earlier = first; earlier < Next(); ++earlier) before_.Add(earlier, Next());
        events_.push_back(access);
      }
    }
    source_.assign(events_.size(), 0);
    modification_.resize(locations_);
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].Writes()) modification_[events_[i].location].push_back(i);
      if (events_[i].Reads()) reads_.push_back(i);
    }
  }

  LitmusOutcomes Enumerate() {
    OrderLocation(0);
    return outcomes_;
  }

 private:
  size_t Next() const { return events_.size(); }

  void OrderLocation(uint32_t location) {
    if (location == locations_) return ChooseSource(0);
    std::vector<size_t>& order = modification_[location];
    std::sort(order.begin(), order.end());
    do {
      OrderLocation(location + 1);
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }

  void ChooseSource(size_t read) {
    if (read == reads_.size()) return Consider();
    const Access& access = events_[reads_[read]];
    const std::vector<size_t>& order = modification_[access.location];
    for (size_t i = 0; i < order.size(); ++i) {
      // A read-modify-write reads the store directly before it.
      if (access.Writes() && (i + 1 == order.size() || order[i + 1] != reads_[read])) continue;
      if (order[i] == reads_[read]) continue;
      source_[reads_[read]] = order[i];
      ChooseSource(read + 1);
    }
  }

  // Whether the read-modify-writes between it and the store continue a release sequence of the
  // store up to what the event has read.
  bool ReadsSequenceOf(size_t store, size_t read) const {
    size_t at = source_[read];
    for (size_t steps = 0; steps < events_.size(); ++steps) {
      if (at == store) return true;
      if (!events_[at].Reads()) return false;
      at = source_[at];
    }
    return false;
  }

  // From a release operation or a fence with a later store, to an acquire operation or a fence with
  // an earlier load.
  Relation Synchronizes() const {
    Relation synchronizes;
    for (size_t store = locations_; store < events_.size(); ++store) {
      if (!events_[store].Writes()) continue;
      for (size_t read : reads_) {
        if (!ReadsSequenceOf(store, read)) continue;
        for (size_t from : Ends(store, true)) {
          for (size_t to : Ends(read, false)) synchronizes.Add(from, to);
        }
      }
    }
    return synchronizes;
  }
  std::vector<size_t> Ends(size_t access, bool releases) const {
    std::vector<size_t> ends;
    for (size_t i = locations_; i < events_.size(); ++i) {
      const std::memory_order order = events_[i].order;
      if (releases ? !IsRelease(order) : !IsAcquire(order)) continue;
      const bool is_fence = events_[i].kind == Access::Kind::kFence &&
                            (releases ? before_.Has(i, access) : before_.Has(access, i));
      if (i == access || is_fence) ends.push_back(i);
    }
    return ends;
  }

  void Consider() {
    Relation reads_from, coherent;
    for (size_t read : reads_) reads_from.Add(source_[read], read);
    for (const auto& order : modification_) {
      for (size_t i = 0; i < order.size(); ++i) {
        for (size_t later = i + 1; later < order.size(); ++later) {
          coherent.Add(order[i], order[later]);
          for (size_t read : reads_) {
            if (source_[read] == order[i] && read != order[later]) coherent.Add(read, order[later]);
          }
        }
      }
    }
    coherent = (coherent | reads_from).Closed();
    if (!load_buffering_ && !(before_ | reads_from).Closed().IsIrreflexive()) return;
    const Relation synchronizes = Synchronizes();
    const Relation happens = (before_ | synchronizes).Closed();
    if (!happens.IsIrreflexive() || !coherent.IsIrreflexive()) return;
    if (!(happens * coherent).IsIrreflexive()) return;
    if (!HasSeqCstOrder(synchronizes, happens, coherent)) return;
    Observe();
  }

  bool IsSeqCst(size_t event) const { return events_[event].order == std::memory_order_seq_cst; }
  bool IsFence(size_t event) const { return events_[event].kind == Access::Kind::kFence; }

  bool HasSeqCstOrder(const Relation& synchronizes, const Relation& happens,
                      const Relation& coherent) const {
    Relation strongly = before_ | before_ * happens * before_;
    for (size_t a = 0; a < events_.size(); ++a) {
      for (size_t b = 0; b < events_.size(); ++b) {
        if (synchronizes.Has(a, b) && IsSeqCst(a) && IsSeqCst(b)) strongly.Add(a, b);
      }
    }
    strongly = strongly.Closed();
    Relation total;
    for (size_t a = 0; a < events_.size(); ++a) {
      for (size_t b = 0; b < events_.size(); ++b) {
        if (IsSeqCst(a) && IsSeqCst(b) && strongly.Has(a, b)) total.Add(a, b);
        if (!coherent.Has(a, b)) continue;
        // An access is ordered itself, or by a fence before the first and behind the second one.
        for (size_t from = 0; from < events_.size(); ++from) {
          if (!IsSeqCst(from) || !(from == a || (IsFence(from) && happens.Has(from, a)))) continue;
          for (size_t to = 0; to < events_.size(); ++to) {
            if (!IsSeqCst(to) || !(to == b || (IsFence(to) && happens.Has(b, to)))) continue;
            total.Add(from, to);
          }
        }
      }
    }
    return total.Closed().IsIrreflexive();
  }

  int64_t ValueOf(size_t store) const {
    // Without a cycle of program order and reads-from this ends at a store that has a value.
    for (size_t steps = 0; steps < events_.size() && events_[store].kind == Access::Kind::kTouch;
         ++steps) {
      store = source_[store];
    }
    return events_[store].value;
  }

  void Observe() {
    LitmusOutcome outcome;
    for (size_t read : reads_) outcome.push_back(ValueOf(source_[read]));
    for (const auto& order : modification_) outcome.push_back(ValueOf(order.back()));
    outcomes_.insert(outcome);
  }

  const uint32_t locations_;
  const bool load_buffering_;
  std::vector<Access> events_;
  Relation before_;  // Sequenced before; the first stores before all.
  std::vector<size_t> reads_;
  // Of a candidate: what each reading event reads, and each location's stores in their order.
  std::vector<size_t> source_;
  std::vector<std::vector<size_t>> modification_;
  LitmusOutcomes outcomes_;
};

}  // namespace

LitmusOutcomes AllowedOutcomes(const LitmusProgram& program, bool load_buffering) {
  return Judge(program, load_buffering).Enumerate();
}

}  // namespace schedq
