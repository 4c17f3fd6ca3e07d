// Goal: a malformed trace is refused with its reason, and a written trace reads back as the same.
// Method: each case alters one line and gives it to the parsers and the replayer. Every field of
// headers and operations is written and read again.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/timestamp.h"
#include "bench/format/trace/trace.h"
#include "bench/format/trace/trace_writer.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {
namespace {

constexpr const char* kHeader =
    R"({"schedq_trace":1,"start":"2026-01-01T00:00:00.3Z",)"
    R"("gates":{"SchedulerPopFromBackoffQ":true},)"
    R"("pod_initial_backoff_ms":1000,"pod_max_backoff_ms":10000,)"
    R"("pod_max_in_unschedulable_ms":300000,"plugins":[{"name":"Fit","events":[)"
    R"({"on":"Node","actions":["Add","UpdateNodeLabel"],"hint":"queue"}]}]})";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  SCHEDQ_CHECK(at != std::string::npos, "the text to replace is there");
  return text.replace(at, from.size(), to);
}

void ExpectHeaderRefused(const std::string& from, const std::string& to,
                         const std::string& reason) {
  const Result<TraceHeader> header = ParseTraceHeader(Replaced(kHeader, from, to));
  if (!header) {
    EXPECT_NE(header.error().message().find(reason), std::string::npos) << header.error().message();
    return;
  }
  // Only the plugins know the kinds, so the replayer refuses them.
  const auto replayer = Replayer::Create(*header, EngineKind::kClassic);
  ASSERT_FALSE(replayer.ok()) << "accepted: " << to;
  EXPECT_NE(replayer.error().message().find(reason), std::string::npos)
      << replayer.error().message();
}

TEST(TraceHeader, IsRefusedWithTheReason) {
  ASSERT_TRUE(ParseTraceHeader(kHeader).ok());
  ExpectHeaderRefused("\"schedq_trace\":1,", "", "schedq_trace is missing");
  ExpectHeaderRefused("trace\":1", "trace\":3", "expected schedq_trace 1 or 2");
  ExpectHeaderRefused("trace\":1", "trace\":\"1\"", "expected an integer");
  ExpectHeaderRefused("00.3Z", "00.3", "expected RFC 3339");
  ExpectHeaderRefused("2026-01", "2026-13", "expected RFC 3339");
  ExpectHeaderRefused("true}", "1}", "expected true or false");
  ExpectHeaderRefused("10000", "-1", "out of range");
  ExpectHeaderRefused("10000", "1.5", "expected an integer");
  ExpectHeaderRefused("\"gates\"", "\"gate\"", "unknown field gate");
  ExpectHeaderRefused("\"plugins\":[", "\"plugins\":[1,", "expected an object");
  ExpectHeaderRefused("\"name\":\"Fit\"", "\"name\":7", "expected a string");
  ExpectHeaderRefused("\"Node\"", "\"Noodle\"", "unknown resource Noodle");
  ExpectHeaderRefused("\"Add\"", "\"Ad\"", "unknown action \"Ad\"");
  ExpectHeaderRefused("\"queue\"}", "\"queue\",\"x\":1}", "unknown field x");
  ExpectHeaderRefused("\"queue\"", "\"maybe\"", "unknown hint kind \"maybe\"");
  ExpectHeaderRefused("\"queue\"}", "\"queue\",\"pre_hint\":\"some\"}", "unknown pre_hint kind");
  ExpectHeaderRefused("\"Fit\",", "\"Fit\",\"pre_enqueue\":\"x\",", "unknown pre_enqueue kind");
  ExpectHeaderRefused("{\"schedq", "\"schedq", "not JSON");
}

void ExpectOperationRefused(const std::string& line, const std::string& reason) {
  const Result<TraceOperation> operation = ParseTraceOperation(line);
  ASSERT_FALSE(operation.ok()) << "accepted: " << line;
  EXPECT_NE(operation.error().message().find(reason), std::string::npos)
      << line << ": " << operation.error().message();
}

