// A small file of measured runs of the real scheduler, for tests.
//
// Purpose: one place says the format's keys; a test changes what it is about.
// Threads: the test's own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace schedq {

// One quiet run of 100 pods in 2 s: 100 attempts succeeded, 20 were unschedulable and came back by
// a deletion, which a hint of NodeResourcesFit answered for.
inline nlohmann::json UpstreamRunJson() {
  return {{"pods_per_s", {{{"name", "x"}, {"Average", 50.0}}}},
          {"wall_s", 3.0},
          {"sections",
           {{{"start_s", 1.0},
             {"stop_s", 3.0},
             {"seconds", 2.0},
             {"pods_created", 100},
             {"pods_bound", 100},
             {"pods_deleted", 0},
             {"process_cpu_s", 1.0},
             {"first_activity_to_last_bind_s", 2.0},
             {"bound_per_s_whole_section", 50.0},
             {"bound_per_s_activity", 50.0},
             {"attempts", {{"scheduled", 100}}}}}},
          {"pods", {{"created", 100}}},
          {"attempts", {{"scheduled", 100}, {"unschedulable", 20}, {"error", 0}}},
          {"incoming_pods", {{"active|UnscheduledPodAdd", 100}, {"backoff|AssignedPodDelete", 20}}},
          {"incoming_entities", nlohmann::json::object()},
          {"hints", {{"NodeResourcesFit|AssignedPodDelete|Queue", {20, 0.001}}}},
          {"prequeueing_hints", nlohmann::json::object()},
          {"scheduled_after_flush", 0},
          {"events", nlohmann::json::object()},
          {"extension_points", nlohmann::json::object()},
          {"plugins", nlohmann::json::object()},
          {"algorithm", nlohmann::json::object()},
          {"attempt_time", nlohmann::json::object()},
          {"pod_attempts", nlohmann::json::array()},
          {"preemption_attempts", 0},
          {"api_calls", nlohmann::json::object()},
          {"process_cpu_s", 1.0},
          {"busy_by_others_cores", 0.01},
          {"timeline_100ms", nlohmann::json::object()}};
}

inline nlohmann::json UpstreamFileJson(const std::string& test_case, const std::string& workload) {
  return {{"schedq_upstream", 1},
          {"file", "case/performance-config.yaml"},
          {"case", test_case},
          {"workload", workload},
          {"labels", nullptr},
          {"params", nlohmann::json::object()},
          {"gates", nlohmann::json::object()},
          {"gates_forced", nlohmann::json::object()},
          {"kubernetes", "e81f39c0"},
          {"go", "go1.26.10"},
          {"etcd", "3.5.30"},
          {"cores", 2},
          {"runs", {UpstreamRunJson()}}};
}

}  // namespace schedq
