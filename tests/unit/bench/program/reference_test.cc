// Goal: `schedq run --reference DIR` compares each workload with the measured runs that are its
// own, says so in every form of output, and refuses folders that cannot be compared with.
// Method: runs the built program on a small workload beside made-up references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/document.h"
#include "perf/documents/reference_comparison.h"
#include "perf/documents/run_document.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"
#include "tests/support/upstream_file.h"

namespace schedq {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReferenceRunTest : public ProgramTest {
 protected:
  void SetUp() override {
    file_ = Write("w.yaml",
                  "- name: Case\n  workloadTemplate:\n  - {opcode: createNodes, count: 5}\n"
                  "  - {opcode: createPods, countParam: $pods, collectMetrics: true}\n"
                  "  workloads:\n  - {name: W, params: {pods: 100}}\n"
                  "  - {name: Other, params: {pods: 7}}\n");
  }

  // What a run of 100 pods counts.
  static json Equal() {
    json file = UpstreamFileJson("Case", "W");
    json& run = file["runs"][0];
    run["attempts"] = {{"scheduled", 100}};
    run["incoming_pods"] = {{"active|UnscheduledPodAdd", 100}};
    run["hints"] = json::object();
    return file;
  }
  void Put(const std::string& name, const json& file) const { Write("ref/" + name, file.dump()); }
  ChildProcess::Ended Run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", file_, "--reference", Path("ref")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Schedq(arguments);
  }
  static RunDocument Parsed(const std::string& text) {
    Result<RunDocument> document = ParseDocument<RunDocument>(text, "stdout");
    EXPECT_TRUE(document.ok()) << document.error().message();
    return *document;
  }

  std::string file_;
};

TEST_F(ReferenceRunTest, ATableSaysHowNearEachWorkloadIs) {
  json far = Equal();
  far["runs"][0]["attempts"]["unschedulable"] = 12;
  Put("w.json", far);
  const ChildProcess::Ended ended = Run();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("against upstream"));
  EXPECT_THAT(ended.out, HasSubstr("attempts unschedulable"));
  EXPECT_THAT(ended.out, HasSubstr("all: 3 counters, 67 % equal, 67 % within 1 %"));
  EXPECT_THAT(ended.out, HasSubstr("1 workloads compared: attempts equal in 0"));
  EXPECT_THAT(ended.out, HasSubstr("throughput: 1 workloads with times"));
  EXPECT_THAT(ended.out, HasSubstr("without a reference: 1 workloads"));
}

