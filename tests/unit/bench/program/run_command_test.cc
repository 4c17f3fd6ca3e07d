// Goal: `schedq run` keeps the promises of the command line: what it prints and writes, exit codes,
// one line for bad files and flags, the same bytes for the same seed.
// Method: runs the built program as a user would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  containers: [{name: c, image: i}]\n";

std::string Workload(const std::string& ops, const std::string& more = "",
                     const std::string& head = "") {
  return "- name: Case\n" + head + "  workloadTemplate:\n" + ops + "  workloads:\n  - name: W\n" +
         more;
}
const std::string kOps =
    "  - {opcode: createNodes, count: 3}\n"
    "  - {opcode: createPods, count: 30, collectMetrics: true}\n";

class RunCommandTest : public ProgramTest {
 protected:
  void SetUp() override { Write("pod.yaml", kPod); }

  static ChildProcess::Ended Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {SCHEDQ_PROGRAM, "run"});
    return RunProgram(arguments);
  }
  void ExpectBad(const std::vector<std::string>& arguments, const std::string& expected) const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const ChildProcess::Ended ended = Run(arguments);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, StartsWith("schedq run: "));
    EXPECT_THAT(ended.err, HasSubstr(expected));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
  // A workload file with these operations.
  void ExpectBadFile(const std::string& ops, const std::string& expected,
                     const std::string& more = "") const {
    const std::string file = Write("bad.yaml", Workload(ops, more));
    ExpectBad({file, "--out", Path("out")}, expected);
    EXPECT_FALSE(std::filesystem::exists(Path("out"))) << "nothing is written on bad input";
  }
  static Result<RunDocument> Read(const std::string& folder) {
    return ReadDocument<RunDocument>(folder + "/results.json");
  }
};

TEST_F(RunCommandTest, PrintsATableAndWritesEveryFile) {
  const std::string out = Path("out");
  const ChildProcess::Ended ended = Run({"--name", "Basic/10", "--out", out});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Basic/10Nodes_50Pods"));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ended.err, IsEmpty());

  const Result<RunDocument> document = Read(out);
  ASSERT_TRUE(document.ok()) << document.error().message();
  ASSERT_EQ(document->workloads.size(), 1u);
  EXPECT_EQ(document->workloads[0].outcome, WorkloadOutcome::kMeasured);
  EXPECT_EQ(document->cost_model, "upstream");
  const Result<std::string> benchstat = ReadWholeFile(out + "/results.benchstat");
  EXPECT_THAT(*benchstat, HasSubstr("\nBenchmarkPerfScheduling/Basic/10Nodes_50Pods 1 "));
  EXPECT_THAT(*ReadWholeFile(out + "/metrics/Basic_10Nodes_50Pods.prom"),
              HasSubstr("scheduler_schedule_attempts_total{"));
  EXPECT_THAT(*ReadWholeFile(out + "/metrics/Basic_10Nodes_50Pods.prom"),
              HasSubstr("kubernetes_feature_enabled{name=\"SchedulerPreEnqueuePodStatus\","
                        "stage=\"BETA\"} 1"));
  EXPECT_EQ(document->engine, "lockfree");
  size_t data_items = 0;
  for (const auto& file : std::filesystem::directory_iterator(out)) {
    const std::string name = file.path().filename().string();
    if (name.rfind("BenchmarkPerfScheduling_benchmark_builtin_2026-01-01T", 0) == 0) ++data_items;
  }
  EXPECT_EQ(data_items, 1u);
}

TEST_F(RunCommandTest, OneSeedGivesTheSameBytesOutsideTheEnvironment) {
  std::vector<std::string> texts;
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(Run({"--labels", "short", "--seed", "7", "--out", Path(name)}).exit_code, 0);
    Result<RunDocument> document = Read(Path(name));
    ASSERT_TRUE(document.ok()) << document.error().message();
    document->environment = RunEnvironment();
    texts.push_back(*DocumentText(*document));
  }
  EXPECT_EQ(texts[0], texts[1]);
  for (const auto& file : std::filesystem::recursive_directory_iterator(Path("a"))) {
    if (!file.is_regular_file() || file.path().filename() == "results.json") continue;
    const std::string relative = std::filesystem::relative(file.path(), Path("a")).string();
    EXPECT_EQ(*ReadWholeFile(file.path().string()), *ReadWholeFile(Path("b/" + relative)))
        << relative;
  }
}

