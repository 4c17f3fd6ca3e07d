// Goal: every engine does what the real kube-scheduler queue was recorded doing.
// Method: replays every trace of the folder that configuring chose (or SCHEDQ_CONFORMANCE_DIR at
// run time) on every engine and wants no mismatch. No traces is a failure. Canary: a trace with
// one altered `want` must mismatch at that line, once for each kind of answer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "schedq/engine_kind.h"
#include "tests/conformance/recordings.h"

namespace schedq {
namespace {

std::filesystem::path RecordingsFolder() {
  const char* folder = std::getenv("SCHEDQ_CONFORMANCE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : SCHEDQ_RECORDINGS;
}

class Conformance : public testing::TestWithParam<EngineKind> {};
INSTANTIATE_TEST_SUITE_P(Engines, Conformance, testing::ValuesIn(AllEngines()), EngineOfTest);

TEST_P(Conformance, EveryRecordingReplaysWithoutMismatch) {
  [[maybe_unused]] const double seconds = ExpectReplays(RecordingsFolder(), GetParam());
#ifdef NDEBUG
  EXPECT_LT(seconds, 3.0) << "for the set of 84 traces in a release build";
#endif
}

TEST_P(Conformance, EachAlteredAnswerMismatches) {
  // A small one: it has every kind of operation.
  const AlteredTrace trace(RecordingsFolder(), "small-", GetParam());
  trace.ExpectMismatch("add", ":\"active\"", ":\"unschedulable\"");
  trace.ExpectMismatch("pop", "\"attempts\":1", "\"attempts\":2");
  trace.ExpectMismatch("pop", "\"cycle\":1", "\"cycle\":1000");
  trace.ExpectMismatch("fail", "\"want\":{\"changed\":{",
                       "\"want\":{\"changed\":{\"nobody\":\"active\",");
  trace.ExpectMismatch("end", "\"active|", "\"active|x");
}

}  // namespace
}  // namespace schedq
