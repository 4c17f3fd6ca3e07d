// Goal: what `schedq gate` keeps of a commit is a whole program or nothing, whenever a build is
// ended; two gates in one checkout do not disturb each other; a damaged program is built anew.
// Method: a repository whose build links to this program, and sleeps where the environment says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GateCacheTest : public ProgramTest {
 protected:
  void SetUp() override {
    Write("repository/CMakePresets.json",
          R"({"version": 6, "configurePresets": [{"name": "dev", "generator": "Ninja",
              "binaryDir": "${sourceDir}/build/dev"}]})");
    Write("repository/CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.25)\nproject(fake NONE)\n"
          "add_custom_target(schedq COMMAND ${CMAKE_SOURCE_DIR}/link.sh VERBATIM)\n");
    // As a linker that has begun: what is there is no program yet.
    Write("repository/link.sh",
          "#!/bin/sh\necho part > schedq\nsleep ${TEST_LINK_SECONDS:-0}\n"
          "rm -f schedq\nln -s " SCHEDQ_PROGRAM " schedq\n");
    fs::permissions(Path("repository/link.sh"), fs::perms::owner_all);
    const std::string git =
        "git -c user.name=t -c user.email=t@t -c init.defaultBranch=main -c commit.gpgsign=false ";
    Write("gate", "#!/bin/sh\ncd " + Path("repository") +
                      " || exit 9\nexec " SCHEDQ_PROGRAM
                      " gate --base HEAD --engine lockfree --name '^Basic/10'\n");
    fs::permissions(Path("gate"), fs::perms::owner_all);
    const ChildProcess::Ended made =
        RunProgram({"/bin/bash", "-c",
                    "cd " + Path("repository") + " && " + git + "init -q && git add . && " + git +
                        "commit -qm x --no-verify && git rev-parse HEAD"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    base_ = Path("repository/build/gate/") + made.out.substr(0, made.out.size() - 1);
  }
  void TearDown() override { unsetenv("TEST_LINK_SECONDS"); }

  ChildProcess::Ended Gate() const { return RunProgram({Path("gate")}); }
  // The folder beside the kept program, in which a build takes place; empty: there is none.
  std::string Building() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(Path("repository/build/gate"), ignored)) {
      if (entry.path().string().starts_with(base_ + ".building")) return entry.path().string();
    }
    return "";
  }
  bool Links() const { return !Building().empty() && fs::exists(Building() + "/build/dev/schedq"); }
  void WaitForTheLinker() const {
    for (int i = 0; i < 1000 && !Links(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(Links());
  }
  void ExpectAPass(const ChildProcess::Ended& ended) const {
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("semantic: pass"));
    EXPECT_EQ(Building(), "");
  }

  std::string base_;  // Where the commit's program is kept.
};

TEST_F(GateCacheTest, ABuildThatIsKilledWhileItLinksIsNoBase) {
  setenv("TEST_LINK_SECONDS", "100", 1);
  ChildProcess killed({Path("gate")});
  WaitForTheLinker();
  killed.Signal(SIGKILL);
  EXPECT_EQ(killed.Wait().exit_code, 137);
  EXPECT_FALSE(fs::exists(base_));
  unsetenv("TEST_LINK_SECONDS");
  const ChildProcess::Ended next = Gate();
  ExpectAPass(next);
  EXPECT_THAT(next.err, HasSubstr("schedq gate: build "));
  EXPECT_THAT(Gate().err, IsEmpty()) << "nothing to build any more";
}

TEST_F(GateCacheTest, ABuildThatIsInterruptedLeavesNothing) {
  setenv("TEST_LINK_SECONDS", "100", 1);
  ChildProcess interrupted({Path("gate")});
  WaitForTheLinker();
  const auto start = std::chrono::steady_clock::now();
  interrupted.Signal(SIGTERM);
  EXPECT_EQ(interrupted.Wait().exit_code, 143);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2);
  EXPECT_FALSE(fs::exists(base_));
  EXPECT_EQ(Building(), "");
}

TEST_F(GateCacheTest, ADamagedProgramIsBuiltAnew) {
  ExpectAPass(Gate());
  for (const char* damage : {"schedq", "checksum"}) {
    SCOPED_TRACE(damage);
    fs::resize_file(base_ + "/" + damage, 10);
    const ChildProcess::Ended next = Gate();
    ExpectAPass(next);
    EXPECT_THAT(next.err, HasSubstr("schedq gate: build "));
    fs::remove(base_ + "/" + damage);
    EXPECT_THAT(Gate().err, HasSubstr("schedq gate: build "));
  }
  EXPECT_THAT(Gate().err, IsEmpty());
}

TEST_F(GateCacheTest, TwoGatesInOneCheckoutTakeTurns) {
  setenv("TEST_LINK_SECONDS", "1", 1);
  ChildProcess first({Path("gate")});
  WaitForTheLinker();
  const ChildProcess::Ended second = Gate();
  ExpectAPass(second);
  EXPECT_THAT(second.err, HasSubstr("wait for another gate that builds the same commit"));
  EXPECT_THAT(second.err, Not(HasSubstr("schedq gate: build ")));
  ExpectAPass(first.Wait());
}

TEST_F(GateCacheTest, ABuildThatIsNoProgramIsNoBase) {
  Write("repository/link.sh", "#!/bin/sh\necho part > schedq\nchmod +x schedq\n");
  ASSERT_EQ(RunProgram({"/bin/bash", "-c",
                        "cd " + Path("repository") +
                            " && git -c user.name=t -c user.email=t@t -c commit.gpgsign=false "
                            "commit -qam y --no-verify"})
                .exit_code,
            0);
  const ChildProcess::Ended ended = Gate();
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--base "));
  for (const auto& entry : fs::directory_iterator(Path("repository/build/gate"))) {
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  }
}

}  // namespace
}  // namespace schedq
