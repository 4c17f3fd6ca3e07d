// Options and expectations that model tests share.
// Threads: the test's own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/support/model/explore.h"

namespace schedq::model {

// The defaults, with the name of the running test and `suffix` as the exploration's name. A test
// with several explorations gives each a suffix, so that a replay finds one.
inline Options OptionsOfTest(const std::string& suffix = "") {
  Options options;
  options.name = testing::UnitTest::GetInstance()->current_test_info()->name() + suffix;
  return options;
}

// Expects that every schedule passed. An exploration that explores nothing passes as well, so a
// test also states the least number of schedules.
inline void ExpectExhausted(const Report& report, uint64_t schedules_min) {
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_GE(report.schedules, schedules_min) << report;
}

// Expects that all threads finished however one of them was frozen, at `freezes_min` steps or more.
inline void ExpectNoStall(const Report& report, uint64_t freezes_min) {
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_GE(report.freezes, freezes_min) << report;
}

}  // namespace schedq::model
