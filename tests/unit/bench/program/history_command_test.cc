// Goal: what gates store is drawn by `schedq history`, with the commits of a change, and goes to
// and from Otava's CSV; what is wrong is refused in one line.
// Method: runs the built program as continuous integration would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "perf/files/file_io.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HistoryCommandTest : public ProgramTest {
 protected:
  // Twenty commits, of which the last ten are slower.
  std::string Csv() const {
    std::string text = "time,commit,Basic\n";
    for (int i = 0; i < 20; ++i) {
      text += "2026-01-01T00:00:00Z,c" + std::to_string(i) + ',' +
              std::to_string((i < 10 ? 300 : 250) + i % 4) + '\n';
    }
    return Write("old.csv", text);
  }
};

TEST_F(HistoryCommandTest, WhatGatesStoreIsDrawn) {
  for (int i = 0; i < 2; ++i) {
    const ChildProcess::Ended gate =
        Schedq({"gate", "--base", SCHEDQ_PROGRAM, "--engine", "classic", "--name", "^Basic/10",
                "--store", Path("figures")});
    ASSERT_EQ(gate.exit_code, 0) << gate.err;
  }
  const ChildProcess::Ended ended = Schedq({"history", Path("figures"), "--wide"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("1 series, 0 changes\n"));
  EXPECT_THAT(ended.out, HasSubstr("classic Basic/10Nodes_50Pods/"));
}

TEST_F(HistoryCommandTest, OtavasFilesGoInAndOut) {
  const ChildProcess::Ended from_file = Schedq({"history", Csv()});
  EXPECT_EQ(from_file.exit_code, 0) << from_file.err;
  EXPECT_THAT(from_file.out, HasSubstr("Basic: -16.3 %"));
  EXPECT_THAT(from_file.out, HasSubstr("\n  in c9..c10\n"));
  const ChildProcess::Ended imported =
      Schedq({"history", Path("store"), "--import", Csv(), "--export", Path("new.csv")});
  EXPECT_EQ(imported.out, from_file.out) << imported.err;
  EXPECT_EQ(*ReadWholeFile(Path("new.csv")), *ReadWholeFile(Csv()));
}

TEST_F(HistoryCommandTest, WhatIsWrongIsRefused) {
  ExpectRefused({"history", Path("absent.csv")}, "absent.csv");
  ExpectRefused({"history", Folder()}, "history.jsonl");
  ExpectRefused({"history", Csv(), "--metric", "nothing"}, "that --metric finds");
  ExpectRefused({"history", Csv(), "--import", Csv()}, "expected a folder");
  ExpectRefused({"history", Csv(), "--significance", "0.00001"}, "--significance");
  Write("bad/history.jsonl", "{\n");
  ExpectRefused({"history", Path("bad")}, "history.jsonl:1: ");
}

}  // namespace
}  // namespace schedq
