// Goal: quantities and versions are read, ordered and added as Kubernetes does it.
// Method: tables of texts with what they are, directly and through expressions.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"
#include "tests/support/cel_text.h"

namespace schedq {
namespace {

ExactQuantity Read(const std::string& text) {
  const auto quantity = ExactQuantity::Parse(text);
  EXPECT_TRUE(quantity.has_value()) << text;
  return quantity.value_or(ExactQuantity());
}

TEST(ExactQuantity, EqualsWhatIsWrittenOtherwise) {
  const std::pair<const char*, const char*> rows[] = {
      {"1", "1000m"},      {"1k", "1e3"},          {"1Ki", "1024"},   {"0.5Gi", "512Mi"},
      {"1.5Gi", "1536Mi"}, {"1E3", "1000"},        {"1E", "1e18"},    {".5", "500m"},
      {"5.", "5"},         {"-1500m", "-1.5"},     {"+4", "4"},       {"0.0009765625Ki", "1"},
      {"1e-9", "1n"},      {"0.0000000001", "1n"}, {"8192Pi", "8Ei"}, {"-0.1n", "-1n"},
      {"00010", "10"},     {"1e+2", "100"}};
  for (const auto& [left, right] : rows) {
    EXPECT_EQ(Read(left).Compare(Read(right)), 0) << left << " and " << right;
  }
}

TEST(ExactQuantity, OrdersBySize) {
  const char* const rising[] = {"-1Gi", "-1",  "-1n", "0",   "1n", "1m",  "999m", "1",
                                "1k",   "1Ki", "1M",  "1Mi", "1G", "1Gi", "1Ei",  "1e28"};
  for (size_t i = 0; i + 1 < std::size(rising); ++i) {
    EXPECT_LT(Read(rising[i]).Compare(Read(rising[i + 1])), 0) << rising[i];
    EXPECT_GT(Read(rising[i + 1]).Compare(Read(rising[i])), 0) << rising[i];
  }
}

TEST(ExactQuantity, RefusesOtherTexts) {
  for (const char* text : {"", "-", ".", "abc", "1K", "1kk", "1Kib", "1 Gi", " 1", "1e", "1e1.5",
                           "--1", "1..2", "1e99999999999", "0x1", "1_000", "1 "}) {
    EXPECT_FALSE(ExactQuantity::Parse(text).has_value()) << text;
  }
}

TEST(ExactQuantity, SaturatesInsteadOfOverflowing) {
  const ExactQuantity huge = Read("1e40");
  EXPECT_EQ(huge.Compare(Read("1e30")), 0);
  EXPECT_EQ(huge.Plus(huge).Compare(huge), 0);
  EXPECT_EQ(Read("-1e40").Minus(huge).Compare(Read("-1e40")), 0);
  EXPECT_EQ(Read("9999999Ei").Value(), INT64_MAX) << "binary suffixes end at 2^63-1";
  EXPECT_EQ(huge.Value(), INT64_MAX);
}

TEST(ExactQuantity, IsAnIntegerWhereTheApiServerHoldsOne) {
  const std::pair<const char*, std::optional<int64_t>> rows[] = {{"50k", 50000},
                                                                 {"1Gi", 1073741824},
                                                                 {"1000m", std::nullopt},
                                                                 {"1.5Gi", std::nullopt},
                                                                 {"1e40", std::nullopt},
                                                                 {"0", 0},
                                                                 {"-3", -3},
                                                                 {"1.0", std::nullopt}};
  for (const auto& [text, integer] : rows) EXPECT_EQ(Read(text).Integer(), integer) << text;
}

TEST(SemanticVersion, OrdersAsSemverDoes) {
  const char* const rising[] = {"1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
                                "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
                                "1.0.1",        "1.2.0",         "1.10.0",           "2.0.0"};
  for (size_t i = 0; i + 1 < std::size(rising); ++i) {
    const auto left = SemanticVersion::Parse(rising[i]);
    const auto right = SemanticVersion::Parse(rising[i + 1]);
    ASSERT_TRUE(left && right) << rising[i];
    EXPECT_LT(left->Compare(*right), 0) << rising[i];
    EXPECT_GT(right->Compare(*left), 0) << rising[i];
  }
  EXPECT_EQ(SemanticVersion::Parse("1.0.0+a")->Compare(*SemanticVersion::Parse("1.0.0+b")), 0);
}

TEST(SemanticVersion, RefusesOtherTexts) {
  for (const char* text : {"", "1", "1.2", "01.0.0", "1.0.0.0", "v1.0.0", "1.0.0-", "1.0.0-01",
                           "1.0.0-a..b", "1.0.0+", "1.0.x", "99999999999999999999.0.0"}) {
    EXPECT_FALSE(SemanticVersion::Parse(text).has_value()) << text;
  }
}

TEST(SemanticVersion, ToleratesShortForms) {
  const std::pair<const char*, const char*> rows[] = {{"v1", "1.0.0"},
                                                      {"1.2", "1.2.0"},
                                                      {"01.02.03", "1.2.3"},
                                                      {"v1.0.0-rc.1", "1.0.0-rc.1"},
                                                      {"000", "0.0.0"}};
  for (const auto& [text, meant] : rows) {
    const auto version = SemanticVersion::ParseTolerant(text);
    ASSERT_TRUE(version.has_value()) << text;
    EXPECT_EQ(version->text(), meant);
  }
  EXPECT_FALSE(SemanticVersion::ParseTolerant("1.0-rc").has_value());
}

TEST(CelKubernetes, ComparesAndAddsQuantities) {
  const std::pair<const char*, const char*> rows[] = {
      {"quantity('1Gi').isGreaterThan(quantity('1G'))", "true"},
      {"quantity('1G').isLessThan(quantity('1Gi'))", "true"},
      {"quantity('1k').compareTo(quantity('1000'))", "0"},
      {"quantity('1k') == quantity('1000')", "true"},
      {"quantity('5k').add(quantity('1k')).sub(500).asInteger()", "5500"},
      {"quantity('5').add(3).isInteger() && sign(quantity('-5')) == -1", "true"},
      {"quantity('1500m').asApproximateFloat()", "1.5e+00"},
      {"quantity('1500m').asInteger()", "error: cannot convert value to integer"},
      {"isQuantity('12') && !isQuantity('twelve')", "true"},
      {"quantity('twelve')", "error: not a quantity: twelve"},
      {"dyn(quantity('1')) == 1", "error: no such overload: _==_(kubernetes.Quantity, int)"},
      {"dyn(1) == quantity('1')", "false"},
      {"semver('1.10.0').isGreaterThan(semver('1.9.9'))", "true"},
      {"semver('v1.2', true).minor() + semver('3.4.5').patch() + semver('6.0.0').major()", "13"},
      {"semver('1.0.0').compareTo(semver('1.0.1'))", "-1"},
      {"isSemver('1.0') || !isSemver('1.0', true)", "false"},
      {"semver('1')", "error: not a semantic version: 1"},
      {"['1.0.0', '2.0.0'].map(x, semver(x)).all(v, v.isLessThan(semver('3.0.0')))", "true"},
      {"semver('1.0.0') == semver('1.0.0+x')", "true"}};
  for (const auto& [expression, value] : rows)
    EXPECT_EQ(CelTextOf(expression), value) << expression;
}

}  // namespace
}  // namespace schedq
