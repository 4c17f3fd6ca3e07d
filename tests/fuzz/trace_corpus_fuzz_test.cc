// Goal: no bytes crash or hang the reader of traces or the engines that replay them.
// Method: the function that libFuzzer drives gets a small trace of every operation. The trace is
// cut at every length, has single bytes changed, and has its lines in another order (seeded, so the
// same in every run).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/trace_fuzz.h"
#include "tests/fuzz/trace_line_fuzz.h"

namespace schedq {
namespace {

constexpr std::string_view kMarks = "{}[]\",:-.0123456789eaz/\\\n \x80";
constexpr std::string_view kHeader =
    R"({"schedq_trace":1,"start":"2026-01-01T00:00:00.3Z",)"
    R"("gates":{"SchedulerPopFromBackoffQ":true},)"
    R"("pod_initial_backoff_ms":1000,"pod_max_backoff_ms":10000,"pod_max_in_unschedulable_ms":9,)"
    R"("plugins":[{"name":"A","pre_enqueue":"no-gates","events":[{"on":"TargetPod","actions":)"
    R"(["UpdatePodSchedulingGatesEliminated","Update"],"hint":"queue"}]},{"name":"B",)"
    R"("pre_enqueue":"claims-known","events":[{"on":"ResourceClaim","actions":["Add","Update",)"
    R"("Delete"],"hint":"references-object","pre_hint":"referencing-pods"},{"on":"*","actions":)"
    R"(["All"],"hint":"error"}]},{"name":"C","pre_enqueue":"recorded","events":[{"on":"Node",)"
    R"("actions":["Add","UpdateNodeLabel"],"hint":"recorded","pre_hint":"recorded"}]}]})";

const std::vector<std::string>& Operations() {
  static const std::vector<std::string> kAll = {
      R"({"op":"add","t":0,"pod":{"name":"a","namespace":"n","uid":"1","priority":-5,"labels":)"
      R"({"zone":"z"},"claims":["c"],"tolerations":2,"generated_claims":1,"nominated_node":"x"}})",
      R"({"op":"add","t":1,"pod":{"name":"b","uid":"2","gates":["g"]},"rejected":{"b":"C"}})",
      R"({"op":"event","t":2,"on":"ResourceClaim","action":"Add","object":{"namespace":"n",)"
      R"("name":"c","labels":{"zone":"z"},"was_allocated":true,"is_allocated":false}})",
      R"({"op":"pop","t":2,"want":{"changed":{"a":"in-flight"},"pod":"a","attempts":1,"cycle":1}})",
      R"({"op":"event","t":3,"on":"Node","action":"Add","object":{},"verdicts":{"C":["a","b"]}})",
      R"({"op":"fail","t":4,"pod":"a","unschedulable":["A"],"pending":["C"]})",
      R"({"op":"update","t":5,"pod":{"name":"b","uid":"2","priority":9}})",
      R"({"op":"activate","t":6,"pods":["a","b"]})",
      R"({"op":"nominate","t":7,"pod":"a","node":"y"})",
      R"({"op":"nominated","t":7,"node":"y","want":{"changed":{},"pods":["a"]}})",
      R"({"op":"pop","t":1008})",
      R"({"op":"bind","t":1009,"pod":"a"})",
      R"({"op":"flush_backoff","t":2700})",
      R"({"op":"flush_unschedulable","t":300500})",
      R"({"op":"delete","t":300501,"pod":"b"})",
      R"({"op":"end","t":300501,"want":{"changed":{},"scheduling_cycle":1,)"
      R"("queue_incoming_pods_total":{"active|UnscheduledPodAdd":1},"in_flight_events":0}})",
  };
  return kAll;
}

std::string Trace(const std::vector<std::string>& operations) {
  std::string text(kHeader);
  for (const std::string& operation : operations) text += "\n" + operation;
  return text;
}

size_t FuzzText(const std::string& text) {
  return FuzzTrace(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

bool FuzzLine(const std::string& text) {
  return FuzzTraceLine(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

TEST(TraceCorpus, IsAcceptedWhole) {
  EXPECT_EQ(FuzzText(Trace(Operations())), Operations().size());
}

TEST(TraceCorpus, OfFilesReturns) {
  for (const CorpusFile& file : ReadCorpus("trace")) {
    SCOPED_TRACE(file.name);
    FuzzText(file.text);
    FeedChanges(file.text, kMarks, 29, 100, 20251120,
                [](const std::string& text) { FuzzText(text); });
  }
}

// A corpus of which few lines are accepted would reach little of the reader.
TEST(TraceCorpus, OfSingleLinesReturns) {
  size_t accepted = 0;
  for (const CorpusFile& file : ReadCorpus("trace")) {
    SCOPED_TRACE(file.name);
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) {
      accepted += FuzzLine(line);
      FeedChanges(line, kMarks, 7, 100, 20251121, [](const std::string& text) { FuzzLine(text); });
    }
  }
  EXPECT_GT(accepted, 40u);
}

TEST(TraceCorpus, ReturnsWhenCutShort) {
  const std::string text = Trace(Operations());
  for (size_t size = 0; size <= text.size(); size += size < kHeader.size() ? 1 : 3) {
    FuzzText(text.substr(0, size));
  }
}

TEST(TraceCorpus, ReturnsWhenChanged) {
  Random random(20251118);
  constexpr int kChanges = 2000;
  const std::string text = Trace(Operations());
  for (int i = 0; i < kChanges; ++i) {
    std::string changed = text;
    for (uint64_t j = random.Below(3); j < 3; ++j) {
      // Half of the changes are behind the header, so that the replayer reaches them.
      const size_t from = random.Chance(0.5) ? kHeader.size() : 0;
      changed[from + random.Below(changed.size() - from)] = kMarks[random.Below(kMarks.size())];
    }
    FuzzText(changed);
  }
}

// All lines have the same time, so that more orders are valid.
TEST(TraceCorpus, ReturnsWhenShuffled) {
  Random random(20251119);
  std::vector<std::string> operations = Operations();
  for (std::string& operation : operations) {
    const size_t from = operation.find("\"t\":") + 4;
    operation.replace(from, operation.find_first_of(",}", from) - from, "300");
  }
  size_t accepted = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<std::string> shuffled = operations;
    shuffled.insert(shuffled.end(), operations.begin() + 2, operations.end());
    random.Shuffle(shuffled);
    shuffled.insert(shuffled.begin(), operations.begin(), operations.begin() + 2);
    accepted += FuzzText(Trace(shuffled));
  }
  EXPECT_GT(accepted, 500u * 5) << "the lines behind the first refused one are not reached";
}

}  // namespace
}  // namespace schedq
