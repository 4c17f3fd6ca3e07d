// Goal: machine and build are described by the system's own files, and an unreadable file leaves a
// field unknown instead of wrong.
// Method: a made-up /proc and /sys; the real system for fields without a file.
#include "perf/documents/environment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "perf/files/file_io.h"

namespace schedq {
namespace {

TEST(PerfEnvironment, MachineFromFiles) {
  const std::string root =
      (std::filesystem::temp_directory_path() / "schedq_perf_environment_test").string();
  const std::string governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
  ASSERT_TRUE(WriteFileAtomically(root + "/proc/cpuinfo",
                                  "processor\t: 0\nmodel name\t: Some CPU @ 3.0GHz\n"
                                  "flags\t\t: fpu hypervisor avx2\n\nprocessor\t: 1\n"
                                  "model name\t: Another\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomically(root + "/proc/meminfo",
                                  "MemTotalish: 1 kB\nMemTotal:       2048 kB\nMemFree: 5 kB\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomically(root + governor, "performance\n").ok());
  const Machine machine = ReadMachine(root);
  std::filesystem::remove_all(root);
  EXPECT_EQ(machine.cpu_model, "Some CPU @ 3.0GHz");
  EXPECT_TRUE(machine.virtual_machine);
  EXPECT_EQ(machine.memory_bytes, 2048u * 1024);
  EXPECT_EQ(machine.governor, "performance");
}

TEST(PerfEnvironment, UnreadableFilesLeaveUnknowns) {
  const Machine machine = ReadMachine("/nonexistent");
  EXPECT_EQ(machine.cpu_model, "unknown");
  EXPECT_EQ(machine.memory_bytes, 0u);
  EXPECT_EQ(machine.governor, "");
  EXPECT_FALSE(machine.virtual_machine);
  EXPECT_GE(machine.cores, 1u);
  EXPECT_FALSE(machine.architecture.empty());
  EXPECT_TRUE(machine.kernel.starts_with("Linux "));
}

TEST(PerfEnvironment, BuildIsFilledIn) {
  const Build build = ReadBuild();
  EXPECT_FALSE(build.version.empty());
  EXPECT_FALSE(build.commit.empty());
  EXPECT_FALSE(build.compiler.empty());
  EXPECT_TRUE(build.libraries.contains("fmt"));
  EXPECT_TRUE(build.libraries.contains("nlohmann-json"));
  EXPECT_TRUE(build.allocator.starts_with("glibc ") || build.allocator.starts_with("jemalloc "));
  const std::string text = VersionText(build);
  EXPECT_TRUE(text.starts_with("schedq " + build.version + "\ncommit: " + build.commit + "\n"));
}

TEST(PerfEnvironment, TheRecorderMeasuresTheCommand) {
  const EnvironmentRecorder recorder("schedq floor");
  const Environment environment = recorder.Finish();
  EXPECT_EQ(environment.command, "schedq floor");
  EXPECT_LE(environment.started.substr(0, 19), environment.finished.substr(0, 19));
  EXPECT_GE(environment.wall_seconds, 0);
  EXPECT_GT(environment.resident_bytes_max, 0u);
}

}  // namespace
}  // namespace schedq