TEST(TraceOperation, IsRefusedWithTheReason) {
  ExpectOperationRefused("", "not JSON");
  ExpectOperationRefused("{", "not JSON");
  ExpectOperationRefused("[]", "expected an object");
  ExpectOperationRefused("{}", "op is missing");
  ExpectOperationRefused(R"({"op":"pop"})", "t is missing");
  ExpectOperationRefused(R"({"op":"hop","t":1})", "unknown op hop");
  ExpectOperationRefused(R"({"op":"pop","t":"1"})", "expected an integer");
  ExpectOperationRefused(R"({"op":"pop","t":-1})", "out of range");
  ExpectOperationRefused(R"({"op":"pop","t":1,"pod":"a"})", "unknown field pod");
  ExpectOperationRefused(R"({"op":"add","t":1})", "pod is missing");
  ExpectOperationRefused(R"({"op":"add","t":1,"pod":"a"})", "expected an object");
  ExpectOperationRefused(R"({"op":"add","t":1,"pod":{"name":"a"}})", "uid is missing");
  ExpectOperationRefused(R"({"op":"add","t":1,"pod":{"name":"a","uid":"u","color":1}})",
                         "unknown field color");
  ExpectOperationRefused(R"({"op":"add","t":1,"pod":{"name":"a","uid":"u","priority":3000000000}})",
                         "out of range");
  ExpectOperationRefused(R"({"op":"add","t":1,"pod":{"name":"","uid":"u"}})", "name is empty");
  ExpectOperationRefused(R"({"op":"delete","t":1,"pod":{}})", "expected a string");
  ExpectOperationRefused(R"({"op":"fail","t":1,"pod":"a","pending":"Fit"})", "expected an array");
  ExpectOperationRefused(R"({"op":"event","t":1,"on":"Nod","action":"Add"})",
                         "unknown resource Nod");
  ExpectOperationRefused(R"({"op":"event","t":1,"on":"Node","action":"Ad"})", "unknown action Ad");
  ExpectOperationRefused(
      R"({"op":"event","t":1,"on":"Node","action":"Add","object":{"is_allocated":1}})",
      "expected true or false");
  ExpectOperationRefused(R"({"op":"activate","t":1})", "pods is missing");
  ExpectOperationRefused(R"({"op":"nominate","t":1,"pod":"a"})", "node is missing");
  ExpectOperationRefused(R"({"op":"pop","t":1,"want":{}})", "pod of a pop is missing");
  ExpectOperationRefused(R"({"op":"end","t":1,"want":{"changed":{"a":1}}})", "is not a string");
  ExpectOperationRefused(R"({"op":"pop","t":1,"rejected":7})", "expected an array or an object");
}

// Applies every line and expects that the last one is refused.
void ExpectLastRefused(const std::vector<std::string>& lines, const std::string& reason) {
  const auto replayer = Replayer::Create(*ParseTraceHeader(kHeader), EngineKind::kClassic);
  ASSERT_TRUE(replayer.ok());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Result<TraceOperation> operation = ParseTraceOperation(lines[i]);
    ASSERT_TRUE(operation.ok()) << lines[i] << ": " << operation.error().message();
    const Result<TraceOutcome> outcome = (*replayer)->Apply(*operation);
    if (i + 1 < lines.size()) {
      ASSERT_TRUE(outcome.ok()) << lines[i] << ": " << outcome.error().message();
      continue;
    }
    ASSERT_FALSE(outcome.ok()) << "accepted: " << lines[i];
    EXPECT_NE(outcome.error().message().find(reason), std::string::npos)
        << outcome.error().message();
  }
}

