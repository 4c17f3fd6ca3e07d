// Goal: expressions keep the values on which another implementation of CEL agreed.
// Method: the committed sample, each line of which holds an expression and its value.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "tests/support/cel_text.h"

namespace schedq {
namespace {

TEST(CelSample, KeepsItsValues) {
  std::ifstream sample(SCHEDQ_CEL_SAMPLE);
  size_t lines = 0;
  size_t errors = 0;
  for (std::string line; std::getline(sample, line); ++lines) {
    const size_t tab = line.rfind('\t');
    ASSERT_NE(tab, std::string::npos) << "line " << lines + 1;
    const std::string value = CelTextOf(line.substr(0, tab));
    const bool error = value.rfind("error: ", 0) == 0;
    errors += error ? 1 : 0;
    EXPECT_EQ(error ? "error" : value, line.substr(tab + 1)) << line;
  }
  EXPECT_GT(lines, 400u);
  EXPECT_GT(lines, 2 * errors) << "most lines have a value";
}

}  // namespace
}  // namespace schedq
