// Goal: expressions choose by name, and none of any content hangs or crashes.
// Method: small expressions with known answers; the expressions that std::regex does not survive.
#include "perf/text/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "engine/base/result.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::Not;

bool Finds(const std::string& expression, const std::string& text) {
  const Result<Pattern> pattern = Pattern::Parse(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.error().message();
  return pattern.ok() && pattern->IsFoundIn(text);
}

std::string Refusal(const std::string& expression) {
  const Result<Pattern> pattern = Pattern::Parse(expression);
  return pattern ? "accepted" : pattern.error().message();
}

TEST(Pattern, FindsAPartOfTheText) {
  EXPECT_TRUE(Finds("", "Basic/10Nodes"));
  EXPECT_TRUE(Finds("sic/1", "Basic/10Nodes"));
  EXPECT_TRUE(Finds("^Basic/.*Nodes$", "Basic/10Nodes"));
  EXPECT_TRUE(Finds("a|10", "Basic/10Nodes"));
  EXPECT_FALSE(Finds("^asic", "Basic/10Nodes"));
  EXPECT_FALSE(Finds("basic", "Basic/10Nodes"));
  EXPECT_TRUE(Finds("(?i)basic", "Basic/10Nodes"));
  EXPECT_TRUE(Finds("\\d+[[:alpha:]]{5}", "Basic/10Nodes"));
}

TEST(Pattern, RefusesWhatIsNoneInOneLine) {
  EXPECT_EQ(Refusal("("), "'(': missing ), expected a regular expression (RE2)");
  EXPECT_EQ(Refusal("a**["),
            "'a**[': bad repetition operator, expected a regular expression (RE2)");
  EXPECT_THAT(Refusal("(a)\\1"), HasSubstr("invalid escape sequence"));
  EXPECT_THAT(Refusal("(?=a)"), HasSubstr("expected a regular expression"));
  EXPECT_THAT(Refusal("\xff"), HasSubstr("'\\xff': invalid UTF-8"));
  EXPECT_THAT(Refusal("(\n\x1b["), Not(HasSubstr("\n")));
  EXPECT_LT(Refusal(std::string(1'000'000, '(')).size(), 200u);
}

// std::regex takes a time that doubles with each letter, and recurses once a letter.
TEST(Pattern, AnswersAtOnceWhereABacktrackingMatcherDoesNot) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string letters(60'000, 'a');
  EXPECT_FALSE(Finds("^(a+)+$", letters + "!"));
  EXPECT_FALSE(Finds("^(a|aa)+$", letters + "!"));
  EXPECT_FALSE(Finds("(.*a){12}b", letters));
  EXPECT_TRUE(Finds(std::string(20'000, '(') + std::string(20'000, ')'), letters));
  EXPECT_THAT(Refusal(std::string(20'000, '(')), HasSubstr("expected a regular expression"));
  EXPECT_THAT(Refusal("((a{1000}){1000}){1000}"), HasSubstr("expected a regular expression"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Pattern, OfExactlyFindsThisTextAndNoOther) {
  const std::string name = "Basic(1)/10+Nodes.[x]|$ '";
  EXPECT_TRUE(Finds(PatternOfExactly(name), name));
  EXPECT_FALSE(Finds(PatternOfExactly(name), name + "x"));
  EXPECT_FALSE(Finds(PatternOfExactly(name), "x" + name));
  EXPECT_FALSE(Finds(PatternOfExactly("a.c"), "abc"));
  // What stands in a reproducing command stays readable.
  EXPECT_EQ(PatternOfExactly("Basic/10Nodes_50Pods"), "^Basic/10Nodes_50Pods$");
}

}  // namespace
}  // namespace schedq