TEST(TraceReplay, RefusesImpossibleOperations) {
  const std::string add = R"({"op":"add","t":5,"pod":{"name":"a","uid":"u"}})";
  const std::string pop = R"({"op":"pop","t":5})";
  ExpectLastRefused({add, R"({"op":"pop","t":4})"}, "time runs backwards: 4 after 5");
  ExpectLastRefused({add, add}, "live already");
  ExpectLastRefused({R"({"op":"update","t":5,"pod":{"name":"a","uid":"u"}})"}, "is not live");
  ExpectLastRefused({add, R"({"op":"update","t":5,"pod":{"name":"a","uid":"v"}})"},
                    "has uid v, expected u");
  for (const char* op : {"delete", "bind", "fail"}) {
    const std::string line = R"({"op":")" + std::string(op) + R"(","t":5,"pod":"a"})";
    ExpectLastRefused({line}, "no pod named a");
    const std::string gone = R"({"op":"delete","t":5,"pod":"a"})";
    ExpectLastRefused({add, gone, line}, "neither live nor in flight");
  }
  ExpectLastRefused({R"({"op":"activate","t":5,"pods":["a"]})"}, "no pod named a");
  ExpectLastRefused({R"({"op":"nominate","t":5,"pod":"a","node":"n"})"}, "no pod named a");
  ExpectLastRefused({add, pop, R"({"op":"fail","t":5,"pod":"a","pending":["Fat"]})"},
                    "unknown plugin Fat");
  ExpectLastRefused({add, R"({"op":"pop","t":5,"rejected":{"a":"Fat"}})"}, "unknown plugin Fat");
  ExpectLastRefused({add, R"({"op":"add","t":5,"pod":{"name":"a","namespace":"n","uid":"w"}})",
                     R"({"op":"delete","t":5,"pod":"a"})"},
                    "several pods are named a");
}

TEST(TraceReplay, AcceptsANameThatIsOnlyInFlight) {
  const auto replayer = Replayer::Create(*ParseTraceHeader(kHeader), EngineKind::kClassic);
  ASSERT_TRUE(replayer.ok());
  for (const char* line :
       {R"({"op":"add","t":1,"pod":{"name":"a","uid":"u"}})", R"({"op":"pop","t":1})",
        R"({"op":"delete","t":1,"pod":"a"})", R"({"op":"fail","t":1,"pod":"a"})"}) {
    const Result<TraceOutcome> outcome = (*replayer)->Apply(*ParseTraceOperation(line));
    ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  }
  EXPECT_EQ((*replayer)->queue().Counts(), QueueCounts());
}

TEST(TraceWriter, HeaderReadsBack) {
  TraceHeader header;
  header.start = *ParseTimestamp("2026-02-28T23:59:59.123456789Z");
  GateRequest request;
  request.Set(Gate::kSchedulerPopFromBackoffQ, false);
  header.gates = *Gates::Resolve(request);
  header.backoff = {std::chrono::milliseconds(17), std::chrono::milliseconds(0)};
  header.max_in_unschedulable = std::chrono::milliseconds(1234);
  const Action unions[] = {Action::kAll, Action::kUpdate, Action::kAdd | Action::kUpdate,
                           Action::kDelete | Action::kUpdateNodeTaint,
                           Action::kUpdatePodGeneratedResourceClaim};
  TracePluginSpec spec{.name = "Plugin", .pre_enqueue = "recorded", .events = {}};
  for (int resource = 0; resource < kResourceCount; ++resource) {
    spec.events.push_back({static_cast<Resource>(resource), unions[resource % 5], "same-zone",
                           resource % 2 == 0 ? "recorded" : ""});
  }
  header.plugins = {spec, {.name = "Empty", .pre_enqueue = "", .events = {}}};

  const std::string line = FormatTraceHeader(header);
  const Result<TraceHeader> read = ParseTraceHeader(line);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(FormatTraceHeader(*read), line);
  EXPECT_EQ(read->start, header.start);
  EXPECT_FALSE(read->gates.PopFromBackoffQ());
  EXPECT_TRUE(read->gates.PreQueueingHints());
  EXPECT_EQ(read->backoff.initial, header.backoff.initial);
  EXPECT_EQ(read->backoff.maximum, header.backoff.maximum);
  EXPECT_EQ(read->max_in_unschedulable, header.max_in_unschedulable);
  ASSERT_EQ(read->plugins.size(), 2u);
  EXPECT_EQ(read->plugins[0].pre_enqueue, "recorded");
  ASSERT_EQ(read->plugins[0].events.size(), spec.events.size());
  for (size_t i = 0; i < spec.events.size(); ++i) {
    EXPECT_EQ(read->plugins[0].events[i].on, spec.events[i].on);
    EXPECT_EQ(read->plugins[0].events[i].actions, spec.events[i].actions);
    EXPECT_EQ(read->plugins[0].events[i].hint, spec.events[i].hint);
    EXPECT_EQ(read->plugins[0].events[i].pre_hint, spec.events[i].pre_hint);
  }
}

