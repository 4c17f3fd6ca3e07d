#include "bench/program/gate/time_tier.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/program/gate/built_alike.h"
#include "bench/program/gate/commit_build.h"
#include "perf/compare/changes_report.h"
#include "perf/statistics/comparison.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

// The metrics of which nobody can say whether they became worse.
std::vector<const Change*> Doubtful(const Changes& changes, const ComparisonOptions& options) {
  std::vector<const Change*> doubtful;
  for (const Change& change : changes.metrics) {
    const Comparison& comparison = change.comparison;
    if (comparison.verdict != ChangeVerdict::kCannotTell) continue;
    if (!comparison.IsNotWorse(options)) doubtful.push_back(&change);
  }
  return doubtful;
}

void AddDoubt(const std::vector<const Change*>& doubtful, GateReport* report) {
  if (doubtful.empty()) return;
  const auto most = std::max_element(
      doubtful.begin(), doubtful.end(), [](const Change* left, const Change* right) {
        return left->comparison.runs_needed < right->comparison.runs_needed;
      });
  report->Doubt(fmt::format(
      "the time tier cannot tell of {} of the metrics, such as {}: {} and {} runs, {} of each side",
      doubtful.size(), (*most)->comparison.name, (*most)->comparison.base_runs,
      (*most)->comparison.next_runs, RunsNeededText((*most)->comparison)));
}

void ReportChanges(const Changes& changes, const WorkloadSeconds& seconds,
                   const TimeTierOptions& options, GateReport* report) {
  const std::vector<const Change*> doubtful = Doubtful(changes, options.request.options);
  // A metric that is gone may be the one that is worse.
  const bool fails = changes.AnyWorse() || !changes.only_base.empty();
  const char* const verdict = fails ? "FAIL" : doubtful.empty() ? "pass" : "cannot tell";
  report->text +=
      fmt::format("time: {}\n", verdict) + ChangesTable(changes, options.all, options.layout);
  report->markdown +=
      fmt::format("### Time tier: {}\n\n", verdict) + ChangesMarkdown(changes, options.all);
  report->AddJunit(ChangesJunit(changes, seconds, options.is_strict));
  if (changes.AnyWorse()) report->Fail("the time tier fails: a metric is worse");
  if (!changes.only_base.empty()) {
    report->Fail("the time tier fails: the new results lack " + changes.only_base.front());
  }
  AddDoubt(doubtful, report);
}

Error Refused(const Error& error) { return Error("--tier time: " + error.message()); }

}  // namespace

Status JudgeDuet(const Side& base, const Side& next, const DuetOptions& duet,
                 const TimeTierOptions& options, const BuildProgress& progress,
                 GateReport* report) {
  if (Status status = CheckBuiltAlike(base.program, next.program); !status) {
    return Refused(status.error());
  }
  const Result<DuetResults> played = PlayDuet(base.program, next.program, duet, progress);
  if (!played) return Refused(Error("--base " + played.error().message()));
  if (!played->crash.empty()) {
    report->text += "time: FAIL\n" + VisibleText(played->crash) + '\n';
    report->markdown += "### Time tier: FAIL\n\n    " + VisibleText(played->crash) + '\n';
    report->AddJunit({"time", {{"run", 0, JunitOutcome::kFailed, played->crash, ""}}});
    report->Fail("the time tier fails: the new program cannot run what the base can");
    return Status::Ok();
  }
  ChangesRequest request = options.request;
  request.is_paired = true;
  const Result<Changes> changes = CompareMetrics(played->base, played->next, request);
  if (!changes) return Refused(changes.error());
  report->AddSeries("time ", played->next);
  ReportChanges(*changes, {}, options, report);
  return Status::Ok();
}

Status JudgeTime(const Results& base, const Results& next, const TimeTierOptions& options,
                 GateReport* report) {
  for (const Results* side : {&base, &next}) {
    if (!side->is_exact()) continue;
    return Error("--tier time: " + side->path +
                 " is of a virtual run, expected results of the real clock or scheduler_perf's");
  }
  const Result<Changes> changes = CompareMetrics(base, next, options.request);
  if (!changes) return Refused(changes.error());
  report->AddSeries("time ", next);
  ReportChanges(*changes, SecondsOfWorkloads(next), options, report);
  return Status::Ok();
}

}  // namespace schedq
