// Goal: wherever memory runs out, no text is cut silently, no report is half of another, and what
// shows the rest is never waited for in vain.
// Method: each allocation fails in turn, until an operation needs no further one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/last_resort.h"
#include "bench/program/reports/run_report.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/metrics/metrics_text.h"
#include "perf/documents/run_document.h"
#include "tests/support/failing_new.h"

namespace schedq {
namespace {

// Calls `operate` with each of its allocations failing, and `check` whether it threw. Returns how
// many failed.
template <typename Operate, typename Check>
uint64_t FailEach(Operate operate, Check check) {
  for (uint64_t n = 1;; ++n) {
    bool has_thrown = false;
    bool has_failed = false;
    {
      const FailingNew failing(n);
      try {
        operate();
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      }
      has_failed = failing.has_failed();
    }
    check(has_thrown);
    if (!has_failed) return n - 1;
  }
}

// A stream kept it to itself, and a cut text was written as a whole one.
TEST(MemoryRunsOut, ATextOfMetricsIsWholeOrAnError) {
  MetricsRegistry metrics;
  for (int i = 0; i < 30; ++i) {
    metrics.Counters({"counter_" + std::to_string(i), "What is counted.", {"label"}})
        .At({"value"})
        .Add();
  }
  const std::string whole = MetricsText(metrics);
  std::string text;
  const uint64_t failed = FailEach([&] { text = MetricsText(metrics); },
                                   [&](bool has_thrown) {
                                     EXPECT_TRUE(has_thrown || text == whole);
                                     text.clear();
                                   });
  EXPECT_GT(failed, 30u);
}

RunReport ReportOf(const std::string& name) {
  RunReport report;
  WorkloadResult& result = report.document.workloads.emplace_back();
  result.test_case = "Case";
  result.workload = name;
  RepetitionCost& cost = report.document.environment.costs.emplace_back();
  cost.workload = name;
  report.steps.emplace_back();
  report.topics["Case/" + name] = "topic";
  report.metrics_text["Case/" + name] = "text";
  return report;
}

// A workload without its topic ended what wrote the others.
TEST(MemoryRunsOut, AReportHasAllOfAnotherOrNothing) {
  RunReport sum;
  sum.Add(ReportOf("A"));
  RunReport more = ReportOf("B");
  RunReport result = RunReport(sum);
  RunReport other = RunReport(more);
  const uint64_t failed = FailEach([&] { result.Add(std::move(other)); },
                                   [&](bool has_thrown) {
                                     const size_t size = has_thrown ? 1 : 2;
                                     EXPECT_EQ(result.document.workloads.size(), size);
                                     EXPECT_EQ(result.document.environment.costs.size(), size);
                                     EXPECT_EQ(result.steps.size(), size);
                                     EXPECT_EQ(result.topics.size(), size);
                                     EXPECT_EQ(result.metrics_text.size(), size);
                                     result = sum;
                                     other = more;
                                   });
  EXPECT_GE(failed, 2u);
}

// The one that shows the rest failed too, and the command waited for its end for ever.
TEST(MemoryRunsOut, WhatFailsToShowTheRestIsNotWaitedFor) {
  alarm(30);
  const auto run = [](auto finish) {
    LastResort last_resort([finish](EarlyEnd) { finish(); });
    last_resort.Guard([] { throw std::bad_alloc(); });
  };
  EXPECT_THROW(run([] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(run([] { throw std::out_of_range("a bug"); }), std::out_of_range);
  EXPECT_THROW(run([] {}), std::bad_alloc);
  alarm(0);
}

}  // namespace
}  // namespace schedq
