#include "bench/lab/micro/path_case.h"

#include <chrono>
#include <utility>

#include "bench/anchors.h"
#include "bench/interrupt.h"

namespace schedq {

BenchmarkCase EngineCase(EngineKind engine, const std::string& group, int64_t pods) {
  BenchmarkCase one;
  one.group = group + "/" + std::to_string(pods) + "_pods";
  one.contestant = std::string(EngineName(engine));
  one.parameters = {{"pods", static_cast<uint64_t>(pods)}};
  one.role = engine == EngineKind::kLockfree ? ContenderRole::kProduct : ContenderRole::kClassic;
  one.operations = pods;
  return one;
}

std::optional<double> EngineAnchor(const char* table, const std::string& row, const char* column) {
  const nlohmann::json& rows = Anchors().at("upstream_queue").at(table);
  const auto found = rows.find(row);
  if (found == rows.end()) return std::nullopt;
  return column == nullptr ? found->get<double>() : found->at(column).get<double>();
}

std::function<void(benchmark::State&)> PathBody(std::function<MeasuredPathRef()> prepare) {
  return [prepare = std::move(prepare)](benchmark::State& state) {
    if (Interrupted()) return state.SkipWithError("interrupted");
    const MeasuredPathRef path = prepare();
    const auto started = std::chrono::steady_clock::now();
    path->Run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    const PathOutcome outcome = path->Outcome();
    if (outcome.fault != nullptr) return state.SkipWithError(outcome.fault);
    ReportValue(state, elapsed.count() * 1e9 / static_cast<double>(outcome.operations));
  };
}

void ReportValue(benchmark::State& state, double value) {
  // The driver reads the time of an iteration in nanoseconds.
  const double seconds = value * 1e-9 * static_cast<double>(state.max_iterations);
  while (state.KeepRunningBatch(state.max_iterations)) state.SetIterationTime(seconds);
}

}  // namespace schedq