TEST_F(RunCommandTest, FormatsAndRepetitions) {
  const std::string file = Write("w.yaml", Workload(kOps));
  const ChildProcess::Ended json = Run({file, "--format", "json", "--repeat", "3"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  const Result<RunDocument> document = ParseDocument<RunDocument>(json.out, "stdout");
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->workloads[0].repetitions.size(), 3u);
  EXPECT_EQ(document->workloads[0].repetitions[2].seed, 3u);
  const ChildProcess::Ended lines = Run({file, "--format", "benchstat", "--repeat", "2"});
  EXPECT_THAT(lines.out, HasSubstr("goos: linux"));
  EXPECT_THAT(lines.out, HasSubstr("SchedulingThroughput/Average"));
}

TEST_F(RunCommandTest, ThresholdsDecideWhenAsked) {
  const std::string file = Write("w.yaml", Workload(kOps, "    threshold: 1000000\n"));
  const ChildProcess::Ended shown = Run({file});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, HasSubstr("(not comparable)"));
  const ChildProcess::Ended judged = Run({file, "--check-thresholds"});
  EXPECT_EQ(judged.exit_code, 1);
  EXPECT_THAT(judged.out, HasSubstr("0 of 1 thresholds met"));
  EXPECT_THAT(judged.out, HasSubstr("> 1,000,000 missed"));
  EXPECT_THAT(judged.err, HasSubstr("schedq run: threshold missed: Case/W: SchedulingThroughput"));
  const std::string easy = Write("easy.yaml", Workload(kOps, "    threshold: 1\n"));
  EXPECT_EQ(Run({easy, "--check-thresholds"}).exit_code, 0);
}

