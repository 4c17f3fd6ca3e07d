#include "bench/sim/measure/live_view.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/measure/section.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/real/wall_pace.h"
#include "engine/base/metrics/metrics.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "schedq/assembled_queue.h"

namespace schedq {
namespace {

using nlohmann::ordered_json;

constexpr Place kPlaces[] = {Place::kActive,        Place::kBackoff, Place::kErrorBackoff,
                             Place::kUnschedulable, Place::kGated,   Place::kInFlight};

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The pods of a place: how many, and the one that was created first.
ordered_json StateOf(const AssembledQueue& queue, Place place, Instant now) {
  const std::vector<PodRef> pods = queue.List(place);
  ordered_json state;
  state["count"] = pods.size();
  if (pods.empty()) return state;
  const Pod& oldest =
      **std::min_element(pods.begin(), pods.end(), [](const PodRef& a, const PodRef& b) {
        return AsClusterPod(*a).created < AsClusterPod(*b).created;
      });
  state["oldest"] = {{"pod", QualifiedName(oldest)},
                     {"age_seconds", Seconds(now - AsClusterPod(oldest).created)}};
  return state;
}

double CallsWaiting(const MetricsRegistry& metrics) {
  double calls = 0;
  const MetricFamilyBase* const family = metrics.Find("scheduler_pending_async_api_calls");
  if (family == nullptr) return calls;
  for (const MetricSample& sample : family->Read()) calls += sample.value;
  return calls;
}

}  // namespace

void LiveView::Announce(const std::string& workload, const std::string& engine) {
  const std::lock_guard lock(mutex_);
  workload_ = workload;
  engine_ = engine;
}

LiveView::Shown::Shown(LiveView* view, RealScheduler* scheduler, const WallPace* pace)
    : view_(view) {
  if (view_ == nullptr) return;
  const std::lock_guard lock(view_->mutex_);
  view_->scheduler_ = scheduler;
  view_->pace_ = pace;
  view_->started_ = pace->Now();
}

LiveView::Shown::~Shown() {
  if (view_ == nullptr) return;
  const std::lock_guard lock(view_->mutex_);
  view_->scheduler_ = nullptr;
}

std::string LiveView::MetricsText() const {
  const std::lock_guard lock(mutex_);
  return scheduler_ == nullptr ? "" : MetricsTextOf(scheduler_);
}

std::string LiveView::StateText() const {
  const std::lock_guard lock(mutex_);
  ordered_json state;
  state["running"] = scheduler_ != nullptr;
  if (scheduler_ != nullptr) {
    const Instant now = pace_->Now();
    state["workload"] = workload_;
    state["engine"] = engine_;
    state["seconds"] = Seconds(now - started_);
    for (const Place place : kPlaces) {
      state["places"][std::string(PlaceName(place))] = StateOf(scheduler_->queue(), place, now);
    }
    state["calls_waiting"] = static_cast<uint64_t>(CallsWaiting(scheduler_->loop_metrics()));
  }
  return state.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace schedq
