// Goal: a trace of version 2 is read as strictly as one of version 1, and written as it was read;
// groups in version 1 are refused; an answer about groups that differs is told.
// Method: each case alters one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "bench/format/trace/expectation.h"
#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/format/trace/trace_writer.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/format/trace_groups_header.h"

namespace schedq {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  SCHEDQ_CHECK(at != std::string::npos, "the text to replace is there");
  return text.replace(at, from.size(), to);
}

std::string HeaderError(const std::string& from, const std::string& to) {
  const Result<TraceHeader> header = ParseTraceHeader(Replaced(kHeaderOfGroups, from, to));
  if (!header) return header.error().message();
  // Only the plugins know the kinds, so the replayer refuses them.
  const auto replayer = Replayer::Create(*header, EngineKind::kClassic);
  return replayer.ok() ? "" : replayer.error().message();
}

TEST(TraceHeaderOfGroups, ReadsBack) {
  const Result<TraceHeader> header = ParseTraceHeader(kHeaderOfGroups);
  ASSERT_TRUE(header.ok()) << header.error().message();
  EXPECT_EQ(header->version, 2);
  EXPECT_EQ(header->about, "groups");
  EXPECT_TRUE(header->gates.GenericWorkload());
  EXPECT_TRUE(header->gates.CompositePodGroup());
  EXPECT_EQ(FormatTraceHeader(*header), kHeaderOfGroups);
}

// With the gate off nothing is known of groups, but the file may still name them.
TEST(TraceHeaderOfGroups, StaysVersionTwoWithTheGateOff) {
  const std::string off =
      Replaced(Replaced(kHeaderOfGroups, "\"GenericWorkload\":true", "\"GenericWorkload\":false"),
               "\"CompositePodGroup\":true", "\"CompositePodGroup\":false");
  const Result<TraceHeader> header = ParseTraceHeader(off);
  ASSERT_TRUE(header.ok()) << header.error().message();
  EXPECT_FALSE(header->gates.GenericWorkload());
  EXPECT_EQ(FormatTraceHeader(*header), off);
}

TEST(TraceHeaderOfGroups, MissingGatesAreOff) {
  const Result<TraceHeader> header =
      ParseTraceHeader(R"({"schedq_trace":2,"start":"2026-01-01T00:00:00Z","plugins":[]})");
  ASSERT_TRUE(header.ok()) << header.error().message();
  EXPECT_FALSE(header->gates.GenericWorkload());
  EXPECT_FALSE(header->gates.CompositePodGroup());
}

TEST(TraceHeaderOfGroups, IsVersionOneUnlessGroupsAreOn) {
  TraceHeader header;
  EXPECT_THAT(FormatTraceHeader(header), HasSubstr("\"schedq_trace\":1"));
  EXPECT_THAT(FormatTraceHeader(header), testing::Not(HasSubstr("GenericWorkload")));
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  header.gates = *Gates::Resolve(request);
  EXPECT_THAT(FormatTraceHeader(header), HasSubstr("\"schedq_trace\":2"));
  EXPECT_THAT(FormatTraceHeader(header), HasSubstr("\"CompositePodGroup\":false"));
}

// As a plugin of a library may do while the gate is off.
TEST(TraceHeaderOfGroups, IsVersionTwoIfAPluginRegisteredForThem) {
  TraceHeader header;
  header.plugins = {{"P", "", {{Resource::kCompositePodGroup, Action::kAdd, "queue", ""}}}};
  const std::string line = FormatTraceHeader(header);
  EXPECT_THAT(line, HasSubstr("\"schedq_trace\":2"));
  EXPECT_TRUE(ParseTraceHeader(line).ok());
}