TEST_F(RunCommandTest, ASelectorThatFindsNothingIsAnErrorAfterTheResults) {
  const std::string file =
      Write("w.yaml", Workload(kOps,
                               "    threshold: 1\n    thresholdMetricSelector: {name: "
                               "scheduler_goroutines, dataBucket: Average}\n",
                               "  metricsCollectorConfig: {metrics: {scheduler_goroutines: }}\n"));
  const ChildProcess::Ended ended = Run({file, "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("w.yaml:"));
  EXPECT_THAT(ended.err, HasSubstr("was not measured"));
  EXPECT_TRUE(Read(Path("out")).ok());
}

TEST_F(RunCommandTest, WhatIsNotModelledIsNamedAndSkipped) {
  const std::string gadgets = "  - {opcode: createAny, namespace: a, templatePath: gadget.yaml}\n";
  const std::string file = Write("w.yaml", Workload(gadgets + kOps));
  Write("gadget.yaml", "apiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: g}\n");
  const ChildProcess::Ended ended = Run({file});
  EXPECT_EQ(ended.exit_code, 1) << "a run in which nothing was measured is no success";
  EXPECT_EQ(ended.err, "schedq run: nothing was measured: 1 skipped, 0 failed\n");
  EXPECT_THAT(ended.out, HasSubstr("skipped: 1 workloads: needs objects of kind Gadget"));
  ExpectBad({file, "--require-all"}, "--require-all: Case/W needs objects of kind Gadget");
}

TEST_F(RunCommandTest, AWorkloadThatNobodyCanRunIsAnErrorAfterTheOthersResults) {
  const std::string file =
      Write("w.yaml",
            "- name: Case\n  workloadTemplate:\n  - {opcode: createNodes, count: 2}\n"
            "  - {opcode: createPods, countParam: $pods, collectMetrics: true}\n"
            "  workloads:\n  - {name: Good, params: {pods: 3}}\n  - name: Bad\n");
  const ChildProcess::Ended both = Run({file, "--out", Path("both")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("w.yaml:4"));
  EXPECT_THAT(both.err, HasSubstr("parameter pods is not defined"));
  EXPECT_EQ(Read(Path("both"))->workloads[0].outcome, WorkloadOutcome::kMeasured);
  ExpectBad({file, "--name", "Bad", "--out", Path("bad")}, "parameter pods is not defined");
  EXPECT_FALSE(std::filesystem::exists(Path("bad")));
  EXPECT_EQ(Run({file, "--name", "Good"}).exit_code, 0);
}

TEST_F(RunCommandTest, ExperimentsRunEveryWayAndEndInVerdicts) {
  const ChildProcess::Ended ended =
      Run({"--suite", "kep", "--labels", "short", "--out", Path("kep")});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  for (const char* row : {"ClaimsWithSharers/5Nodes_40Pods/owner-reference",
                          "RoomInSteps/80Pods/flush-when-empty", "RoomInSteps/80Pods/gate-off"}) {
    EXPECT_THAT(ended.out, HasSubstr(row));
  }
  EXPECT_THAT(ended.out, HasSubstr("\nKEP-6132 holds: "));
  EXPECT_THAT(ended.out, HasSubstr("\nKEP-5142 holds: "));
  EXPECT_THAT(ended.out, HasSubstr("\nstarved bindings holds: "));
  EXPECT_THAT(ended.out, HasSubstr("StarvedBindings/200Waiting/reentry-gate"));
  EXPECT_THAT(ended.out, HasSubstr("\nKEP-5501 holds: "));
  EXPECT_THAT(ended.out, HasSubstr("\nKEP-5278 holds: "));
  EXPECT_THAT(ended.out, Not(HasSubstr("does not hold")));
  const Result<RunDocument> document = Read(Path("kep"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_GT(document->scenarios.size(), 10u);
  EXPECT_GT(document->verdicts.size(), 15u);
  ExpectBad({"--suite", "kep", "--gate", "SchedulerPopFromBackoffQ=true"}, "decide on it");
  ExpectBad({"--suite", "kep", Write("w.yaml", Workload(kOps))}, "either a suite or files");
  ExpectBad({"--suite", "kep", "--gate", "SchedulerAsyncAPICalls=false"}, "decide on it");
  ExpectBad({"--suite", "kep", "--name", "nothing-of-that"}, "no workload and no scenario");
  ExpectBad({"--suite", "none"}, "--suite");
}

TEST_F(RunCommandTest, ScenariosAreChosenAsWorkloadsAre) {
  const ChildProcess::Ended ended = Run({"--suite", "kep", "--name", "KEP-5278/restart"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("KEP-5278/restart"));
  EXPECT_THAT(ended.out, Not(HasSubstr("KEP-5501")));
  EXPECT_THAT(ended.out, Not(HasSubstr("RoomInSteps")));
}

TEST_F(RunCommandTest, GatesAreJudged) {
  ExpectBad({"--gate", "SchedulerPopFromBackoffQ"}, "expected NAME=true or NAME=false");
  ExpectBad(
      {"--gate", "SchedulerPreEnqueuePodStatus=true", "--gate", "SchedulerAsyncAPICalls=false"},
      "needs SchedulerAsyncAPICalls=true");
  ExpectBad({"--gate", "Unheard=true"}, "unknown feature gate 'Unheard'");
  ExpectBad({"--gate", "SchedulerPopFromBackofQ=true"}, "did you mean 'SchedulerPopFromBackoffQ'?");
  const std::string file =
      Write("w.yaml", Workload(kOps, "    featureGates: {SchedulerPopFromBackofQ: true}\n"));
  ExpectBad({file}, "w.yaml:7:20: featureGates: unknown feature gate");
  ExpectBad({file}, "did you mean 'SchedulerPopFromBackoffQ'?");
  const ChildProcess::Ended ended =
      Run({"--name", "Basic/10", "--gate", "SchedulerQueueingHints=true", "--gate",
           "SchedulerAsyncAPICalls=false"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("feature gate SchedulerQueueingHints=true"));
  EXPECT_THAT(ended.out, Not(HasSubstr("SchedulerAsyncAPICalls")));
}

// Gated pods that the server marked, pods whose claims come late, and plain bindings.
TEST_F(RunCommandTest, CallsGoTheWayThatTheGatesSay) {
  const std::string patches =
      "scheduler_async_api_call_execution_total{call_type=\"pod_status_patch\",result=\"success\"}";
  const std::string bindings =
      "scheduler_async_api_call_execution_total{call_type=\"pod_binding\",result=\"success\"}";
  const auto count = [&](const std::vector<std::string>& flags, const std::string& workload,
                         const std::string& name) {
    std::vector<std::string> arguments = {"--name", workload, "--out", Path("calls")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Run(arguments).exit_code, 0);
    const Result<RunDocument> document = Read(Path("calls"));
    EXPECT_TRUE(document.ok());
    const auto& counters = document->workloads.at(0).repetitions.at(0).counters;
    const auto found = counters.find(name);
    return found == counters.end() ? uint64_t{0} : found->second;
  };
  const std::vector<std::string> direct = {"--gate", "SchedulerAsyncAPICalls=false"};
  const std::vector<std::string> silent = {"--gate", "NominatedNodeNameForExpectation=false"};
  EXPECT_EQ(count({}, "^Basic/10", bindings), 50u);
  EXPECT_EQ(count({}, "^Basic/10", patches), 0u) << "nothing to say of pods that are bound at once";
  EXPECT_EQ(count(direct, "^Basic/10", bindings), 0u);
  EXPECT_EQ(count({}, "^Gated/20", patches), 0u) << "the server says it already";
  EXPECT_EQ(count({}, "^ClaimTemplates/5Nodes_20", patches), 20u)
      << "a nomination each; claims have calls of their own";
  EXPECT_EQ(count(silent, "^ClaimTemplates/5Nodes_20", patches), 0u);
}

// Claims that come from templates pass by themselves, so only the implicit model tells of them.
TEST_F(RunCommandTest, RejectionsAreReportedAsTheStatusModelSays) {
  const std::string events = "schedq_pod_events_total{reason=\"NotReadyForScheduling\"}";
  const auto events_with = [&](const std::string& model) {
    EXPECT_EQ(
        Run({"--name", "^ClaimTemplates/5Nodes_20", "--gate", "SchedulerPreEnqueuePodStatus=true",
             "--status-model", model, "--out", Path("model")})
            .exit_code,
        0);
    const Result<RunDocument> document = Read(Path("model"));
    EXPECT_TRUE(document.ok());
    EXPECT_EQ(document->status_model, model);
    const auto& counters = document->workloads.at(0).repetitions.at(0).counters;
    const auto found = counters.find(events);
    return found == counters.end() ? uint64_t{0} : found->second;
  };
  EXPECT_EQ(events_with("implicit-immediate"), 20u) << "one a pod";
  for (const char* quiet :
       {"implicit-delayed", "implicit-delayed-optout", "explicit-delayed", "explicit-immediate"}) {
    EXPECT_EQ(events_with(quiet), 0u) << quiet;
  }
  ExpectBad({"--status-model", "implicit-delay"}, "did you mean 'implicit-delayed'?");
  ExpectBad({"--status-model", "x"}, "expected one of: explicit-immediate, explicit-delayed");
  ExpectBad({"--suite", "kep", "--status-model", "implicit-delayed"}, "play all models");
}

TEST_F(RunCommandTest, BothEnginesMakeTheSameCalls) {
  std::vector<std::string> texts;
  for (const char* engine : {"classic", "lockfree"}) {
    const std::string out = Path(engine);
    ASSERT_EQ(Run({"--labels", "short", "--engine", engine, "--out", out}).exit_code, 0);
    Result<RunDocument> document = Read(out);
    ASSERT_TRUE(document.ok()) << document.error().message();
    document->environment = RunEnvironment();
    document->engine.clear();
    texts.push_back(*DocumentText(*document));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(RunCommandTest, BothEnginesInOneRun) {
  const ChildProcess::Ended ended =
      Run({"--name", "Basic/10", "--engine", "both", "--out", Path("both")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("engine lockfree and classic"));
  EXPECT_THAT(ended.out, HasSubstr("the engines agree"));
  EXPECT_EQ(Read(Path("both/lockfree"))->engine, "lockfree");
  EXPECT_EQ(Read(Path("both/classic"))->engine, "classic");
  ExpectBad({"--engine", "both", "--format", "json"}, "--format json: expected one engine");
  ExpectBad({"--engine", "both", "--name", "Basic/10", "--record", Path("t")},
            "--record: expected one engine");
}

TEST_F(RunCommandTest, OnTheRealClockTheEnginesTakeTurns) {
  const std::string file = Write("good.yaml", Workload(kOps));
  const ChildProcess::Ended ended =
      Run({file, "--clock", "real", "--repeat", "2", "--schedulers", "2", "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("engine lockfree and classic, real clock"));
  EXPECT_THAT(ended.out, HasSubstr("Processor time a pod"));
  for (const char* engine : {"lockfree", "classic"}) {
    const Result<RunDocument> document = Read(Path("out") + "/" + engine);
    ASSERT_TRUE(document.ok()) << document.error().message();
    EXPECT_EQ(document->clock, ClockKind::kReal);
    EXPECT_EQ(document->cost_model, "none");
    ASSERT_EQ(document->workloads.size(), 1u);
    ASSERT_EQ(document->workloads[0].repetitions.size(), 2u);
    for (const Repetition& repetition : document->workloads[0].repetitions) {
      EXPECT_EQ(repetition.latencies.at("pod_scheduled").count, 30u);
      ASSERT_TRUE(repetition.real.has_value());
      EXPECT_EQ(repetition.real->cpu_by_thread.count("scheduler 2"), 1u);
    }
  }
}

// What the built-in suite and its kind of files expect is of a model or of a cluster.
TEST_F(RunCommandTest, OnTheRealClockThresholdsAreShownUnlessTheyAreAskedFor) {
  const std::string file = Write("good.yaml", Workload(kOps, "    threshold: 1000000000\n"));
  const std::vector<std::string> real = {file, "--clock", "real", "--repeat", "1"};
  const ChildProcess::Ended shown = Run(real);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("1 thresholds of real clusters, not judged"));
  EXPECT_THAT(shown.out, Not(HasSubstr("predicted")));
  std::vector<std::string> judged = real;
  judged.emplace_back("--check-thresholds");
  EXPECT_EQ(Run(judged).exit_code, 1);
}

TEST_F(RunCommandTest, StormsLeaveNothingBehindOnEitherClock) {
  const ChildProcess::Ended on_virtual = Run({"--suite", "storms", "--labels", "short"});
  EXPECT_EQ(on_virtual.exit_code, 0) << on_virtual.err;
  const ChildProcess::Ended ended =
      Run({"--suite", "storms", "--labels", "short", "--clock", "real", "--repeat", "1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("9 measured, 0 skipped"));
  EXPECT_EQ(ended.err, "") << "calls that fail in an outage are counted and not told of";
}

TEST_F(RunCommandTest, TheCostsOfARealRunArePlayedOnTheVirtualClock) {
  const std::string costs = Path("costs.yaml");
  const std::vector<std::string> workload = {
      "--suite", "storms", "--name", "^SchedulingBasic/10Nodes", "--engine", "classic"};
  const auto with = [&workload](std::vector<std::string> more) {
    more.insert(more.end(), workload.begin(), workload.end());
    return more;
  };
  const ChildProcess::Ended measured =
      Run(with({"--clock", "real", "--repeat", "3", "--write-costs", costs}));
  EXPECT_EQ(measured.exit_code, 0) << measured.err;
  const ChildProcess::Ended played = Run(with({"--costs", costs, "--out", Path("out")}));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const Result<RunDocument> document = Read(Path("out"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->cost_model, "measured");
  EXPECT_LT(document->workloads[0].repetitions[0].latencies.at("pod_scheduled").max_ns,
            100'000'000u)
      << "upstream's takes longer";
  ExpectBad(with({"--write-costs", costs}), "--write-costs: expected --clock real");
  ExpectBad({"--clock", "real", "--name", "^Basic/10", "--write-costs", costs},
            "--write-costs: expected one engine");
  ExpectBad(with({"--clock", "real", "--schedulers", "2", "--write-costs", costs}),
            "--write-costs: expected one scheduling thread");
  ExpectBad({"--clock", "real", "--engine", "classic", "--name", "^Basic/", "--write-costs", costs},
            "--write-costs: expected exactly one workload");
}

TEST_F(RunCommandTest, AChurnGoesOnForTheDurationThatIsAskedFor) {
  const ChildProcess::Ended ended =
      Run({"--clock", "real", "--suite", "storms", "--name", "^EndlessChurn/10Nodes$", "--duration",
           "1s", "--engine", "lockfree"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Resident memory while it went on"));
  EXPECT_THAT(ended.out, HasSubstr("event to requeued"));
  ExpectBad({"--clock", "real", "--duration", "5"}, "--duration '5': expected a time up to 720h");
  ExpectBad({"--clock", "real", "--duration", "0s"}, "--duration '0s': expected a time");
  ExpectBad({"--clock", "real", "--name", "^Basic/10", "--duration", "5s"},
            "has no churn and no steadyState");
  ExpectBad({"--name", "^Basic/10", "--duration", "5s"}, "--duration: expected --clock real");
}

// An interrupt in the first round leaves an engine without a repetition.
TEST_F(RunCommandTest, AnInterruptOnTheRealClockShowsWhatThereIs) {
  const std::string file =
      Write("long.yaml", Workload("  - {opcode: createNodes, count: 3}\n"
                                  "  - {opcode: createPods, count: 30, collectMetrics: true}\n"
                                  "  - {opcode: sleep, duration: 1h}\n"));
  ChildProcess child({SCHEDQ_PROGRAM, "run", file, "--clock", "real"});
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  child.Signal(SIGINT);
  const ChildProcess::Ended ended = child.Wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.out, HasSubstr("1 interrupted"));
}

TEST_F(RunCommandTest, EachClockRefusesWhatOnlyTheOtherHas) {
  const std::string file = Write("good.yaml", Workload(kOps));
  ExpectBad({file, "--schedulers", "2"}, "--schedulers: the virtual clock has one");
  ExpectBad({file, "--costs", "none"}, "--costs none: without costs no virtual time passes");
  ExpectBad({file, "--clock", "real", "--engine", "lockfree", "--repeat", "1", "--record",
             Path("trace.jsonl")},
            "--record: expected --clock virtual");
  ExpectBad({"--clock", "real", "--suite", "kep"}, "--suite kep: its promises are judged on the");
}

TEST_F(RunCommandTest, BadFilesAreOneLineWithTheirPlace) {
  const std::string pods = "  - {opcode: createPods, count: ";
  ExpectBadFile("  - {opcode: createPods, cnt: 1}\n", "bad.yaml:3");
  ExpectBadFile(pods + "-1}\n", "bad.yaml:3");
  ExpectBadFile(pods + "1, podTemplatePath: missing.yaml}\n", "missing.yaml");
  ExpectBadFile(pods + "1}\n", "bad.yaml:6", "    params: {unread: 1}\n");
  Write("broken.yaml", "{{if}}");
  ExpectBadFile(pods + "1, podTemplatePath: broken.yaml}\n", "broken.yaml:1");
  Write("endless.yaml", "{{range 1000000000}}{{range 1000000000}}x{{end}}{{end}}");
  ExpectBadFile(pods + "1, podTemplatePath: endless.yaml}\n", "endless.yaml:1");
  const std::string metric =
      Write("bad.yaml",
            "- name: C\n  metricsCollectorConfig: {metrics: {no_such_metric: null}}\n"
            "  workloadTemplate:\n  - {opcode: createPods, count: 1}\n"
            "  workloads: [{name: W}]\n");
  ExpectBad({metric}, "no_such_metric");
  ExpectBad({Path("absent.yaml")}, "absent.yaml");
}

TEST_F(RunCommandTest, BadFlagsAreOneLine) {
  ExpectBad({"--clock", "sundial"}, "--clock");
  ExpectBad({"--engine", "fast"},
            "--engine: unknown engine 'fast'; expected lockfree, classic or both");
  ExpectBad({"--costs", Path("none.yaml")}, "none.yaml does not exist");
  ExpectBad({"--costs", Write("costs.yaml", "name: x\n")}, "costs.yaml:1");
  ExpectBad({"--name", "no such workload"}, "no workload is left");
  ExpectBad({"--gate", "SchedulerQueueingHints=true", "--gate", "SchedulerQueueingHints=false"},
            "SchedulerQueueingHints is said before, expected each gate once");
  ExpectBad({"--repeat", "0"}, "--repeat");
  ExpectBad({"--record", Path("t.jsonl")}, "--record: expected exactly one workload");
  ExpectBad({"--out", Path("pod.yaml"), "--name", "Basic/10"}, "--out");
}

TEST_F(RunCommandTest, CallsGoInTheOrderAndWithTheClientsThatAreAskedFor) {
  const std::string file = Write("w.yaml", Workload(kOps));
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--call-order", "arrival"},
           {"--call-limit", "1"},
           {"--own-client", "bindings", "--own-client", "events"},
           {"--reentry-gate", "--client-rate", "50:100"},
           {"--call-order", "relevance", "--client-rate", "50"}}) {
    std::vector<std::string> arguments = {file, "--engine", "both"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Run(arguments).exit_code, 0) << flags[0];
  }
  ExpectBad({file, "--call-order", "fifo"}, "--call-order");
  ExpectBad({file, "--call-limit", "0"}, "--call-limit");
  ExpectBad({file, "--call-limit", "1", "--call-order", "relevance"},
            "--call-order relevance: --call-limit mends the order of arrival");
  ExpectBad({file, "--own-client", "patches"}, "--own-client");
  ExpectBad({file, "--own-client", "events", "--own-client", "events"}, "expected each once");
  for (const char* rate : {"0", "5:0", "fast", "050", "-1", "50:", "10000000"}) {
    ExpectBad({file, "--client-rate", rate}, "--client-rate");
  }
  ExpectBad({file, "--reentry-gate", "--gate", "SchedulerAsyncAPICalls=false"},
            "--reentry-gate: expected --gate SchedulerAsyncAPICalls=true");
  ExpectBad({file, "--call-limit", "2", "--clock", "real"}, "--call-limit: expected --clock");
  ExpectBad({"--suite", "kep", "--call-limit", "2"}, "experiments of --suite kep decide on it");
  ExpectBad({"--suite", "kep", "--name", "^StarvedB", "--gate", "SchedulerAsyncAPICalls=true"},
            "decide on it");
}

TEST_F(RunCommandTest, FaultsAreInjectedOnRequest) {
  const std::string file = Write("w.yaml", Workload(kOps));
  const auto errors_of = [&](std::vector<std::string> faults) {
    std::vector<std::string> arguments = {file, "--out", Path("faults"), "--engine", "lockfree"};
    for (std::string& fault : faults) {
      arguments.insert(arguments.end(), {"--fault", std::move(fault)});
    }
    EXPECT_EQ(Run(arguments).exit_code, 0);
    const Result<RunDocument> document = Read(Path("faults"));
    EXPECT_TRUE(document.ok());
    uint64_t errors = 0;
    for (const auto& [name, count] : document->workloads[0].repetitions[0].counters) {
      if (name.find("attempts_total{result=\"error\"") != std::string::npos) errors += count;
    }
    return errors;
  };
  EXPECT_EQ(errors_of({}), 0u);
  EXPECT_EQ(errors_of({"lag,of=Pod,delay=20ms,jitter=20ms", "controllers,delay=1s"}), 0u);
  EXPECT_GT(errors_of({"errors,calls=bind,duration=2s"}), 0u);
  ExpectBad({file, "--fault", "fire"}, "--fault fire: 'fire': expected one of errors, lag");
  ExpectBad({file, "--fault", "errors,percent=0"}, "--fault errors,percent=0: percent is 0");
  ExpectBad({file, "--fault", ""}, "--fault");
  ExpectBad({"--suite", "kep", "--fault", "errors"}, "--fault: the promises of --suite kep");
}

TEST_F(RunCommandTest, ARecordedRunReplaysOnEveryEngine) {
  for (const char* name : {"ClaimTemplates/5Nodes_20", "BackoffHeavy/50Pods$", "Gated/20"}) {
    for (const char* engine : {"classic", "lockfree"}) {
      const std::string trace = Path("t.jsonl");
      ASSERT_EQ(Run({"--name", name, "--record", trace, "--engine", engine}).exit_code, 0) << name;
      for (const char* other : {"classic", "lockfree"}) {
        const ChildProcess::Ended replayed =
            RunProgram({SCHEDQ_PROGRAM, "replay", trace, "--engine", other});
        EXPECT_EQ(replayed.exit_code, 0) << name << ' ' << engine << ' ' << other;
        EXPECT_THAT(replayed.out, HasSubstr(" 0 mismatches")) << name;
      }
    }
  }
}

TEST_F(RunCommandTest, AnInterruptKeepsWhatWasMeasured) {
  const std::string file = Write(
      "w.yaml", Workload("  - {opcode: createNodes, count: 10}\n"
                         "  - {opcode: createPods, count: 10, steadyState: true, duration: 8000h, "
                         "collectMetrics: true}\n"));
  ChildProcess child({SCHEDQ_PROGRAM, "run", file, "--out", Path("out")});
  // It says nothing before its end, which is hours away: any moment after its start will do.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  child.Signal(SIGINT);
  const ChildProcess::Ended ended = child.Wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.out, HasSubstr("interrupted"));
  EXPECT_TRUE(Read(Path("out")).ok());
}

}  // namespace
}  // namespace schedq
