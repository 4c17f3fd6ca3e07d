// Goal: every engine does with pod groups what the real kube-scheduler queue was recorded doing.
// Method: as replay_conformance_test.cc, over the recordings of groups (SCHEDQ_GROUPS_DIR at run
// time). Canary: one altered answer of each kind that only these recordings have.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "schedq/engine_kind.h"
#include "tests/conformance/recordings.h"

namespace schedq {
namespace {

std::filesystem::path GroupsFolder() {
  const char* folder = std::getenv("SCHEDQ_GROUPS_DIR");
  return folder != nullptr && *folder != '\0' ? folder : SCHEDQ_GROUP_RECORDINGS;
}

class GroupsConformance : public testing::TestWithParam<EngineKind> {};
INSTANTIATE_TEST_SUITE_P(Engines, GroupsConformance, testing::ValuesIn(AllEngines()), EngineOfTest);

TEST_P(GroupsConformance, EveryRecordingReplaysWithoutMismatch) {
  ExpectReplays(GroupsFolder(), GetParam());
}

TEST_P(GroupsConformance, EachAlteredAnswerMismatches) {
  const AlteredTrace trace(GroupsFolder(), "rule-22-", GetParam());
  trace.ExpectMismatch("pop", "\"group\":\"g\"", "\"group\":\"h\"");
  trace.ExpectMismatch("pop", "\"member_attempts\":[1", "\"member_attempts\":[2");
  trace.ExpectMismatch("fail", ":\"pending\"", ":\"unschedulable\"");
  trace.ExpectMismatch("group_done", "\"want\":{\"changed\":{",
                       "\"want\":{\"changed\":{\"nobody\":\"active\",");
  trace.ExpectMismatch("end", "|podgroup\"", "|pod\"");
}

}  // namespace
}  // namespace schedq
