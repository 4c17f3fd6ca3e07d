#include "perf/compare/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/result.h"
#include "perf/statistics/rank_correlation.h"
#include "perf/statistics/summary.h"

namespace schedq {
namespace {

constexpr const char* kAttempts = "attempts";
constexpr const char* kRequeues = "requeues";
constexpr const char* kHints = "hints";
constexpr const char* kCalls = "calls";

using Counters = std::map<std::string, uint64_t>;
using ByFamily = std::map<std::string, Counters>;

// Which labels of which metric name a family's counters.
struct Family {
  const char* name;
  const char* metric;
  std::vector<std::string> labels;
};

const std::vector<Family>& Families() {
  static const std::vector<Family> kFamilies = {
      {kAttempts, "scheduler_schedule_attempts_total", {"result"}},
      {kRequeues, "scheduler_queue_incoming_pods_total", {"queue", "event"}},
      {kHints, "scheduler_queueing_hint_execution_duration_seconds_count", {"plugin", "hint"}},
      {kCalls, "scheduler_async_api_call_execution_total", {"call_type", "result"}},
  };
  return kFamilies;
}

// The value of a label in `name{a="x",b="y"}`; empty where there is none.
std::string LabelIn(const std::string& sample, const std::string& label) {
  for (const char before : {'{', ','}) {
    const std::string start = before + label + "=\"";
    const size_t at = sample.find(start);
    if (at == std::string::npos) continue;
    const size_t begin = at + start.size();
    return sample.substr(begin, sample.find('"', begin) - begin);
  }
  return "";
}

ByFamily OfOurs(const Counters& counters) {
  ByFamily families;
  for (const auto& [sample, count] : counters) {
    const std::string metric = sample.substr(0, sample.find('{'));
    for (const Family& family : Families()) {
      if (metric != family.metric) continue;
      std::string name;
      for (const std::string& label : family.labels) {
        name += (name.empty() ? "" : "|") + LabelIn(sample, label);
      }
      families[family.name][name] += count;
    }
  }
  return families;
}

ByFamily OfUpstream(const UpstreamRun& run) {
  ByFamily families;
  families[kAttempts] = run.attempts;
  families[kRequeues] = run.incoming_pods;
  families[kCalls] = run.api_calls;
  for (const auto& [name, count] : run.hints) {
    // The event stands in the middle.
    const std::string plugin = name.substr(0, name.find('|'));
    families[kHints][plugin + name.substr(name.rfind('|'))] += count;
  }
  return families;
}

uint64_t CountIn(const ByFamily& families, const std::string& family, const std::string& name) {
  const auto found = families.find(family);
  if (found == families.end()) return 0;
  const auto counter = found->second.find(name);
  return counter == found->second.end() ? 0 : counter->second;
}

// The counts of one counter in several runs, ascending.
std::vector<uint64_t> CountsOf(const std::vector<ByFamily>& runs, const std::string& family,
                               const std::string& name) {
  std::vector<uint64_t> counts;
  for (const ByFamily& run : runs) counts.push_back(CountIn(run, family, name));
  std::sort(counts.begin(), counts.end());
  return counts;
}

std::set<std::string> NamesIn(const std::vector<ByFamily>& runs, const std::string& family) {
  std::set<std::string> names;
  for (const ByFamily& run : runs) {
    const auto found = run.find(family);
    if (found == run.end()) continue;
    for (const auto& [name, count] : found->second) names.insert(name);
  }
  return names;
}

// How many times one is the other; one is added to each, so that zero has a place too.
double FactorOf(const CounterMiss& miss) {
  const uint64_t nearest = std::clamp(miss.count, miss.reference_min, miss.reference_max);
  return std::abs(
      std::log((static_cast<double>(miss.count) + 1) / (static_cast<double>(nearest) + 1)));
}

// Pods bound a second while something happened; nullopt: not known.
std::optional<double> RateOf(uint64_t pods, double seconds) {
  if (pods == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(pods) / seconds;
}

std::optional<ThroughputRatio> ThroughputOf(const UpstreamRuns& reference,
                                            const std::vector<WholeRun>& runs) {
  std::vector<double> measured;
  for (const UpstreamRun& run : reference.runs) {
    if (!run.has_throughput || run.busy_by_others_cores >= kBusyByOthersMax) continue;
    uint64_t pods = 0;
    double seconds = 0;
    for (const UpstreamSection& section : run.sections) {
      pods += section.pods_bound;
      seconds += section.seconds;
    }
    if (const auto rate = RateOf(pods, seconds)) measured.push_back(*rate);
  }
  std::vector<double> ours;
  for (const WholeRun& run : runs) {
    if (const auto rate = RateOf(run.pods_bound, run.active_seconds)) ours.push_back(*rate);
  }
  if (measured.empty() || ours.empty()) return std::nullopt;
  return ThroughputRatio{Median(ours), Median(measured)};
}

}  // namespace

Closeness ClosenessOf(uint64_t count, uint64_t reference_min, uint64_t reference_max) {
  const uint64_t nearest = std::clamp(count, reference_min, reference_max);
  if (count == nearest) return Closeness::kEqual;
  const auto ours = static_cast<double>(count);
  const auto theirs = static_cast<double>(nearest);
  const double distance = std::abs(ours - theirs);
  constexpr double kPercent = 0.01;
  if (distance <= kPercent * theirs) return Closeness::kWithin1Percent;
  if (distance <= 10 * kPercent * theirs) return Closeness::kWithin10Percent;
  const bool is_near = std::max(ours, theirs) <= 2 * std::min(ours, theirs);
  return is_near ? Closeness::kWithinFactor2 : Closeness::kWorse;
}

ReferenceComparison CompareWithReference(const UpstreamRuns& reference,
                                         const std::vector<WholeRun>& runs) {
  SCHEDQ_CHECK(!runs.empty(), "nothing to compare");
  std::vector<ByFamily> ours;
  for (const WholeRun& run : runs) ours.push_back(OfOurs(run.counters));
  std::vector<ByFamily> theirs;
  for (const UpstreamRun& run : reference.runs) theirs.push_back(OfUpstream(run));

  ReferenceComparison comparison;
  comparison.file = reference.file;
  comparison.runs = reference.runs.size();
  for (const Family& family : Families()) {
    std::set<std::string> names = NamesIn(ours, family.name);
    names.merge(NamesIn(theirs, family.name));
    for (const std::string& name : names) {
      const std::vector<uint64_t> measured = CountsOf(theirs, family.name, name);
      CounterMiss miss{family.name, name, CountsOf(ours, family.name, name)[(ours.size() - 1) / 2],
                       measured.front(), measured.back()};
      if (miss.count == 0 && miss.reference_max == 0) continue;
      miss.closeness = ClosenessOf(miss.count, miss.reference_min, miss.reference_max);
      comparison.closeness[family.name].Count(miss.closeness);
      if (miss.closeness != Closeness::kEqual) comparison.misses.push_back(std::move(miss));
    }
  }
  std::stable_sort(
      comparison.misses.begin(), comparison.misses.end(),
      [](const CounterMiss& a, const CounterMiss& b) { return FactorOf(a) > FactorOf(b); });
  comparison.throughput = ThroughputOf(reference, runs);
  return comparison;
}

ReferenceSummary SummaryOf(const std::vector<ReferenceComparison>& comparisons) {
  ReferenceSummary summary;
  std::vector<double> ours;
  std::vector<double> theirs;
  for (const ReferenceComparison& one : comparisons) {
    if (one.not_compared) continue;
    ++summary.workloads;
    bool attempts_are_equal = true;
    bool others_are_near = true;
    for (const auto& [family, counts] : one.closeness) {
      summary.closeness[family].Add(counts);
      const uint64_t all = counts.all();
      if (family == kAttempts) attempts_are_equal = counts.of(Closeness::kEqual) == all;
      if (family != kRequeues && family != kHints) continue;
      if (counts.AtLeast(Closeness::kWithin10Percent) < all) others_are_near = false;
    }
    if (attempts_are_equal) ++summary.attempts_equal;
    if (others_are_near) ++summary.requeues_and_hints_within_10_percent;
    if (!one.throughput) continue;
    ours.push_back(one.throughput->pods_per_second);
    theirs.push_back(one.throughput->reference);
  }
  summary.throughputs = ours.size();
  summary.rank_correlation = RankCorrelation(ours, theirs);
  return summary;
}

}  // namespace schedq
