#include "bench/sim/scheduler/loop_metrics.h"

#include <algorithm>
#include <utility>

namespace schedq {
namespace {

constexpr uint32_t kAttemptsShownMax = 15;

// By AttemptResult.
LabelValues ResultTexts() { return {"scheduled", "unschedulable", "error"}; }

// By the number of attempts; the last stands for all above.
LabelValues AttemptsTexts() {
  LabelValues texts;
  for (uint32_t i = 0; i < kAttemptsShownMax; ++i) texts.push_back(std::to_string(i));
  texts.push_back(std::to_string(kAttemptsShownMax) + "+");
  return texts;
}

}  // namespace

LoopMetrics::LoopMetrics(std::vector<std::string> profiles)
    : profiles_(std::move(profiles)),
      attempts_(&registry_.DenseCounters({.name = "scheduler_schedule_attempts_total",
                                          .help = "Attempts to schedule pods, by result.",
                                          .labels = {"result", "profile"}},
                                         {ResultTexts(), profiles_})),
      attempt_durations_(&registry_.DenseHistograms(
          {.name = "scheduler_scheduling_attempt_duration_seconds",
           .help = "Duration of an attempt, scheduling algorithm and binding.",
           .labels = {"result", "profile"}},
          ExponentialBounds(1e-3, 2, 15), {ResultTexts(), profiles_})),
      algorithm_(registry_
                     .Histograms({.name = "scheduler_scheduling_algorithm_duration_seconds",
                                  .help = "Duration of the scheduling algorithm."},
                                 ExponentialBounds(1e-3, 2, 15))
                     .At()),
      extension_points_(
          &registry_.Histograms({.name = "scheduler_framework_extension_point_duration_seconds",
                                 .help = "Duration of all plugins of an extension point.",
                                 .labels = {"extension_point", "status", "profile"}},
                                ExponentialBounds(1e-4, 2, 12))),
      event_handling_(&registry_.Histograms({.name = "scheduler_event_handling_duration_seconds",
                                             .help = "Duration of handling a cluster event.",
                                             .labels = {"event"}},
                                            ExponentialBounds(1e-4, 2, 12))),
      since_first_(&registry_.DenseHistograms(
          {.name = "scheduler_pod_scheduling_sli_duration_seconds",
           .help = "From when a pod could first be scheduled until it was.",
           .labels = {"attempts"}},
          ExponentialBounds(0.01, 2, 20), {AttemptsTexts()})),
      attempts_to_schedule_(registry_
                                .Histograms({.name = "scheduler_pod_scheduling_attempts",
                                             .help = "Attempts until a pod was scheduled."},
                                            ExponentialBounds(1, 2, 5))
                                .At()),
      preemptions_(&registry_.Counters({.name = "scheduler_preemption_attempts_total",
                                        .help = "Pods for which preemption was tried."})),
      sharings_(&registry_.Counters({.name = "scheduler_batch_attempts_total",
                                     .help = "Pods that could share a search, by what it gave.",
                                     .labels = {"profile", "result"}})),
      victims_(&registry_.Histograms(
          {.name = "scheduler_preemption_victims", .help = "Victims of a preemption."},
          ExponentialBounds(1, 2, 7))),
      budget_violations_(&registry_.Counters(
          {.name = "scheduler_preemption_pdb_violations_total",
           .help = "Victims of preemptions that disruption budgets did not allow.",
           .labels = {"preemptor"}})),
      group_preemptions_(
          &registry_.Counters({.name = "scheduler_workload_preemption_attempts_total",
                               .help = "Groups for which preemption was tried.",
                               .labels = {"result"}})),
      group_victims_(&registry_.Histograms({.name = "scheduler_workload_preemption_victims",
                                            .help = "Victims of a preemption for a group."},
                                           ExponentialBounds(1, 2, 11))),
      group_attempts_(&registry_.Counters({.name = "scheduler_podgroup_schedule_attempts_total",
                                           .help = "Attempts to schedule groups, by result.",
                                           .labels = {"result", "profile"}})),
      group_durations_(
          &registry_.Histograms({.name = "scheduler_podgroup_scheduling_attempt_duration_seconds",
                                 .help = "Duration of a group's cycle.",
                                 .labels = {"result", "profile"}},
                                ExponentialBounds(1e-3, 2, 15))),
      group_algorithm_(
          &registry_.Histograms({.name = "scheduler_podgroup_scheduling_algorithm_duration_seconds",
                                 .help = "Duration of the search for nodes of a group's members."},
                                ExponentialBounds(1e-3, 2, 15))) {}

void LoopMetrics::CountAttempt(AttemptResult result, Duration duration, size_t profile) const {
  attempts_->At(result, profile).Add();
  attempt_durations_->At(result, profile).Observe(duration);
}

void LoopMetrics::ObserveExtensionPoint(const std::string& point, bool success, Duration duration,
                                        size_t profile) const {
  const std::string status = success ? "Success" : "Unschedulable";
  extension_points_->At({point, status, profiles_[profile]}).Observe(duration);
}

void LoopMetrics::ObserveEventHandling(EventLabel label, Duration duration) const {
  event_handling_->At({std::string(LabelText(label))}).Observe(duration);
}

void LoopMetrics::CountPostFilter(size_t victims, size_t violations) const {
  preemptions_->At().Add();
  if (violations != 0) budget_violations_->At({"pod"}).Add(violations);
  if (victims != 0) victims_->At().ObserveCount(static_cast<int64_t>(victims));
}

void LoopMetrics::CountGroupPostFilter(bool success, size_t victims, size_t violations) const {
  if (violations != 0) budget_violations_->At({"podgroup"}).Add(violations);
  group_preemptions_->At({success ? "Success" : "Unschedulable"}).Add();
  if (victims != 0) group_victims_->At().ObserveCount(static_cast<int64_t>(victims));
}

void LoopMetrics::ObserveGroupAlgorithm(Duration duration) const {
  group_algorithm_->At().Observe(duration);
}

void LoopMetrics::CountGroupAttempt(GroupStatus status, bool waits_for_preemption,
                                    Duration duration) const {
  std::string result = "scheduled";
  if (status == GroupStatus::kError) result = "error";
  if (status == GroupStatus::kUnschedulable) {
    result = waits_for_preemption ? "waiting_on_preemption" : "unschedulable";
  }
  group_attempts_->At({result, profiles_.front()}).Add();
  group_durations_->At({result, profiles_.front()}).Observe(duration);
}

void LoopMetrics::CountSharing(Sharing sharing, size_t profile) const {
  switch (sharing) {
    case Sharing::kNone:
      return;
    case Sharing::kNoHint:
      return sharings_->At({profiles_[profile], "no_hint"}).Add();
    case Sharing::kUsed:
      return sharings_->At({profiles_[profile], "hint_used"}).Add();
    case Sharing::kNotUsed:
      return sharings_->At({profiles_[profile], "hint_not_used"}).Add();
  }
}

void LoopMetrics::CountScheduled(uint32_t attempts, Duration since_first) const {
  since_first_->At(std::min(attempts, kAttemptsShownMax)).Observe(since_first);
  attempts_to_schedule_.ObserveCount(attempts);
}

}  // namespace schedq