TEST_F(ReferenceRunTest, TheDocumentsSayItToo) {
  Put("w.json", Equal());
  const ChildProcess::Ended ended = Run({"--format", "json", "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const Result<RunDocument> written = ReadDocument<RunDocument>(Path("out/results.json"));
  ASSERT_TRUE(written.ok()) << written.error().message();
  for (const RunDocument& document : {Parsed(ended.out), *written}) {
    ASSERT_TRUE(document.workloads[0].reference.has_value());
    const ReferenceComparison& one = *document.workloads[0].reference;
    EXPECT_EQ(one.file, "w.json");
    EXPECT_THAT(one.misses, IsEmpty());
    EXPECT_EQ(SumOf(one.closeness).of(Closeness::kEqual), 2u);
    ASSERT_TRUE(one.throughput.has_value());
    EXPECT_GT(one.throughput->pods_per_second, 100);
    EXPECT_FALSE(document.workloads[1].reference.has_value());
    ASSERT_TRUE(document.reference.has_value());
    EXPECT_EQ(document.reference->attempts_equal, 1u);
  }
  EXPECT_FALSE(Parsed(Schedq({"run", file_, "--format", "json"}).out).reference.has_value());
}

TEST_F(ReferenceRunTest, GatesThatNothingSetsAreUpstreams) {
  Put("w.json", Equal());
  const auto gates = [](const ChildProcess::Ended& ended) {
    return Parsed(ended.out).workloads[0].gates;
  };
  const std::vector<std::string> as_json = {"--format", "json"};
  EXPECT_FALSE(gates(Run(as_json)).at("SchedulerPreQueueingHints"));
  EXPECT_FALSE(gates(Run(as_json)).at("SchedulerAsyncAPICalls"));
  EXPECT_TRUE(gates(Run(as_json)).at("SchedulerPopFromBackoffQ"));
  EXPECT_TRUE(gates(Schedq({"run", file_, "--format", "json"})).at("SchedulerAsyncAPICalls"));
}

TEST_F(ReferenceRunTest, AForcedGateBelongsToARunWithThatGate) {
  Put("w.json", Equal());
  json forced = Equal();
  forced["gates_forced"] = "SchedulerPopFromBackoffQ=false";
  Put("w+SchedulerPopFromBackoffQ=false.json", forced);
  json unmodelled = Equal();
  unmodelled["gates_forced"] = "SchedulerQueueingHints=false";
  Put("w+SchedulerQueueingHints=false.json", unmodelled);
  const auto chosen = [this](const std::vector<std::string>& gates) {
    std::vector<std::string> arguments = {"--format", "json"};
    for (const std::string& gate : gates) arguments.insert(arguments.end(), {"--gate", gate});
    return Parsed(Run(arguments).out).workloads[0].reference->file;
  };
  EXPECT_EQ(chosen({}), "w.json");
  EXPECT_EQ(chosen({"SchedulerPopFromBackoffQ=true"}), "w.json") << "as it is anyway";
  EXPECT_EQ(chosen({"SchedulerPopFromBackoffQ=false"}), "w+SchedulerPopFromBackoffQ=false.json");
  EXPECT_EQ(chosen({"SchedulerQueueingHints=false"}), "w+SchedulerQueueingHints=false.json");
}

TEST_F(ReferenceRunTest, AWorkloadWithOtherGatesIsNamedAndNotCompared) {
  Put("other.json", UpstreamFileJson("Case", "Other"));
  json forced = Equal();
  forced["gates_forced"] = "SchedulerPreQueueingHints=true";
  Put("w.json", forced);
  const ChildProcess::Ended ended = Run();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("not compared: Case/W: measured with SchedulerPreQueueingHints=true"));
  EXPECT_THAT(ended.out, HasSubstr("1 workloads compared"));
}

TEST_F(ReferenceRunTest, AFolderInWhichNothingMatchesIsRefusedBeforeTheRun) {
  const auto refused = [this](const std::vector<std::string>& more, const std::string& expected) {
    std::vector<std::string> arguments = {"run", file_, "--reference", Path("ref")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ExpectRefused(arguments, expected);
  };
  refused({}, "cannot be read");
  Put("w.json", UpstreamFileJson("Case", "Unheard"));
  refused({}, "none of its 1 references is of a workload of this run");
  json forced = Equal();
  forced["gates_forced"] = "SchedulerPopFromBackoffQ=false";
  Put("w.json", forced);
  refused({}, "that of Case/W was measured with SchedulerPopFromBackoffQ=false");
  Put("w.json", Equal());
  refused({"--gate", "SchedulerQueueingHints=true"}, "SchedulerQueueingHints left at its def");
  refused({"--clock", "real"}, "--reference: expected --clock virtual");
  Put("bad.json", json::object());
  refused({}, "bad.json: the document: expected the key \"schedq_upstream\", which is");
  ExpectRefused({"run", "--reference", ""}, "--reference: the name is empty");
}

TEST_F(ReferenceRunTest, AWorkloadThatIsNotMeasuredIsNotCompared) {
  const std::string skipped = Write(
      "s.yaml",
      "- name: Case\n  workloadTemplate:\n"
      "  - {opcode: createAny, namespace: a, templatePath: gadget.yaml}\n"
      "  - {opcode: createPods, count: 1, collectMetrics: true}\n  workloads:\n  - name: W\n");
  Write("gadget.yaml", "apiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: g}\n");
  Put("w.json", Equal());
  const ChildProcess::Ended ended = Schedq({"run", skipped, "--reference", Path("ref")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("nothing was compared: no workload that has a reference was"));
  EXPECT_THAT(ended.out, HasSubstr("not compared: Case/W: was not measured here"));
  EXPECT_THAT(ended.out, Not(HasSubstr("against upstream")));
}

}  // namespace
}  // namespace schedq
