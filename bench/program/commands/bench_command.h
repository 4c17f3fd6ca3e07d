// `schedq bench`: runs micro-benchmarks with their rivals, prints a table for each group and writes
// bench.json. With --bars, one table of what the product is held to, and bars.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/lab/micro/benchmark_driver.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/program/command.h"
#include "bench/program/commands/benchmark_flags.h"
#include "engine/base/result.h"

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
  Result<ExitCode> MeasureTheBars(const BenchmarkFlags& flags);
  BenchmarkRunOptions OptionsOf(const BenchmarkFlags& flags, uint64_t rounds) const;
  Result<ExitCode> Measure(const std::vector<Group>& groups, const BenchmarkFlags& flags);

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
