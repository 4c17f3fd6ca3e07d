// The first line of a trace of version 2 that has all of it, with sorted keys.
#pragma once

namespace schedq {

inline constexpr const char* kHeaderOfGroups =
    R"({"about":"groups","gates":{"ClearingNominatedNodeNameAfterBinding":true,)"
    R"("CompositePodGroup":true,"GenericWorkload":true,"NominatedNodeNameForExpectation":true,)"
    R"("SchedulerAsyncAPICalls":true,"SchedulerPopFromBackoffQ":true,)"
    R"("SchedulerPreEnqueuePodStatus":true,"SchedulerPreQueueingHints":false},)"
    R"("plugins":[{"events":[{"actions":["Add"],"hint":"same-group","on":"UnscheduledPod"},)"
    R"({"actions":["Update"],"hint":"min-count-lowered","on":"PodGroup"},)"
    R"({"actions":["All"],"hint":"","on":"CompositePodGroup"}],)"
    R"("name":"GangScheduling","pre_enqueue":"gang"}],)"
    R"("pod_initial_backoff_ms":1000,"pod_max_backoff_ms":10000,)"
    R"("pod_max_in_unschedulable_ms":300000,"schedq_trace":2,"start":"2026-01-01T00:00:00.3Z"})";

}  // namespace schedq
