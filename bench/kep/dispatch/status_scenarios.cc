#include "bench/kep/dispatch/status_scenarios.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "dispatcher/server/embedded_api_server.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string PodName(uint64_t number) { return "pod-" + std::to_string(number); }

// A plugin rejects pod A with a report and later passes it; then another plugin rejects it
// silently.
StatusOutcome RunReportsThenSilent(const StatusWorldOptions& options) {
  StatusWorld world(options);
  for (uint64_t pod = 0; pod < 100; ++pod) {
    world.AddPod(PodName(pod), Rejector::kReports, "the quota of the team is used up");
    world.SetReasonAfter(seconds(20), PodName(pod), Rejector::kSilent, "preemption is under way");
  }
  world.Run(seconds(120));
  return world.Outcome();
}

// There are 100 gangs of 8. Members come over 20 s, and all are rejected until the last has come.
StatusOutcome RunGang(const StatusWorldOptions& options) {
  StatusWorld world(options);
  for (uint64_t gang = 0; gang < 100; ++gang) {
    const Duration complete = seconds(20) + milliseconds(world.random().Below(1000));
    for (uint64_t member = 0; member < 8; ++member) {
      const std::string name = "gang-" + std::to_string(gang) + "-" + std::to_string(member);
      const Duration comes = member == 7 ? complete : milliseconds(world.random().Below(20'000));
      world.At(comes, [&world, name, member] {
        world.AddPod(name, Rejector::kReports, member == 7 ? "" : "waiting for 8 members");
      });
      world.SetReasonAfter(complete, name, Rejector::kReports, "");
    }
  }
  world.Run(seconds(60));
  return world.Outcome();
}

// 1,000 pods belong to a namespace over its quota; every 30 s there is room for 100 of them.
StatusOutcome RunQuota(const StatusWorldOptions& options) {
  StatusWorld world(options);
  for (uint64_t pod = 0; pod < 1000; ++pod) {
    world.AddPod(PodName(pod), Rejector::kReports, "exceeded quota: pods=100");
    const Duration free = seconds(30) * static_cast<int64_t>(1 + pod / 100);
    world.SetReasonAfter(free, PodName(pod), Rejector::kReports, "");
  }
  world.Run(seconds(360));
  return world.Outcome();
}

// 100,000 pods are rejected at once, and a minute passes.
StatusOutcome RunMassRejection(const StatusWorldOptions& options) {
  StatusWorld world(options);
  for (uint64_t pod = 0; pod < 100'000; ++pod) {
    world.AddPod(PodName(pod), Rejector::kReports, "the device class is missing");
  }
  world.Run(seconds(60));
  return world.Outcome();
}

// The same, while ten other pods a second are bound.
StatusOutcome RunFloodWhileBinding(const StatusWorldOptions& options) {
  StatusWorld world(options);
  constexpr uint64_t kBindings = 600;
  constexpr Duration kInterval = milliseconds(100);
  for (uint64_t pod = 0; pod < kBindings; ++pod) {
    const std::string name = "bound-" + std::to_string(pod);
    world.AddPod(name, Rejector::kReports, "");
    const auto within =
        static_cast<int64_t>(world.random().Below(static_cast<uint64_t>(kInterval.count())));
    world.At(kInterval * static_cast<int64_t>(pod) + Duration(within),
             [&world, name] { world.Bind(name); });
  }
  for (uint64_t pod = 0; pod < 100'000; ++pod) {
    world.AddPod(PodName(pod), Rejector::kReports, "the device class is missing");
  }
  world.Run(seconds(70));
  return world.Outcome();
}

StatusOutcome RunTransientShort(const StatusWorldOptions& options) {
  return RunTransient(options, milliseconds(4900));
}
StatusOutcome RunTransientLong(const StatusWorldOptions& options) {
  return RunTransient(options, seconds(10));
}
StatusOutcome RunOutageAndWithout(const StatusWorldOptions& options) {
  std::vector<QueueCounts> disturbed;
  std::vector<QueueCounts> calm;
  StatusOutcome outcome = RunOutage(options, true, &disturbed);
  RunOutage(options, false, &calm);
  for (size_t second = 0; second < disturbed.size(); ++second) {
    if (disturbed[second] != calm[second]) ++outcome.disturbed_seconds;
  }
  return outcome;
}

constexpr std::array kScenarios = {
    StatusScenario{"transient-within-delay", "claims visible after 0.1 to 4.9 s", 1000,
                   RunTransientShort},
    StatusScenario{"transient", "claims visible after 0.1 to 10 s", 1000, RunTransientLong},
    StatusScenario{"flapping", "the reason changes every second for a minute", 1, RunFlapping},
    StatusScenario{"a-then-silent-b", "A reports for 20 s, then B rejects silently for 100 s", 100,
                   RunReportsThenSilent},
    StatusScenario{"gang", "100 gangs of 8 wait up to 20 s for their members", 800, RunGang},
    StatusScenario{"quota", "100 of 1,000 pods get room every 30 s", 1000, RunQuota},
    StatusScenario{"mass-rejection", "100,000 pods rejected at once, 60 s", 100'000,
                   RunMassRejection},
    StatusScenario{"flood-while-binding", "the same, and 10 other pods a second are bound", 100'000,
                   RunFloodWhileBinding},
    StatusScenario{"outage", "100 pods, the server is away for 60 s", 100, RunOutageAndWithout},
    StatusScenario{"gated-by-server", "SchedulingGated by the server already", 1000,
                   RunGatedByServer},
};

}  // namespace

std::span<const StatusScenario> StatusScenarios() { return kScenarios; }

StatusOutcome RunTransient(StatusWorldOptions options, Duration longest) {
  options.calls_per_second = 0;
  StatusWorld world(options);
  constexpr Duration kShortest = milliseconds(100);
  for (uint64_t pod = 0; pod < 1000; ++pod) {
    world.AddPod(PodName(pod), Rejector::kTransient, "waiting for claim " + PodName(pod));
    const auto spread = static_cast<uint64_t>((longest - kShortest).count());
    const Duration visible =
        kShortest + Duration(static_cast<int64_t>(world.random().Below(spread)));
    world.SetReasonAfter(visible, PodName(pod), Rejector::kTransient, "");
  }
  world.Run(seconds(30));
  return world.Outcome();
}

StatusOutcome RunFlapping(const StatusWorldOptions& options) {
  StatusWorld world(options);
  world.AddPod(PodName(0), Rejector::kReports, "reason 0");
  for (int64_t second = 1; second < 60; ++second) {
    world.SetReasonAfter(seconds(second), PodName(0), Rejector::kReports,
                         "reason " + std::to_string(second));
  }
  world.Run(seconds(60));
  return world.Outcome();
}

StatusOutcome RunGatedByServer(const StatusWorldOptions& options) {
  StatusWorld world(options);
  for (uint64_t pod = 0; pod < 1000; ++pod) {
    world.AddPod(PodName(pod), Rejector::kReports, std::string(kSchedulingGatedMessage), true);
  }
  world.Run(seconds(60));
  return world.Outcome();
}

StatusOutcome RunOutage(const StatusWorldOptions& options, bool has_outage,
                        std::vector<QueueCounts>* counts) {
  StatusWorld world(options);
  const Instant start = world.clock().Now();
  if (has_outage) world.server().AddOutage(start + seconds(8), start + seconds(68));
  for (uint64_t pod = 0; pod < 100; ++pod) {
    world.AddPod(PodName(pod), Rejector::kReports, "waiting for a device");
    // In the outage, a third of the pods gets another reason, and a third passes.
    if (pod % 3 == 1) {
      world.SetReasonAfter(seconds(20), PodName(pod), Rejector::kReports, "waiting for a volume");
    } else if (pod % 3 == 2) {
      world.SetReasonAfter(seconds(20), PodName(pod), Rejector::kReports, "");
    }
  }
  // The flush of pods that wait for long evaluates each pod again, which repeats failed calls.
  for (Duration passed{}; passed < minutes(7); passed += seconds(1)) {
    world.Run(seconds(1));
    counts->push_back(world.queue().Counts());
  }
  return world.Outcome();
}

}  // namespace schedq
