#include "bench/program/commands/run_record.h"

#include <utility>

namespace schedq {

size_t RunRecord::AddEngine(RunReport head) {
  const std::lock_guard lock(mutex_);
  engines_.push_back({std::move(head), {}, {}});
  return engines_.size() - 1;
}

void RunRecord::KeepUnended(size_t engine, size_t position, RunReport part) {
  const std::lock_guard lock(mutex_);
  engines_[engine].under_way.insert_or_assign(position, std::move(part));
}

void RunRecord::Keep(size_t engine, size_t position, RunReport part) {
  const std::lock_guard lock(mutex_);
  engines_[engine].ended.insert_or_assign(position, std::move(part));
  engines_[engine].under_way.erase(position);
}

void RunRecord::EndEngine(size_t engine) {
  const std::lock_guard lock(mutex_);
  OfEngine& ended = engines_[engine];
  for (auto& [position, part] : ended.ended) ended.head.Add(std::move(part));
  ended.ended.clear();
  ended.under_way.clear();
}

void RunRecord::Change(size_t engine, const std::function<void(RunReport* head)>& change) {
  const std::lock_guard lock(mutex_);
  change(&engines_[engine].head);
}

void RunRecord::Read(size_t engine, const std::function<void(const RunReport& head)>& read) const {
  const std::lock_guard lock(mutex_);
  read(engines_[engine].head);
}

std::vector<RunReport> RunRecord::Reports(std::optional<EarlyEnd> end) const {
  const std::lock_guard lock(mutex_);
  std::vector<RunReport> reports;
  for (const OfEngine& engine : engines_) {
    std::map<size_t, RunReport> parts = engine.ended;
    if (end) {
      for (const auto& [position, under_way] : engine.under_way) {
        RunReport& part = parts.insert_or_assign(position, under_way).first->second;
        MarkUnended(*end, &part.document.workloads.front());
      }
    }
    RunReport& report = reports.emplace_back(engine.head);
    for (auto& [position, part] : parts) report.Add(std::move(part));
  }
  return reports;
}

void MarkUnended(EarlyEnd end, WorkloadResult* result) {
  if (result->outcome != WorkloadOutcome::kMeasured) return;
  const bool is_signal = end == EarlyEnd::kSignal;
  result->outcome = is_signal ? WorkloadOutcome::kInterrupted : WorkloadOutcome::kFailed;
  result->reason = is_signal ? "interrupted" : "memory or threads ran out";
}

}  // namespace schedq