TEST(TraceHeaderOfGroups, IsRefusedWithTheReason) {
  EXPECT_EQ(HeaderError("groups", "anything"), "");
  EXPECT_THAT(HeaderError("trace\":2", "trace\":3"), HasSubstr("expected schedq_trace 1 or 2"));
  EXPECT_THAT(HeaderError("\"about\":\"groups\"", "\"about\":1"), HasSubstr("expected a string"));
  EXPECT_THAT(HeaderError("\"about\"", "\"abut\""), HasSubstr("unknown field abut"));
  EXPECT_THAT(HeaderError("\"GenericWorkload\":true", "\"GenericWorkload\":false"),
              HasSubstr("CompositePodGroup=true needs GenericWorkload=true"));
  EXPECT_THAT(HeaderError("\"GenericWorkload\":true,", ""),
              HasSubstr("CompositePodGroup=true needs GenericWorkload=true"));
  EXPECT_THAT(HeaderError("\"same-group\"", "\"some-group\""),
              HasSubstr("unknown hint kind \"some-group\""));
  EXPECT_THAT(HeaderError("\"gang\"", "\"gong\""), HasSubstr("unknown pre_enqueue kind \"gong\""));
}

TEST(TraceHeaderOfGroups, IsRefusedInVersionOne) {
  const auto error = [](const std::string& gates, const std::string& plugin) {
    const Result<TraceHeader> header =
        ParseTraceHeader(R"({"schedq_trace":1,"start":"2026-01-01T00:00:00Z","gates":{)" + gates +
                         R"(},"plugins":[)" + plugin + "]}");
    return header.ok() ? std::string() : header.error().message();
  };
  EXPECT_EQ(error(R"("GenericWorkload":false)", ""), "");
  EXPECT_EQ(error(R"("GenericWorkload":true)", ""),
            "gates: GenericWorkload=true needs schedq_trace 2");
  EXPECT_EQ(error(R"("CompositePodGroup":true)", ""),
            "gates: CompositePodGroup=true needs schedq_trace 2");
  EXPECT_EQ(error("", R"({"name":"P","pre_enqueue":"gang","events":[]})"),
            "plugin P: pre_enqueue kind \"gang\" needs schedq_trace 2");
  for (const char* kind : {"same-group", "min-count-lowered"}) {
    EXPECT_EQ(error("", R"({"name":"P","events":[{"on":"Node","actions":["Add"],"hint":")" +
                            std::string(kind) + "\"}]}"),
              "plugin P: hint kind \"" + std::string(kind) + "\" needs schedq_trace 2");
  }
  for (const char* on : {"PodGroup", "CompositePodGroup"}) {
    EXPECT_EQ(error("", R"({"name":"P","events":[{"on":")" + std::string(on) +
                            R"(","actions":["Add"],"hint":"queue"}]})"),
              "plugin P: events on " + std::string(on) + " need schedq_trace 2");
  }
  EXPECT_THAT(ParseTraceHeader(
                  R"({"schedq_trace":1,"about":"x","start":"2026-01-01T00:00:00Z","plugins":[]})")
                  .error()
                  .message(),
              HasSubstr("unknown field about"));
}

