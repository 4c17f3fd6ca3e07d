// Goal: a command refuses files that it could not write, or that would replace each other or what
// it reads, before it does any work.
// Method: runs the built program with such names, in several spellings, and looks at its files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "perf/files/file_io.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

const std::string kWorkload =
    "- name: Case\n  workloadTemplate:\n  - {opcode: createNodes, count: 3}\n"
    "  - {opcode: createPods, count: 30, podTemplatePath: pod.yaml, collectMetrics: true}\n"
    "  workloads:\n  - name: W\n";
const std::string kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  containers: [{name: c, image: i}]\n";

class NamedFilesTest : public ProgramTest {
 protected:
  void SetUp() override {
    Write("pod.yaml", kPod);
    workload_ = Write("w.yaml", kWorkload);
    fs::create_directory(Path("folder"));
    fs::create_symlink("folder", Path("same"));
  }

  std::string workload_;
};

// The run was measured first, and its results were lost.
TEST_F(NamedFilesTest, AFolderThatCannotBeMadeIsRefused) {
  fs::create_symlink("nowhere", Path("link"));
  fs::create_symlink("loop", Path("loop"));
  for (const char* name : {"link", "link/inside/it", "loop"}) {
    ExpectRefused({"run", workload_, "--out", Path(name)}, "links to nothing");
  }
  ExpectRefused({"run", workload_, "--out", Path("link"), "--engine", "both"}, "links to nothing");
  ExpectRefused({"run", workload_, "--record", Path("link/x.jsonl")}, "links to nothing");
  ExpectRefused({"man", "--out", Path("link")}, "links to nothing");
  ExpectRefused({"man", "--out", workload_}, "expected a folder");
  ExpectRefused({"run", workload_, "--out", workload_}, "expected a folder");
  Write("taken/metrics", "");
  ExpectRefused({"run", workload_, "--out", Path("taken")}, "taken/metrics: cannot be written");
  Write("other/classic", "");
  ExpectRefused({"run", workload_, "--out", Path("other"), "--engine", "both"},
                "other/classic/metrics: cannot be written");
  EXPECT_FALSE(fs::exists(Path("nowhere")));
  EXPECT_EQ(fs::file_size(Path("other/classic")), 0u);
}

TEST_F(NamedFilesTest, TwoOutputsOfOneNameAreRefused) {
  const std::string results = Path("folder/results.json");
  for (const std::string& spelling :
       {results, Path("same/results.json"), Path("folder/../folder/./results.json")}) {
    ExpectRefused({"run", workload_, "--out", Path("folder"), "--record", spelling},
                  "is the file of --record as well; expected two files");
  }
  for (const std::string& name : {Path("folder/x"), Path("same/x")}) {
    ExpectRefused({"gate", "--base", "/nowhere", "--junit", Path("folder/x"), "--markdown", name},
                  "is the file of --junit as well");
    ExpectRefused(
        {"bench", "--quick", "pod_life", "--json", Path("folder/x"), "--benchmark_out=" + name},
        "is the file of --json as well");
  }
  EXPECT_TRUE(fs::is_empty(Path("folder")));
  // A name that exists, by two links to one file.
  Write("folder/x", "old");
  fs::create_symlink("folder/x", Path("y"));
  ExpectRefused({"gate", "--base", "/", "--junit", Path("y"), "--markdown", Path("folder/x")},
                "is the file of --junit as well");
  // A device replaces nothing.
  const ChildProcess::Ended both =
      Schedq({"gate", "--base", Path("folder"), "--junit", "/dev/null", "--markdown", "/dev/null"});
  EXPECT_THAT(both.err, testing::Not(testing::HasSubstr("as well")));
}

TEST_F(NamedFilesTest, AnOutputThatIsAnInputIsRefused) {
  ExpectRefused({"run", workload_, "--record", workload_}, "is read as input");
  ExpectRefused({"run", workload_, "--record", Path("./w.yaml")}, "is read as input");
  ExpectRefused({"run", workload_, "--record", Path("pod.yaml")}, "is read as input");
  const std::string costs = Path("costs.yaml");
  Write("costs.yaml", "name: mine\n");
  fs::create_symlink("costs.yaml", Path("link.yaml"));
  EXPECT_EQ(Schedq({"run", workload_, "--out", Path("base"), "--engine", "lockfree"}).exit_code, 0);
  for (const std::string& name : {Path("base/results.json"), Path("base/gate.json")}) {
    ExpectRefused({"gate", "--base", Path("base"), "--new", Path("base"), "--junit", name},
                  "is read as --base");
    ExpectRefused({"gate", "--base", SCHEDQ_PROGRAM, "--new", Path("base"), "--markdown", name},
                  "is read as --new");
  }
  ExpectRefused({"gate", "--base", Script("program", "true"), "--junit", Path("program")},
                "is read as --base");
  EXPECT_EQ(*ReadWholeFile(workload_), kWorkload);
  EXPECT_EQ(*ReadWholeFile(Path("pod.yaml")), kPod);
  // Beside the results it is read by nobody.
  const ChildProcess::Ended beside = Schedq(
      {"gate", "--base", Path("base"), "--new", Path("base"), "--junit", Path("base/gate.xml")});
  EXPECT_EQ(beside.exit_code, 0) << beside.err;
}

}  // namespace
}  // namespace schedq
