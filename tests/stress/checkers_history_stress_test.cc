// Goal: histories of real threads can be recorded and judged.
// Method: small bursts of ticket taking on three threads, each history judged; and one history that
// was tampered with, which must be rejected.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/faulty_structures.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"

namespace schedq {
namespace {

constexpr uint32_t kThreads = 3;
constexpr int kTicketsEach = 6;

std::vector<Recorder<TicketSpec>::Entry> Burst() {
  Tickets<std::atomic, false> tickets;
  Recorder<TicketSpec> recorder(kThreads);
  std::atomic<uint32_t> arrived{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      arrived.fetch_add(1);
      while (arrived.load() < kThreads) std::this_thread::yield();
      for (int i = 0; i < kTicketsEach; ++i) {
        recorder.Record(thread, {}, [&] { return tickets.Next(); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return recorder.History();
}

TEST(HistoryTest, RealThreadsAreJudged) {
  for (int burst = 0; burst < 100; ++burst) {
    const auto history = Burst();
    ASSERT_EQ(history.size(), kThreads * kTicketsEach);
    const Linearizability verdict = CheckLinearizable<TicketSpec>(history);
    ASSERT_TRUE(verdict.holds) << verdict.explanation;
    ASSERT_GE(verdict.configurations, history.size());
  }
  auto tampered = Burst();
  tampered.front().result = *tampered.back().result;
  EXPECT_FALSE(CheckLinearizable<TicketSpec>(tampered).holds);
}

}  // namespace
}  // namespace schedq
