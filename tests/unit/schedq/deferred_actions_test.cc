// Goal: deferred actions run on the clock's thread, and once Stop has returned none runs.
// Method: actions that wait for the test, on a real clock; Stop on a thread of its own.
#include "schedq/deferred_actions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "engine/base/time/real_clock.h"

namespace schedq {
namespace {

TEST(DeferredActions, StopWaitsForTheActionThatRunsAndDropsTheOthers) {
  RealClock clock;
  DeferredActions actions(&clock);
  std::promise<void> begun;
  std::promise<void> may_end;
  std::atomic<bool> has_ended{false};
  std::atomic<int> others{0};
  std::thread::id ran_on;
  actions.Run([&] {
    ran_on = std::this_thread::get_id();
    begun.set_value();
    may_end.get_future().wait();
    has_ended.store(true);
  });
  begun.get_future().wait();
  actions.Run([&] { others.fetch_add(1); });
  std::future<bool> stopped = std::async(std::launch::async, [&] {
    actions.Stop();
    return has_ended.load();
  });
  // A Stop that waits for nothing has ended by then.
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  may_end.set_value();
  EXPECT_TRUE(stopped.get()) << "Stop returned while the action ran";
  EXPECT_NE(ran_on, std::this_thread::get_id());
  actions.Run([&] { others.fetch_add(1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(others.load(), 0) << "what waited is dropped, and so is what comes after Stop";
}

TEST(DeferredActions, AnActionMayAskForAnother) {
  RealClock clock;
  DeferredActions actions(&clock);
  std::promise<void> second;
  actions.Run([&] { actions.Run([&] { second.set_value(); }); });
  EXPECT_EQ(second.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

}  // namespace
}  // namespace schedq
