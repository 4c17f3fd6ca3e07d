// Goal: a table of announcements grows under threads that come to it first, and a thread that scans
// it sees each era that was announced before. Method: every schedule within bounds of two threads
// whose cells lie in segments of their own, and of one that scans.
#include <gtest/gtest.h>

#include <cstdint>

#include "engine/lockfree/memory/era_pool.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

TEST(EraTableModel, GrowsUnderThreadsThatComeFirst) {
  const auto body = [](model::Trial& trial) {
    EraTable<model::Atomic> eras(/*first_bits=*/0);
    trial.Thread([&] {
      eras.IsAny([](uint64_t era) {
        MODEL_CHECK(era == 5 || era == 6, "nobody announced this era");
        return false;
      });
    });
    trial.Thread([&] {
      eras.Announce(5);
      const bool is_seen = eras.IsAny([](uint64_t era) { return era == 5; });
      MODEL_CHECK(is_seen, "a thread sees what it has announced");
    });
    trial.Thread([&] { eras.Announce(6); });
    trial.Join();
    uint64_t seen = 0;
    eras.IsAny([&](uint64_t era) {
      seen += era;
      return false;
    });
    MODEL_CHECK(seen == 5 + 6, "a scan passes over no announcement");
  };
  model::ExpectExhausted(model::Exhaust(model::OptionsOfTest(), body), 100);
}

}  // namespace
}  // namespace schedq
