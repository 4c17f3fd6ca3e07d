#include "bench/program/reports/profile_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"
#include "perf/text/table.h"

namespace schedq {
namespace {

// An exponent below this is noise beside a constant.
constexpr double kGrowthMin = 0.1;

const ProfileSeries* Find(const ProfileDocument& document, const std::string& name) {
  for (const ProfileSeries& series : document.series) {
    if (series.name == name && !series.points.empty()) return &series;
  }
  return nullptr;
}

const ProfileFit* FitOf(const ProfileSeries& series, const std::string& measurement) {
  for (const ProfileFit& fit : series.fits) {
    if (fit.measurement == measurement) return &fit;
  }
  return nullptr;
}

std::optional<double> TimeAt(const ProfileSeries& series, uint64_t size) {
  for (const ProfilePoint& point : series.points) {
    if (point.size != size) continue;
    for (const Measurement& one : point.measurements) {
      if (one.name == "time" && !one.repetitions.empty()) return Median(one.repetitions);
    }
  }
  return std::nullopt;
}

// The times of both series at the largest size that both have.
struct Meeting {
  uint64_t size = 0;
  double ratio = 0;
};
std::optional<Meeting> MeetingOf(const ProfileSeries& all, const ProfileSeries& narrowed) {
  for (auto point = all.points.rbegin(); point != all.points.rend(); ++point) {
    const std::optional<double> slow = TimeAt(all, point->size);
    const std::optional<double> fast = TimeAt(narrowed, point->size);
    if (slow && fast && *fast > 0) return Meeting{point->size, *slow / *fast};
  }
  return std::nullopt;
}

// Each of the N events costs N^exponent, so all of them cost one power more.
std::string RequeueSentence(const ProfileDocument& document, const std::string& engine) {
  const ProfileSeries* all = Find(document, engine + "/all_pods");
  const ProfileSeries* narrowed = Find(document, engine + "/narrowed");
  if (all == nullptr || narrowed == nullptr) return "";
  const ProfileFit* all_fit = FitOf(*all, "time");
  const ProfileFit* narrowed_fit = FitOf(*narrowed, "time");
  const std::optional<Meeting> meeting = MeetingOf(*all, *narrowed);
  if (all_fit == nullptr || narrowed_fit == nullptr || !meeting) return "";
  const bool is_less = meeting->ratio >= 1;
  return fmt::format(
      "{}: N events cost N^{:.2f} without narrowing, N^{:.2f} with; at {} pods {} times {}", engine,
      all_fit->exponent + 1, narrowed_fit->exponent + 1, CountText(meeting->size),
      NumberText(is_less ? meeting->ratio : 1 / meeting->ratio), is_less ? "less" : "more");
}

// For kinds whose series are not two ways of one operation.
std::string GrowthSentence(const ProfileSeries& series) {
  const ProfileFit* fit = FitOf(series, "time");
  if (fit == nullptr) return "";
  const std::optional<double> first = TimeAt(series, fit->size_min);
  const std::optional<double> last = TimeAt(series, fit->size_max);
  const std::string range =
      first && last ? fmt::format(", from {} to {}", DurationText(*first), DurationText(*last))
                    : "";
  return fmt::format("{}: the cost of one {} {}{}", series.name, series.operation,
                     fit->exponent < kGrowthMin ? "hardly grows"
                                                : fmt::format("grows with N^{:.2f}", fit->exponent),
                     range);
}

}  // namespace

std::string ProfileAnswer(const ProfileDocument& document, const ProfileKind& kind, size_t width) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += Wrapped(sentence, width, 2) + '\n';
  };
  for (const char* engine : {"lockfree", "classic"}) add(RequeueSentence(document, engine));
  if (!text.empty()) {
    return text +
           Wrapped("N " + kind.size_of +
                       "; narrowing: a plugin names the pods that an event "
                       "can help, and only these are judged (KEP-6132)",
                   width, 2) +
           '\n';
  }
  for (const ProfileSeries& series : document.series) add(GrowthSentence(series));
  return text;
}

bool TimeOutgrowsWork(const ProfileDocument& document) {
  return std::any_of(
      document.series.begin(), document.series.end(), [](const ProfileSeries& series) {
        const ProfileFit* time = FitOf(series, "time");
        const ProfileFit* work = FitOf(series, "pods_judged");
        if (time == nullptr) return false;
        return time->exponent_low > (work == nullptr ? 0 : work->exponent) + kGrowthMin / 2;
      });
}

std::string WhyTimeOutgrowsWork(const std::vector<Measurement>& misses, size_t width) {
  std::string costs;
  for (const Measurement& one : misses) {
    const auto bytes = one.parameters.find("bytes");
    if (bytes == one.parameters.end() || one.repetitions.empty()) continue;
    costs += fmt::format("{}{} within {}", costs.empty() ? "" : ", ",
                         DurationText(Median(one.repetitions)),
                         BytesText(static_cast<double>(bytes->second)));
  }
  if (costs.empty()) return "";
  return Wrapped(
             "Time may grow where the work (pods judged) does not: more pods are more memory, "
             "and a read that the caches do not hold waits. On this machine a random read "
             "takes " +
                 costs + " (schedq floor)",
             width, 2) +
         '\n';
}

}  // namespace schedq
