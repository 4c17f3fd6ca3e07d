// Goal: each member of a gang that waits shows why, "3 of 8 members", and is patched once for each
// change of the reason, not once for each question. Method: a gang of eight with the dispatcher
// attached, the embedded API server as its sink, whose patches come back as updates, and the
// virtual clock, on which what waits is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/report/status_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/result.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "schedq/api_calls.h"  // IWYU pragma: keep
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"
#include "tests/unit/schedq/group_fixture.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GroupStatusTest : public GroupFixture {
 protected:
  void SetUp() override {
    AssemblyOptions options = OptionsOfGroups();
    ApiCallOptions& calls = options.api_calls.emplace();
    calls.sink = &server_;
    calls.driver = CallDriver::kClock;
    Make(std::move(options));
    server_.Watch([this](const PodRef& before, const PodRef& after) {
      if (after != nullptr) latest_[after->name] = after;
      if (before != nullptr) MustSucceed(queue_->PodChanged(before, after));
    });
    queue_->GroupChanged(nullptr, NewGroup(8));
  }

  void Add(const std::string& name) {
    MustSucceed(queue_->PodChanged(nullptr, server_.Create(*NewMember(name))));
  }
  // More than the delay of patches, and than each takes.
  void SendAll() { clock_.AdvanceBy(std::chrono::seconds(10)); }
  // What the server's pods show, member by member.
  std::vector<std::string> Shown(const std::vector<std::string>& names) {
    std::vector<std::string> shown;
    for (const std::string& name : names) {
      const PodRef pod = server_.Find("ns/" + name);
      shown.push_back(pod->conditions.empty() ? "-" : pod->conditions.front().message);
    }
    return shown;
  }
  uint64_t TakePatches() {
    const uint64_t patches = server_.counts().patches;
    return patches - std::exchange(patches_before_, patches);
  }
  StatusCounts Counts() { return queue_->api_calls()->statuses()->counts(); }

  EmbeddedApiServer server_{ServerOptions{.clock = &clock_}};
  std::map<std::string, PodRef> latest_;  // That the watcher was told of.
  uint64_t patches_before_ = 0;
};

TEST_P(GroupStatusTest, EachMemberIsPatchedOnceForEachChange) {
  Add("a");
  SendAll();
  EXPECT_THAT(Shown({"a"}), ElementsAre("1 of 8 members"));
  EXPECT_EQ(TakePatches(), 1u);
  Add("b");
  SendAll();
  EXPECT_THAT(Shown({"a", "b"}), ElementsAre("2 of 8 members", "2 of 8 members"));
  EXPECT_EQ(TakePatches(), 2u);
  Add("c");
  SendAll();
  EXPECT_THAT(Shown({"a", "b", "c"}),
              ElementsAre("3 of 8 members", "3 of 8 members", "3 of 8 members"));
  EXPECT_EQ(TakePatches(), 3u);
}

// What asks the members again for another reason is answered with the same words.
TEST_P(GroupStatusTest, AQuestionThatChangesNothingIsNoPatch) {
  Add("a");
  Add("b");
  SendAll();
  EXPECT_EQ(TakePatches(), 2u);
  const StatusCounts before = Counts();
  for (int i = 0; i < 3; ++i) queue_->Activate(std::array{latest_["a"]});
  SendAll();
  const StatusCounts after = Counts();
  EXPECT_EQ(after.rejections - before.rejections, 6u) << "each member was asked each time";
  EXPECT_EQ(after.repeated - before.repeated, 6u);
  EXPECT_EQ(TakePatches(), 0u);
}

TEST_P(GroupStatusTest, ChangesWithinTheDelayAreOnePatchWithTheLast) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Add(name);
  EXPECT_EQ(TakePatches(), 0u) << "the delay is not over";
  SendAll();
  EXPECT_THAT(Shown({"a", "b", "c", "d", "e"}), testing::Each("5 of 8 members"));
  EXPECT_EQ(TakePatches(), 5u);
}

TEST_P(GroupStatusTest, FewerThatAreNeededAreAnotherReason) {
  Add("a");
  Add("b");
  SendAll();
  TakePatches();
  queue_->GroupChanged(NewGroup(8), NewGroup(6));
  SendAll();
  EXPECT_THAT(Shown({"a", "b"}), ElementsAre("2 of 6 members", "2 of 6 members"));
  EXPECT_EQ(TakePatches(), 2u);
}

// A gang that opens within the delay shows nothing; later its members' reasons are taken back.
TEST_P(GroupStatusTest, AGangThatOpensTakesItsReasonsBack) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g"};
  for (const std::string& name : names) Add(name);
  SendAll();
  EXPECT_EQ(TakePatches(), 7u);
  Add("h");
  ASSERT_EQ(PlaceOf("a"), Place::kActive);
  SendAll();
  EXPECT_THAT(Shown(names), testing::Each("-"));
  EXPECT_EQ(TakePatches(), 7u) << "the last showed none";
  EXPECT_EQ(queue_->TryPop()->TakeMembers().size(), 8u);
}

TEST_P(GroupStatusTest, AGangThatOpensWithinTheDelayShowsNothing) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) Add(name);
  SendAll();
  EXPECT_EQ(TakePatches(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, GroupStatusTest, testing::ValuesIn(AllEngines()), EngineOf);

}  // namespace
}  // namespace schedq
