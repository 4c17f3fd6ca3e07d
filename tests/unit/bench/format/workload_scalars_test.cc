// Goal: quantities, durations and YAML scalars have the values that Kubernetes, Go and the YAML
// reader of scheduler_perf give them.
// Method: tables of texts with their values, and of texts that are refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/format/objects/quantity.h"
#include "bench/format/suite/label_filter.h"
#include "bench/format/workload/go_duration.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_parser.h"
#include "bench/format/yaml/yaml_scalar.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

TEST(Quantity, CountsUnitsAndThousandths) {
  struct Row {
    const char* text;
    int64_t value;
    int64_t milli;
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Row rows[] = {
      {"0", 0, 0},
      {"1", 1, 1000},
      {"100m", 1, 100},
      {"1500m", 2, 1500},
      {"0.35", 1, 350},
      {"0.0001", 1, 1},
      {".5", 1, 500},
      {"5.", 5, 5000},
      {"+4", 4, 4000},
      {"-100m", -1, -100},
      {"1k", 1000, 1000000},
      {"2M", 2000000, 2000000000},
      {"1Ki", 1024, 1024000},
      {"500Mi", 524288000, 524288000000},
      {"1.5Gi", 1610612736, 1610612736000},
      {"32Gi", 34359738368, 34359738368000},
      {"1Ti", 1099511627776, 1099511627776000},
      {"8E", 8000000000000000000, kMax},
      {"1e3", 1000, 1000000},
      {"1E3", 1000, 1000000},
      {"1E", 1000000000000000000, kMax},
      {"12e-1", 2, 1200},
      {"1n", 1, 1},
      {"0.0000000001", 1, 1},
      {"1000000000u", 1000, 1000000},
      {"9223372036854775807", kMax, kMax},
  };
  for (const Row& row : rows) {
    const auto quantity = Quantity::Parse(row.text);
    ASSERT_TRUE(quantity) << row.text;
    EXPECT_EQ(quantity->Value(), row.value) << row.text;
    EXPECT_EQ(quantity->MilliValue(), row.milli) << row.text;
  }
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const char* text :
       {"",    "-",     ".",           "m",   "Mi",   "1K",   "1Xi", "1 Gi",
        " 1",  "1.2.3", "1e",          "1e+", "1ee3", "0x10", "1mm", "9223372036854775808",
        "8Ei", "1e19",  "1e999999999", "nan", "1,5",  "1i"}) {
    EXPECT_FALSE(Quantity::Parse(text)) << text;
  }
  EXPECT_FALSE(Quantity::Parse(std::string(1000, '9')));
}

TEST(GoDuration, ReadsGosSyntax) {
  using namespace std::chrono_literals;
  EXPECT_EQ(ParseGoDuration("0"), Duration(0));
  EXPECT_EQ(ParseGoDuration("0s"), Duration(0));
  EXPECT_EQ(ParseGoDuration("10s"), Duration(10s));
  EXPECT_EQ(ParseGoDuration("1h2m3.5s"), Duration(1h + 2min + 3500ms));
  EXPECT_EQ(ParseGoDuration("-1.5h"), Duration(-90min));
  EXPECT_EQ(ParseGoDuration("+300ms"), Duration(300ms));
  EXPECT_EQ(ParseGoDuration(".5s"), Duration(500ms));
  EXPECT_EQ(ParseGoDuration("5.s"), Duration(5s));
  EXPECT_EQ(ParseGoDuration("1us"), Duration(1us));
  EXPECT_EQ(ParseGoDuration("1\xc2\xb5s"), Duration(1us));
  EXPECT_EQ(ParseGoDuration("7ns"), Duration(7));
  EXPECT_EQ(ParseGoDuration("1.0000000000000000000001s"), Duration(1s));
  for (const char* text : {"", "-", "10", "s", "1.s.", "1x", "1 s", "s1", ".s", "1s2", "1min",
                           "9999999999h", "99999999999999999999s"}) {
    EXPECT_FALSE(ParseGoDuration(text)) << text;
  }
}

YamlNode Plain(const std::string& text) {
  YamlNode node;
  node.kind = YamlKind::kScalar;
  node.plain = true;
  node.text = text;
  return node;
}

