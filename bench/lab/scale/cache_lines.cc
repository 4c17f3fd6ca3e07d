#include "bench/lab/scale/cache_lines.h"

#include <algorithm>

namespace schedq::scale {

void CacheLines::StartCounting() {
  counts_ = {};
  for (auto& [address, line] : lines_) line.transfers = 0;
}

void CacheLines::BeginOperation(uint32_t thread, bool counts) {
  if (counts) ++counts_.operations;
  threads_[thread].began_at = now_;
  threads_[thread].touched.clear();
}

void CacheLines::CountLine(Thread& thread, const Line& line) {
  if (thread.touched.insert(&line).second) ++counts_.lines;
}

bool CacheLines::IsTransfer(uint32_t thread, const Line& line, Access access) {
  const bool is_held = line.holders.test(thread);
  if (access == Access::kLoad) return !is_held && line.holders.any();
  return line.holders.count() > (is_held ? 1U : 0U);
}

bool CacheLines::Touch(uint32_t thread, Line& line, Access access) {
  ++now_;
  ++counts_.accesses;
  CountLine(threads_[thread], line);
  const bool is_transfer = IsTransfer(thread, line, access);
  if (is_transfer) {
    ++counts_.transfers;
    ++line.transfers;
  }
  if (access == Access::kUpdate) {
    ++counts_.updates;
    const bool is_others = line.writer != thread && line.writer != kNobody;
    if (is_others && line.written_at > threads_[thread].began_at) ++counts_.contended_updates;
  }
  if (access != Access::kLoad) {
    counts_.invalidations += line.holders.count() - (line.holders.test(thread) ? 1 : 0);
    line.holders.reset();
    line.writer = thread;
    line.written_at = now_;
  }
  line.holders.set(thread);
  return is_transfer;
}

LineCounts CacheLines::counts() const {
  LineCounts counts = counts_;
  for (const auto& [address, line] : lines_) {
    counts.hottest_transfers = std::max(counts.hottest_transfers, line.transfers);
  }
  return counts;
}

}  // namespace schedq::scale
