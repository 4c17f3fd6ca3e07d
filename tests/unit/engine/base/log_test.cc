// Goal: a line is written whole when its level is on, and nothing is evaluated when it is off.
// Method: standard error is captured; arguments count their evaluations.
#include "engine/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/result.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class LogTest : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("SCHEDQ_LOG");
    SetLogLevel(LogLevel::kWarning);
  }
};

TEST_F(LogTest, ArgumentsOfALineThatIsOffAreNotEvaluated) {
  int evaluated = 0;
  SetLogLevel(LogLevel::kError);
  testing::internal::CaptureStderr();
  SCHEDQ_LOG(kWarning, "{}", ++evaluated);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(evaluated, 0);
  testing::internal::CaptureStderr();
  SCHEDQ_LOG(kError, "{} of {}", ++evaluated, "these");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              MatchesRegex("schedq: error: 1 of these \\(log_test.cc:[0-9]+\\)\n"));
}

TEST_F(LogTest, TheEnvironmentSetsTheLevel) {
  setenv("SCHEDQ_LOG", "debug", 1);
  EXPECT_TRUE(SetLogLevelFromEnvironment().ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kDebug));
  setenv("SCHEDQ_LOG", "off", 1);
  EXPECT_TRUE(SetLogLevelFromEnvironment().ok());
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  setenv("SCHEDQ_LOG", "loud", 1);
  const Status status = SetLogLevelFromEnvironment();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), HasSubstr("\"loud\", expected off, error"));
  EXPECT_TRUE(LogEnabled(LogLevel::kWarning));
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
}

TEST_F(LogTest, LinesOfManyThreadsDoNotMix) {
  SetLogLevel(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int i = 0; i < 50; ++i) SCHEDQ_LOG(kInfo, "{}", std::string(100, 'a' + thread));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(testing::internal::GetCapturedStderr());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_THAT(line, MatchesRegex("schedq: info: (a+|b+|c+|d+) \\(log_test.cc:[0-9]+\\)"));
    ASSERT_EQ(std::count(line.begin(), line.end(), ' '), 3);
  }
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace schedq