// One line of each operation and field that only version 2 has, with sorted keys.
const char* const kLines[] = {
    R"({"op":"add","pod":{"group":"g","name":"a","namespace":"ns","priority":0,"uid":"u"},"t":1})",
    R"({"group":{"min_count":2,"name":"g","namespace":"ns","parent":"c","priority":-3},)"
    R"("op":"group_add","t":1,"want":{"changed":{"a":"incomplete"}}})",
    R"({"group":{"name":"g","namespace":"ns","priority":0},"op":"group_update","t":1})",
    R"({"group":"g","namespace":"ns","op":"group_delete","t":1})",
    R"({"group":{"name":"c","namespace":"ns","parent":"d","priority":1},"op":"composite_add",)"
    R"("t":1})",
    R"({"group":{"name":"c","namespace":"ns","priority":1},"op":"composite_update","t":1})",
    R"({"group":"c","namespace":"ns","op":"composite_delete","t":1})",
    R"({"group":"g","op":"group_done","status":"success","t":1,)"
    R"("want":{"changed":{"a":"pending"}}})",
    R"({"group":"ns/g","op":"group_done","status":"unschedulable","t":1})",
    R"({"group":"g","op":"group_done","status":"error","t":1})",
    R"({"op":"pop","t":5,"want":{"attempts":2,"changed":{"a":"in-flight"},"cycle":9,"group":"g",)"
    R"("member_attempts":[2,1],"pods":["a","b"]}})",
    R"({"action":"Update","object":{"min_count":1,"name":"g","namespace":"ns",)"
    R"("old_min_count":2},"on":"PodGroup","op":"event","t":8})",
    R"({"action":"Add","object":{"group":"g","name":"a","namespace":"ns"},)"
    R"("on":"UnscheduledPod","op":"event","t":8})",
    R"({"op":"end","t":12,"want":{"changed":{},)"
    R"("queue_incoming_entities_total":{"active|NodeAdd|podgroup":1},)"
    R"("queue_incoming_pods_total":{"active|NodeAdd":2},"scheduling_cycle":4}})"};

TEST(TraceOperationOfGroups, ReadsBack) {
  for (const char* line : kLines) {
    const Result<TraceOperation> read = ParseTraceOperation(line, 2);
    ASSERT_TRUE(read.ok()) << line << ": " << read.error().message();
    EXPECT_EQ(FormatTraceOperation(*read, 2), line);
  }
}

// A run without groups may still have pods that name one.
TEST(TraceOperationOfGroups, LeavesGroupsOutOfVersionOne) {
  const Result<TraceOperation> add = ParseTraceOperation(kLines[0], 2);
  ASSERT_TRUE(add.ok());
  EXPECT_TRUE(ParseTraceOperation(FormatTraceOperation(*add), 1).ok())
      << FormatTraceOperation(*add);
  const Result<TraceOperation> event = ParseTraceOperation(kLines[12], 2);
  ASSERT_TRUE(event.ok());
  EXPECT_TRUE(ParseTraceOperation(FormatTraceOperation(*event), 1).ok());
}

TEST(TraceOperationOfGroups, IsRefusedInVersionOne) {
  for (const char* line : kLines) {
    EXPECT_FALSE(ParseTraceOperation(line, 1).ok()) << "accepted: " << line;
  }
  EXPECT_EQ(ParseTraceOperation(kLines[1], 1).error().message(),
            "op group_add needs schedq_trace 2");
  EXPECT_EQ(ParseTraceOperation(kLines[0], 1).error().message(), "pod: unknown field group");
  for (const char* on : {"PodGroup", "CompositePodGroup"}) {
    const std::string line = R"({"op":"event","t":1,"on":")" + std::string(on) +
                             R"(","action":"Add","object":{"name":"g"}})";
    EXPECT_TRUE(ParseTraceOperation(line, 2).ok());
    EXPECT_EQ(ParseTraceOperation(line, 1).error().message(),
              "event: on " + std::string(on) + " needs schedq_trace 2");
  }
}

