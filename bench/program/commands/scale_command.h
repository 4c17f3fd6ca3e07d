// `schedq scale`: counts what operations move between cores, and predicts the throughput of up to
// 128 threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bench/lab/scale/scale_path.h"
#include "bench/program/command.h"
#include "engine/base/result.h"
#include "perf/documents/environment.h"
#include "perf/documents/scale_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {

class ScaleCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // What was drawn so far, which the last resort shows.
  struct Record {
    std::mutex mutex;
    ScaleDocument document;
  };

  Result<std::vector<scale::ScaleContestant>> Select() const;
  std::vector<Measurement> MeasureFloor() const;
  void Draw(const std::vector<scale::ScaleContestant>& contestants, Record* record) const;
  // Shows and writes what was drawn.
  Status Finish(const EnvironmentRecorder& recorder, bool is_whole, Record* record) const;

  std::string pattern_;
  std::string json_path_;
  uint64_t seed_ = 1;
  bool is_quick_ = false;
  bool is_wide_ = false;
  bool lists_ = false;
};

}  // namespace schedq
