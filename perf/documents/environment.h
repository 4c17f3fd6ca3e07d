// The machine and the build that a number comes from.
//
// Purpose: everything that may differ between two identical virtual runs is in one Environment; the
// rest of a document is byte-identical for one seed.
// Threads: pure data; the readers may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/base/time/time.h"

namespace schedq {

struct Machine {
  std::string architecture;  // "x86_64"
  std::string cpu_model;     // As /proc/cpuinfo names it, else "unknown".
  uint64_t cores = 0;        // Logical cores that this process may use.
  uint64_t memory_bytes = 0;
  std::string kernel;    // "Linux 6.1.0-18-amd64"
  std::string governor;  // The first core's; empty where it is not readable.
  bool virtual_machine = false;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("architecture", self.architecture, "Instruction set, as uname names it.");
    archive.Field("cpu_model", self.cpu_model, "The processor's name.");
    archive.Field("cores", self.cores, "Logical cores that the process may use.");
    archive.Field("memory_bytes", self.memory_bytes, "Installed memory.");
    archive.Field("kernel", self.kernel, "Kernel and its release.");
    archive.Optional("governor", self.governor, "Frequency governor, where it is readable.");
    archive.Field("virtual_machine", self.virtual_machine, "Whether a hypervisor is underneath.");
  }
};

struct Build {
  std::string version;   // "0.1.0"
  std::string commit;    // With "-dirty" when tracked files differ from it; "unknown" without git.
  std::string compiler;  // "GNU 12.2.0"
  std::string flags;     // The flags of every translation unit.
  std::string type;      // "Release"
  std::string allocator;
  std::map<std::string, std::string> libraries;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("version", self.version, "The product's version.");
    archive.Field("commit", self.commit, "Commit; -dirty when tracked files differ from it.");
    archive.Field("compiler", self.compiler, "Compiler and its version.");
    archive.Field("flags", self.flags, "Flags of every translation unit.");
    archive.Field("type", self.type, "Build type.");
    archive.Field("allocator", self.allocator, "The allocator that the process runs on.");
    archive.Field("libraries", self.libraries, "Versions of the libraries that are linked.");
  }
};

struct Environment {
  Machine machine;
  Build build;
  std::string command;   // The command line.
  std::string started;   // RFC3339, UTC.
  std::string finished;  // RFC3339, UTC.
  double wall_seconds = 0;
  uint64_t resident_bytes_max = 0;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("machine", self.machine, "The machine.");
    archive.Field("build", self.build, "The build.");
    archive.Field("command", self.command, "The command line.");
    archive.Field("started", self.started, "Wall clock at the start, RFC3339.");
    archive.Field("finished", self.finished, "Wall clock at the end, RFC3339.");
    archive.Field("wall_seconds", self.wall_seconds, "Wall time of the whole command.");
    archive.Field("resident_bytes_max", self.resident_bytes_max, "Peak resident memory.");
  }
};

// `root` is put before /proc and /sys, so that tests can supply them.
Machine ReadMachine(const std::string& root = "");
Build ReadBuild();

// The text of `--version`, one fact a line.
std::string VersionText(const Build& build);

// The constructor records the machine, the build and the start; Finish adds the rest.
class EnvironmentRecorder {
 public:
  explicit EnvironmentRecorder(std::string command);
  Environment Finish() const;

 private:
  Environment environment_;
  MonotonicTime started_at_;
};

}  // namespace schedq