TEST(TraceOperationOfGroups, IsRefusedWithTheReason) {
  const auto error = [](const std::string& line) {
    const Result<TraceOperation> operation = ParseTraceOperation(line, 2);
    return operation.ok() ? "accepted: " + line : operation.error().message();
  };
  EXPECT_THAT(error(R"({"op":"group_add","t":1})"), HasSubstr("group is missing"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":"g"})"), HasSubstr("expected an object"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":{}})"), HasSubstr("name is missing"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":{"name":""}})"), HasSubstr("name is empty"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":{"name":"a/b"}})"), HasSubstr("a slash"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":{"name":"a","parent":"b/c"}})"),
              HasSubstr("parent has a slash"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":{"name":"a","min_count":-1}})"),
              HasSubstr("min_count is out of range"));
  EXPECT_THAT(error(R"({"op":"group_add","t":1,"group":{"name":"a","size":1}})"),
              HasSubstr("unknown field size"));
  EXPECT_THAT(error(R"({"op":"composite_add","t":1,"group":{"name":"a","min_count":1}})"),
              HasSubstr("unknown field min_count"));
  EXPECT_THAT(error(R"({"op":"group_delete","t":1,"group":{}})"), HasSubstr("expected a string"));
  EXPECT_THAT(error(R"({"op":"group_delete","t":1,"group":"a/b"})"), HasSubstr("a slash"));
  EXPECT_THAT(error(R"({"op":"group_done","t":1,"group":"g"})"), HasSubstr("status is missing"));
  EXPECT_THAT(error(R"({"op":"group_done","t":1,"group":"g","status":"fine"})"),
              HasSubstr("unknown status fine"));
  EXPECT_THAT(error(R"({"op":"group_gone","t":1,"group":"g"})"), HasSubstr("unknown op"));
  EXPECT_THAT(error(R"({"op":"add","t":1,"pod":{"name":"a","uid":"u","group":"x/y"}})"),
              HasSubstr("group has a slash"));
  EXPECT_THAT(error(R"({"op":"event","t":1,"on":"PodGroup","action":"Add","object":{"max":1}})"),
              HasSubstr("unknown field max"));
  const std::string pop = R"({"op":"pop","t":1,"want":{"group":"g",)";
  EXPECT_THAT(error(pop + R"("pods":["a"]}})"), HasSubstr("member_attempts is missing"));
  EXPECT_THAT(error(pop + R"("member_attempts":[1]}})"), HasSubstr("pods is missing"));
  EXPECT_THAT(error(pop + R"("pods":["a"],"member_attempts":[1,2]}})"),
              HasSubstr("member_attempts has 2 items, expected one for each of the 1 pods"));
  EXPECT_THAT(error(pop + R"("pods":["a"],"member_attempts":["1"]}})"),
              HasSubstr("not an integer"));
  EXPECT_THAT(error(pop + R"("pods":[],"member_attempts":[]}})"), HasSubstr("pods is empty"));
  EXPECT_THAT(error(pop + R"("pods":["a"],"member_attempts":[1],"pod":"a"}})"),
              HasSubstr("unknown field pod"));
  EXPECT_THAT(
      error(R"({"op":"end","t":1,"want":{"scheduling_cycle":1,)"
            R"("queue_incoming_pods_total":{},"queue_incoming_entities_total":{"a":"b"}}})"),
      HasSubstr("a is not an integer"));
}

TEST(TraceExpectationOfGroups, EachAlteredAnswerDiffers) {
  TraceWant want;
  want.popped_group = "g";
  want.members = {"a", "b"};
  want.member_attempts = {1, 2};
  want.incoming_entities = {{"active|NodeAdd|podgroup", 1}};
  EXPECT_THAT(Differences(TraceOp::kPop, want, want), IsEmpty());
  TraceWant got = want;
  got.popped_group = "h";
  EXPECT_THAT(Differences(TraceOp::kPop, want, got), ElementsAre("group: wanted g, got h"));
  got = want;
  got.members = {"b", "a"};
  EXPECT_THAT(Differences(TraceOp::kPop, want, got), Contains(HasSubstr("pods: wanted")));
  got = want;
  got.member_attempts = {1, 1};
  EXPECT_THAT(Differences(TraceOp::kPop, want, got), Contains(HasSubstr("member_attempts")));
  got = TraceWant();
  got.popped = "a";
  EXPECT_THAT(Differences(TraceOp::kPop, want, got), Contains("group: wanted g, got null"));
  got = want;
  got.incoming_entities = {{"active|NodeAdd|pod", 1}};
  EXPECT_EQ(Differences(TraceOp::kEnd, want, got).size(), 2u);
  got.incoming_entities.reset();
  EXPECT_THAT(Differences(TraceOp::kEnd, want, got), IsEmpty()) << "it keeps none";
}

}  // namespace
}  // namespace schedq
