// Goal: nothing that a workload file says is dropped without a word.
// Method: files that say a thing twice, or where it has no effect; the decoder names the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void ExpectRefused(const std::string& text, const std::string& place, const std::string& reason) {
  SCOPED_TRACE(text);
  const auto cases = DecodeText(text);
  ASSERT_FALSE(cases) << "accepted";
  EXPECT_THAT(cases.error().message(), StartsWith(place));
  EXPECT_THAT(cases.error().message(), HasSubstr(reason));
}

std::string Pods(const std::string& more) {
  return CaseOf("  - {opcode: createPods, collectMetrics: true, " + more + "}\n", "n: 3");
}

TEST(NothingIsDropped, AValueBesideItsParameter) {
  ExpectRefused(Pods("count: 2, countParam: $n"), "w.yaml:3:", "count beside countParam");
  ExpectRefused(Pods("countParam: $n, count: 0"), "w.yaml:3:", "count beside countParam");
  ExpectRefused(Pods("countParam: $n, steadyState: true, steadyStateParam: $n, duration: 1s"),
                "w.yaml:3:", "steadyState beside steadyStateParam");
  ExpectRefused(Pods("countParam: $n, duration: 1s, durationParam: $n"),
                "w.yaml:3:", "duration beside durationParam");
  ExpectRefused(CaseOf("  - {opcode: sleep, duration: 1s, durationParam: $n}\n", "n: 1s"),
                "w.yaml:3:", "duration beside durationParam");
  EXPECT_TRUE(DecodeText(Pods("countParam: $n")));
  // An absent value is null.
  EXPECT_TRUE(DecodeText(Pods("countParam: $n, count: null")));
}

TEST(NothingIsDropped, KeysThatDifferOnlyInCase) {
  ExpectRefused(Pods("countParam: $n, Namespace: a, namespace: b"),
                "w.yaml:3:", "\"namespace\" beside \"Namespace\"");
  ExpectRefused("- name: C\n  Name: D\n  workloadTemplate: []\n",
                "w.yaml:2:", "\"Name\" beside \"name\"");
  // Alone, each is what Go's decoder takes it for.
  EXPECT_TRUE(DecodeText(Pods("CountParam: $n, nameSpace: b")));
}

TEST(NothingIsDropped, ARepeatedKey) {
  ExpectRefused(Pods("count: 2, count: 3"), "w.yaml:3:", "duplicate key \"count\"");
  ExpectRefused("- name: C\n  name: D\n", "w.yaml:2:", "duplicate key \"name\"");
  ExpectRefused(CaseOf("  - {opcode: sleep, duration: 1s}\n", "a: 1, a: 2"),
                "w.yaml:6:", "duplicate key \"a\"");
}

// What is no text at all is refused too: it would reach the terminal and the names of files.
TEST(NothingIsDropped, ControlCharactersAndStrayBytes) {
  const auto named = [](const std::string& name) {
    return "- name: \"" + name + "\"\n  workloadTemplate:\n" +
           "  - {opcode: createPods, count: 1, collectMetrics: true}\n  workloads:\n  - name: W\n";
  };
  EXPECT_TRUE(DecodeText(named("\xc3\xa4 b")));
  for (const char* name : {"\\e[31m", "a\\0", "\\x9b2J", "\\u0085", "\\x7f"}) {
    ExpectRefused(named(name), "w.yaml:1:", "a control character in a value");
  }
  ExpectRefused(named("a\\nb"), "w.yaml:1:", "a\\x0ab, expected one without tabs and line breaks");
  ExpectRefused(named("\x1b[31m"), "w.yaml:1:", "a control character");
  ExpectRefused(named("\xff"), "w.yaml:1:10:", "a byte that is not UTF-8");
  ExpectRefused(named("\xed\xa0\x80"), "w.yaml:1:10:", "a byte that is not UTF-8");
}

TEST(NothingIsDropped, SetsOfSetsOfPods) {
  const auto sets = [](const std::string& inner) {
    return CaseOf("  - {opcode: createPodSets, count: 2, namespacePrefix: n, createPodsOp: " +
                  inner + "}\n  - {opcode: createPods, count: 1, collectMetrics: true}\n");
  };
  const std::string pods = "{opcode: createPods, count: 1}";
  EXPECT_TRUE(DecodeText(sets(pods)));
  for (const char* count : {"0", "1", "3"}) {
    ExpectRefused(sets(std::string("{opcode: createPodSets, count: ") + count +
                       ", namespacePrefix: m, createPodsOp: " + pods + "}"),
                  "w.yaml:3:", "createPodsOp is createPodSets, expected createPods");
  }
  ExpectRefused(sets("{opcode: createPods, count: 1, namespace: x}"),
                "w.yaml:3:", "namespace in createPodsOp");
}

}  // namespace
}  // namespace schedq
