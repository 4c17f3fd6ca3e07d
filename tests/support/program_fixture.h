// A test that runs the built program in a folder of its own, as a user would.
//
// Purpose: what the tests of commands share: files to hand in, scripts that stand for other
// programs, and what holds for every refusal.
// When not to use it: for what a library's interface allows to test; see child_process.h.
// Threads: the test's own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "perf/files/temporary_folder.h"
#include "tests/support/child_process.h"

namespace schedq {

class ProgramTest : public testing::Test {
 protected:
  // Of a file in the test's folder, which its end removes.
  std::string Path(const std::string& name) const { return folder_.File(name); }
  const std::string& Folder() const { return folder_.path(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  // A program that is not this build.
  std::string Script(const std::string& name, const std::string& body) const {
    std::string path = Write(name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  static ChildProcess::Ended Schedq(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SCHEDQ_PROGRAM);
    return RunProgram(arguments);
  }
  static ChildProcess::Ended Shell(const std::string& command) {
    return RunProgram({"/bin/bash", "-c", command});
  }

  static void ExpectOneLine(const std::string& text) {
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }
  // One line that holds `expected`, exit code 2, and no result.
  static void ExpectRefused(const std::vector<std::string>& arguments,
                            const std::string& expected) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const ChildProcess::Ended ended = Schedq(arguments);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.out, testing::IsEmpty());
    EXPECT_THAT(ended.err, testing::StartsWith("schedq"));
    EXPECT_THAT(ended.err, testing::HasSubstr(expected));
    ExpectOneLine(ended.err);
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

}  // namespace schedq
