// Goal: options that cannot work are refused with one line that says which. Method: one wrong
// option at a time.
#include "schedq/assembly_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoSink final : public ApiSink {
 public:
  void Execute(const ApiCall&, std::function<void(const Status&)>) override {}
};

// Why a queue with these options cannot be; "" when it can.
std::string RefusalOf(const std::function<void(AssemblyOptions*)>& change) {
  AssemblyOptions options;
  change(&options);
  const Status checked = CheckOptions(options);
  const auto made = AssembledQueue::Create(std::move(options));
  EXPECT_TRUE(checked.ok() || !made.ok());
  return made ? "" : made.error().message();
}

std::string RefusalOfCalls(const std::function<void(AssemblyOptions*)>& change) {
  NoSink sink;
  return RefusalOf([&](AssemblyOptions* options) {
    options->api_calls.emplace().sink = &sink;
    change(options);
  });
}

TEST(AssemblyOptions, OfTheirOwnAreTaken) {
  EXPECT_EQ(RefusalOf([](AssemblyOptions*) {}), "");
  EXPECT_EQ(RefusalOfCalls([](AssemblyOptions*) {}), "");
}

TEST(AssemblyOptions, RefuseImpossibleTimes) {
  const std::string negative = "assembled queue: a backoff is negative, expected 0 or more";
  EXPECT_EQ(RefusalOf([](auto* options) { options->backoff.initial = Duration(-1); }), negative);
  EXPECT_EQ(RefusalOf([](auto* options) { options->backoff.maximum = Duration(-1); }), negative);
  EXPECT_EQ(RefusalOf([](auto* options) { options->max_in_unschedulable = Duration(-1); }),
            "assembled queue: max_in_unschedulable is negative, expected 0 or more");
}

TEST(AssemblyOptions, RefuseAnObserverThatIsNone) {
  EXPECT_EQ(RefusalOf([](auto* options) { options->observers = {nullptr}; }),
            "assembled queue: an observer is null");
}

TEST(AssemblyOptions, RefuseImpossibleCalls) {
  EXPECT_EQ(RefusalOfCalls([](auto* options) {
              GateRequest request;
              request.Set(Gate::kSchedulerAsyncAPICalls, false);
              options->gates = *Gates::Resolve(request);
            }),
            "assembled queue: api_calls needs the gate SchedulerAsyncAPICalls, which is off");
  EXPECT_EQ(RefusalOfCalls([](auto* options) { options->api_calls->sink = nullptr; }),
            "assembled queue: api_calls.sink is null, expected what executes calls");
  EXPECT_EQ(RefusalOfCalls([](auto* options) { options->api_calls->in_flight_max = 0; }),
            "assembled queue: api_calls.in_flight_max is 0, expected 1 or more");
  const std::string rate =
      "assembled queue: api_calls.calls_per_second is negative, expected 0 (no limit) or a rate";
  EXPECT_EQ(RefusalOfCalls([](auto* options) { options->api_calls->calls_per_second = -1; }), rate);
  EXPECT_EQ(RefusalOfCalls([](auto* options) {
              options->api_calls->calls_per_second = std::numeric_limits<double>::quiet_NaN();
            }),
            rate);
  EXPECT_EQ(RefusalOfCalls([](auto* options) { options->api_calls->burst = 0; }),
            "assembled queue: api_calls.burst is 0, expected 1 or more beside a rate");
  EXPECT_EQ(RefusalOfCalls([](auto* options) {
              options->api_calls->calls_per_second = 0;
              options->api_calls->burst = 0;
            }),
            "");
  EXPECT_EQ(RefusalOfCalls([](auto* options) { options->api_calls->driver = CallDriver::kClock; }),
            "assembled queue: clock is null, expected the one that drives api_calls");
}

TEST(AssemblyOptions, RefusePluginsThatCannotBe) {
  EXPECT_EQ(RefusalOf([](auto* options) {
              options->plugins = [](World*) -> Result<std::vector<Plugin>> {
                return Error("no plugins today");
              };
            }),
            "no plugins today");
  EXPECT_EQ(RefusalOf([](auto* options) {
              options->further_plugins.emplace_back(
                  [](World*) -> Result<std::vector<Plugin>> { return Error("nor tomorrow"); });
            }),
            "nor tomorrow");
  EXPECT_THAT(RefusalOf([](auto* options) {
                options->further_plugins.emplace_back([](World*) {
                  std::vector<Plugin> plugins(1);
                  plugins[0].name = "NodeAffinity";
                  return plugins;
                });
              }),
              HasSubstr("NodeAffinity"));
}

TEST(AssemblyOptions, PutFurtherPluginsBehindTheOthers) {
  const auto source_of = [](const std::string& name) {
    return [name](World*) {
      std::vector<Plugin> plugins(1);
      plugins[0].name = name;
      return plugins;
    };
  };
  AssemblyOptions options;
  options.plugins = source_of("First");
  options.further_plugins = {source_of("Second"), source_of("Third")};
  const auto made = AssembledQueue::Create(std::move(options));
  ASSERT_TRUE(made.ok());
  EXPECT_THAT((*made)->PluginNames(), ElementsAre("First", "Second", "Third"));
}

}  // namespace
}  // namespace schedq
