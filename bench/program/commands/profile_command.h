// `schedq profile`: cost against size, with fitted exponents, and where the time goes.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bench/lab/profile/profile_kind.h"
#include "bench/program/command.h"
#include "engine/base/result.h"
#include "perf/documents/environment.h"
#include "perf/documents/profile_document.h"

namespace schedq {

class ProfileCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // The kind that was asked for, with the subjects that --only leaves.
  Result<ProfileKind> SelectKind() const;
  // Of the library that was named, where the kind can be about its plugin.
  Result<ProfileKind> KindOfPlugin() const;
  Result<std::vector<uint64_t>> Sizes() const;
  Result<ExitCode> RunOnce(const ProfileKind& kind, const std::vector<uint64_t>& sizes) const;
  // What was measured so far. The thread of a LastResort reads it while the measuring goes on.
  struct Record {
    std::mutex mutex;
    ProfileDocument document;
    bool shows_series = true;  // Still to be shown.
  };

  Result<ExitCode> Measure(const ProfileKind& kind, const std::vector<uint64_t>& sizes) const;
  // The series, at all sizes; faults go to stderr. False: there were some.
  Result<bool> MeasureSeries(const ProfileKind& kind, const std::vector<uint64_t>& sizes,
                             Record* record) const;
  // The series and the scenarios.
  Status MeasureAll(const ProfileKind& kind, const std::vector<uint64_t>& sizes, Record* record,
                    bool* is_right) const;
  void Play(const ProfileKind& kind, Record* record) const;
  void ShowSeries(const ProfileDocument& document, const ProfileKind& kind) const;
  // The scenarios, the machine and the file.
  Status Finish(const EnvironmentRecorder& recorder, bool is_whole,
                ProfileDocument* document) const;
  // All of it from another thread, for work that does not end.
  void FinishUnended(const ProfileKind& kind, const EnvironmentRecorder& recorder,
                     Record* record) const;

  std::string kind_;
  std::string only_;
  std::string plugin_;  // A shared library; empty: none.
  std::vector<uint64_t> sizes_;
  uint64_t rounds_ = 0;
  double limit_seconds_ = 5;
  uint64_t seed_ = 1;
  bool counts_instructions_ = false;
  bool is_quick_ = false;
  bool is_wide_ = false;
  bool runs_once_ = false;
  uint64_t operations_max_ = 0;
  std::string memory_;
  uint64_t memory_bytes_max_ = 0;
  std::string json_path_;
};

}  // namespace schedq