TEST(YamlScalar, HasYaml11sTypes) {
  for (const char* text : {"true", "True", "yes", "on", "y"})
    EXPECT_EQ(YamlBool(Plain(text)), true);
  for (const char* text : {"false", "NO", "off", "n"}) EXPECT_EQ(YamlBool(Plain(text)), false);
  EXPECT_FALSE(YamlBool(Plain("tRue")));
  EXPECT_EQ(YamlInteger(Plain("0x1f")), 31);
  EXPECT_EQ(YamlInteger(Plain("010")), 8);
  EXPECT_EQ(YamlInteger(Plain("0b101")), 5);
  EXPECT_EQ(YamlInteger(Plain("1_000")), 1000);
  EXPECT_EQ(YamlInteger(Plain("-9223372036854775808")), std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(YamlInteger(Plain("9223372036854775808")));
  EXPECT_FALSE(YamlInteger(Plain("08")));
  EXPECT_FALSE(YamlInteger(Plain("1.0")));
  EXPECT_EQ(YamlNumber(Plain("1.5e3")), 1500);
  EXPECT_FALSE(YamlNumber(Plain("1.5.3")));
  EXPECT_FALSE(YamlNumber(Plain("1e999")));
  YamlNode quoted = Plain("12");
  quoted.plain = false;
  EXPECT_FALSE(YamlInteger(quoted));
}

// A quote that did not end was accepted where blank lines were the last of a text.
TEST(YamlText, AQuoteEndsBeforeTheText) {
  for (const char* text :
       {"\"a\n", "'a\n", "'a\n\n", "k: \"a\n  \n", "k: 'a\n   ", "[\"a\n", "\"a"}) {
    const auto parsed = ParseYaml(text);
    EXPECT_TRUE(std::holds_alternative<YamlProblem>(parsed)) << text;
  }
}

TEST(YamlText, TheEndOfATextIsNoPartOfAScalar) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"k: a", "a"},
      {"k: a\n", "a"},
      {"k: a\n  b\n", "a b"},
      {"k: 'a'\n", "a"},
      {"k: 'a'\n...\n", "a"},
      {"k: |\n  it's\n", "it's\n"},
      {"k: |+\n  it's\n\n\n", "it's\n\n\n"},
      {"k: it's\n", "it's"},
      {"k: 'a'\n  ", "a"},
      {"k: |\n  a\n", "a\n"},
      {"k: |-\n  a\n", "a"},
      {"k: |+\n  a\n\n\n", "a\n\n\n"},
      {"k: >\n  a\n  b\n", "a b\n"},
      {"--- # c\nk: a\n# c\n", "a"},
  };
  for (const auto& [text, value] : rows) {
    const auto parsed = ParseYaml(text);
    const auto* root = std::get_if<YamlNode>(&parsed);
    ASSERT_TRUE(root != nullptr && root->entries.size() == 1) << text;
    EXPECT_EQ(root->entries[0].value.text, value) << text;
  }
  for (const char* text : {"", "\n", "  ", "# c\n", "# it's\n", "---\n", "...\n"}) {
    const auto parsed = ParseYaml(text);
    const auto* root = std::get_if<YamlNode>(&parsed);
    EXPECT_TRUE(root != nullptr && root->IsNull()) << text;
  }
}

TEST(LabelFilter, WantsAndRefusesLabels) {
  const std::vector<std::string> labels = {"performance", "short"};
  EXPECT_TRUE(LabelFilter("").Accepts(labels));
  EXPECT_TRUE(LabelFilter("").Accepts({}));
  EXPECT_TRUE(LabelFilter("performance").Accepts(labels));
  EXPECT_TRUE(LabelFilter("performance,+short").Accepts(labels));
  EXPECT_FALSE(LabelFilter("performance,-short").Accepts(labels));
  EXPECT_TRUE(LabelFilter("-slow").Accepts(labels));
  EXPECT_FALSE(LabelFilter("perf").Accepts(labels));
  EXPECT_TRUE(LabelFilter(",,short,").Accepts(labels));
}

}  // namespace
}  // namespace schedq