TEST(TraceWriter, PodReadsBack) {
  auto pod = std::make_shared<Pod>();
  pod->name = "a";
  pod->namespace_name = "ns";
  pod->uid = "u\"quoted\"";
  pod->priority = -7;
  pod->labels = {{"app", "x"}, {"zone", "\xc3\xa9"}};
  pod->claims = {"c2", "c1"};
  pod->scheduling_gates = {"g"};
  pod->tolerations.resize(3);
  pod->generated_claims.resize(2);
  pod->nominated_node_name = "n";
  TraceOperation operation;
  operation.op = TraceOp::kAdd;
  operation.time_ms = 12;
  operation.pod = pod;
  const Result<TraceOperation> read = ParseTraceOperation(FormatTraceOperation(operation));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->op, TraceOp::kAdd);
  EXPECT_EQ(read->time_ms, 12);
  EXPECT_EQ(read->pod->name, "a");
  EXPECT_EQ(read->pod->namespace_name, "ns");
  EXPECT_EQ(read->pod->uid, pod->uid);
  EXPECT_EQ(read->pod->priority, -7);
  EXPECT_EQ(read->pod->labels, pod->labels);
  EXPECT_EQ(read->pod->claims, pod->claims);
  EXPECT_EQ(read->pod->scheduling_gates, pod->scheduling_gates);
  EXPECT_EQ(read->pod->tolerations.size(), 3u);
  EXPECT_EQ(read->pod->generated_claims.size(), 2u);
  EXPECT_EQ(read->pod->nominated_node_name, "n");
}

// One line of each operation, in the form of docs/formats.md and with sorted keys.
TEST(TraceWriter, EveryOperationReadsBack) {
  const std::vector<std::string> lines = {
      R"({"op":"update","pod":{"name":"a","namespace":"","priority":0,"uid":"u"},"t":1})",
      R"({"op":"delete","pod":"a","rejected":{"ns/b":"Fit"},"t":2,"verdicts":{"Fit":["a","b"]}})",
      R"({"op":"bind","pod":"ns/a","t":3,"want":{"changed":{"a":"absent"}}})",
      R"({"op":"fail","pending":["B"],"pod":"a","t":4,"unschedulable":["A","C"]})",
      R"({"op":"pop","t":5,"want":{"attempts":2,"changed":{"a":"in-flight"},"cycle":9,"pod":"a"}})",
      R"({"op":"pop","t":5,"want":{"changed":{},"pod":null}})",
      R"({"op":"flush_backoff","t":6})",
      R"({"op":"flush_unschedulable","t":7,"want":{"changed":{"a":"backoff@-300"}}})",
      R"({"action":"Update","object":{"is_allocated":true,"labels":{"zone":"z"},"name":"c",)"
      R"("namespace":"ns","was_allocated":true},"on":"ResourceClaim","op":"event","t":8})",
      R"({"action":"All","object":{"name":"","namespace":""},"on":"*","op":"event","t":8})",
      R"({"op":"activate","pods":["a","b"],"t":9})",
      R"({"node":"","op":"nominate","pod":"a","t":10})",
      R"({"node":"n","op":"nominated","t":11,"want":{"changed":{},"pods":["a"]}})",
      R"({"node":"n","op":"nominated","t":11,"want":{"changed":{},"pods":null}})",
      R"({"op":"end","t":12,"want":{"changed":{},"in_flight_events":3,)"
      R"("queue_incoming_pods_total":{"active|NodeAdd":1},"scheduling_cycle":4}})"};
  for (const std::string& line : lines) {
    const Result<TraceOperation> read = ParseTraceOperation(line);
    ASSERT_TRUE(read.ok()) << line << ": " << read.error().message();
    EXPECT_EQ(FormatTraceOperation(*read), line);
  }
}

}  // namespace
}  // namespace schedq
