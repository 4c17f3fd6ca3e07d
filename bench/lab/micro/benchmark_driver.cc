#include "bench/lab/micro/benchmark_driver.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "bench/interrupt.h"

namespace schedq {
namespace {

// Collects the runs that google-benchmark reports, and passes them to the mirror.
class RunCollector : public benchmark::BenchmarkReporter {
 public:
  RunCollector(benchmark::BenchmarkReporter* mirror, bool& mirror_is_open)
      : mirror_(mirror), mirror_is_open_(mirror_is_open) {}

  bool ReportContext(const Context& context) override {
    if (mirror_ == nullptr || mirror_is_open_) return true;
    mirror_is_open_ = true;
    return mirror_->ReportContext(context);
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    if (mirror_ != nullptr) mirror_->ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) runs_.push_back(run);
    }
  }

  const std::vector<Run>& runs() const { return runs_; }

 private:
  benchmark::BenchmarkReporter* mirror_;
  bool& mirror_is_open_;
  std::vector<Run> runs_;
};

}  // namespace

BenchmarkDriver::BenchmarkDriver(const BenchmarkRunOptions& options, std::ostream* mirror)
    : options_(options), order_(options.seed) {
  if (mirror == nullptr) return;
  mirror_ = std::make_unique<benchmark::JSONReporter>();
  mirror_->SetOutputStream(mirror);
  mirror_->SetErrorStream(mirror);
}

BenchmarkDriver::~BenchmarkDriver() {
  if (mirror_is_open_) mirror_->Finalize();
}

BenchCase BenchmarkDriver::RunGroup(const std::vector<BenchmarkCase>& cases,
                                    const Progress& progress) {
  BenchCase result;
  result.name = cases.front().group;
  result.topology = cases.front().topology;
  result.unit = cases.front().unit;
  result.parameters = cases.front().parameters;
  for (const BenchmarkCase& one : cases) {
    BenchContender contender;
    contender.name = one.contestant;
    contender.role = one.role;
    contender.anchor = one.anchor_ns;
    if (one.counters) contender.counters = one.counters();
    result.contenders.push_back(std::move(contender));
  }
  std::vector<size_t> turns(cases.size());
  std::iota(turns.begin(), turns.end(), 0);
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t round = 1; round <= options_.rounds; ++round) {
    const bool is_late = options_.group_time_max &&
                         std::chrono::steady_clock::now() - start >= *options_.group_time_max;
    if (is_late && round > options_.rounds_min) break;
    progress(result.name, round);
    order_.Shuffle(turns);
    for (const size_t turn : turns) {
      if (Interrupted()) return result;
      RunOnce(cases[turn], result.contenders[turn]);
    }
  }
  return result;
}

void BenchmarkDriver::RunOnce(const BenchmarkCase& one, BenchContender& contender) {
  auto* registered = benchmark::RegisterBenchmark(one.FullName().c_str(), one.body);
  registered->UseManualTime()->Unit(benchmark::kNanosecond)->Repetitions(1);
  if (!options_.chooses_operations) registered->Iterations(one.operations);
  RunCollector collector(mirror_.get(), mirror_is_open_);
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, ".");
  benchmark::ClearRegisteredBenchmarks();

  for (const auto& run : collector.runs()) {
    if (!run.error_occurred) {
      contender.repetitions.push_back(run.GetAdjustedRealTime());
      contender.answers_checked += static_cast<uint64_t>(run.iterations);
    } else if (!Interrupted()) {
      faults_.push_back(one.FullName() + ": " + run.error_message);
    }
  }
}

}  // namespace schedq
