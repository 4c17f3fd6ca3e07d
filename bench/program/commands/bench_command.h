// `schedq bench`: runs micro-benchmarks with their rivals, prints a table for each group and writes
// bench.json. With --bars, one table of what the product is held to, and bars.json.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bench/lab/micro/benchmark_driver.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/program/command.h"
#include "bench/program/commands/benchmark_flags.h"
#include "engine/base/result.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/environment.h"

namespace schedq {

class BenchCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // Selected cases of one group, which run together.
  using Group = std::vector<BenchmarkCase>;

  Result<BenchmarkFlags> ReadFlags() const;
  Result<std::vector<Group>> Select(const BenchmarkFlags& flags) const;
  // What was measured so far. The thread of a LastResort reads it while the measuring goes on.
  struct Record {
    std::mutex mutex;
    BenchDocument document;
    BarsDocument bars;
    std::string mirror;  // google-benchmark's own JSON of what has ended.
    std::vector<std::string> faults;
  };

  Result<ExitCode> MeasureTheBars(const BenchmarkFlags& flags);
  Status FinishBars(const EnvironmentRecorder& recorder, bool is_whole, Record* record) const;
  BenchmarkRunOptions OptionsOf(const BenchmarkFlags& flags, uint64_t rounds) const;
  Result<ExitCode> Measure(const std::vector<Group>& groups, const BenchmarkFlags& flags);
  // Each group, shown when it has ended.
  void MeasureGroups(const std::vector<Group>& groups, const BenchmarkRunOptions& options,
                     bool has_mirror, Record* record) const;
  // The summary and the files.
  Status Finish(const EnvironmentRecorder& recorder, const std::string& mirror_path, bool is_whole,
                Record* record) const;

  CLI::App* app_ = nullptr;
  std::string pattern_;
  bool lists_ = false;
  bool shows_bars_ = false;
  std::string json_path_;
  bool is_quick_ = false;
  bool is_wide_ = false;
  uint64_t seed_ = 1;
};

}  // namespace schedq
