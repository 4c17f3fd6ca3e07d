#include "bench/dispatch/dispatch_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/dispatch/flood_scenario.h"
#include "bench/dispatch/nomination_scenarios.h"
#include "bench/dispatch/status_scenarios.h"
#include "perf/table.h"

namespace schedq {
namespace {

constexpr uint64_t kQuickPodsMax = 10'000;

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}
double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// What the report is made from, and where it goes.
class Writer {
 public:
  explicit Writer(const DispatchReportOptions& options) : options_(options) {}

  void Announce(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }
  void AddTable(const std::string& title, const TextTable& table) {
    report_.tables += title + "\n" + table.Render(options_.colour) + "\n";
  }
  void AddVerdict(bool holds, std::string line) {
    report_.verdicts.push_back({std::move(line), holds});
  }
  const DispatchReportOptions& options() const { return options_; }
  DispatchReport Take() { return std::move(report_); }

 private:
  const DispatchReportOptions& options_;
  DispatchReport report_;
};

// --- KEP-5501 ---

void AddStatusRow(TextTable& table, const std::string& model, const StatusOutcome& outcome) {
  const StatusCounts& counts = outcome.counts;
  table.AddRow({model, std::to_string(counts.rejections), std::to_string(counts.patches),
                std::to_string(counts.events), std::to_string(counts.coalesced),
                std::to_string(counts.cancelled), std::to_string(counts.failed),
                fmt::format("{:.1f}", outcome.measures.stale_pod_seconds),
                fmt::format("{:.1f}", outcome.measures.blind_pod_seconds),
                std::to_string(outcome.measures.flickers), std::to_string(outcome.wrong_at_end)});
}

TextTable StatusTable() {
  return TextTable({{"model", Align::kLeft},
                    {"rejections"},
                    {"patches"},
                    {"events"},
                    {"coalesced"},
                    {"cancelled"},
                    {"failed"},
                    {"stale pod-s"},
                    {"blind pod-s"},
                    {"flickers"},
                    {"wrong at end"}});
}

void JudgeStatus(Writer& writer, const StatusScenario& scenario, StatusModel model,
                 const StatusOutcome& outcome) {
  const uint64_t patches = outcome.counts.patches;
  if (scenario.name == "transient-within-delay" && model == StatusModel::kImplicitDelayed) {
    writer.AddVerdict(
        patches == 0,
        fmt::format("transient rejections within the delay: {} calls, 0 wanted", patches));
  } else if (scenario.name == "transient-within-delay" &&
             model == StatusModel::kImplicitImmediate) {
    writer.AddVerdict(patches == 2 * scenario.pods,
                      fmt::format("the same, reported immediately: {} calls for {} pods, 2 a pod "
                                  "wanted",
                                  patches, scenario.pods));
  } else if (scenario.name == "transient") {
    writer.AddVerdict(outcome.wrong_at_end == 0,
                      fmt::format("transient rejections, {}: {} pods show a wrong message at the "
                                  "end, 0 wanted",
                                  StatusModelName(model), outcome.wrong_at_end));
  } else if (scenario.name == "gated-by-server") {
    writer.AddVerdict(patches == 0, fmt::format("marked by the server, {}: {} calls, 0 wanted",
                                                StatusModelName(model), patches));
  } else if (scenario.name == "outage") {
    writer.AddVerdict(
        outcome.wrong_at_end == 0 && outcome.counts.failed > 0,
        fmt::format("outage, {}: {} calls failed, {} pods show a wrong message "
                    "afterwards, 0 wanted",
                    StatusModelName(model), outcome.counts.failed, outcome.wrong_at_end));
  }
}

void ReportScenario(Writer& writer, const StatusScenario& scenario) {
  writer.Announce(std::string(scenario.name));
  TextTable table = StatusTable();
  StatusWorldOptions options;
  options.seed = writer.options().seed;
  for (const StatusModel model : kStatusModels) {
    options.model = model;
    const StatusOutcome outcome = scenario.run(options);
    AddStatusRow(table, std::string(StatusModelName(model)), outcome);
    JudgeStatus(writer, scenario, model, outcome);
  }
  options.gates_on = false;
  const StatusOutcome off = scenario.run(options);
  AddStatusRow(table, "gates off", off);
  writer.AddVerdict(
      off.server == ServerCounts() && off.counts == StatusCounts(),
      fmt::format("gates off, {}: {} calls, 0 wanted", scenario.name, off.server.patches));
  writer.AddTable(
      fmt::format("KEP-5501 {}: {} ({} pods)", scenario.name, scenario.about, scenario.pods),
      table);
}

void ReportFlapping(Writer& writer) {
  StatusWorldOptions options;
  options.seed = writer.options().seed;
  std::vector<Duration> stored;
  RunFlapping(options, &stored);
  Duration shortest = Duration::max();
  Duration longest{};
  Duration previous{};
  for (const Duration at : stored) {
    shortest = std::min(shortest, at - previous);
    longest = std::max(longest, at - previous);
    previous = at;
  }
  const Duration longest_wanted = std::chrono::seconds(6) + options.latency;
  writer.AddVerdict(
      stored.size() >= 9 && shortest >= std::chrono::seconds(5) && longest <= longest_wanted,
      fmt::format("flapping: {} patches in a minute, {:.2f} to {:.2f} s apart, 5 to 6 s and the "
                  "latency wanted",
                  stored.size(), Seconds(shortest), Seconds(longest)));
}

// --- The flood ---

void AddFloodRow(TextTable& table, const std::string& who, const FloodOutcome& outcome) {
  table.AddRow({who, fmt::format("{:.1f}", Milliseconds(outcome.WaitAt(0.5))),
                fmt::format("{:.1f}", Milliseconds(outcome.WaitAt(0.99))),
                fmt::format("{:.1f}", Milliseconds(outcome.WaitAt(1))),
                std::to_string(outcome.bindings_done), std::to_string(outcome.patches_meanwhile)});
}

void ReportFlood(Writer& writer) {
  writer.Announce("flood");
  FloodOptions options;
  options.seed = writer.options().seed;
  if (writer.options().is_quick) options.patches = kQuickPodsMax;
  const FloodOutcome product = RunFlood(options);
  const FloodOutcome rival = RunFloodOnFifo(options);
  TextTable table({{"queue", Align::kLeft},
                   {"binding waits p50 ms"},
                   {"p99 ms"},
                   {"max ms"},
                   {"bindings"},
                   {"patches meanwhile"}});
  AddFloodRow(table, "schedq", product);
  AddFloodRow(table, "upstream's design", rival);
  writer.AddTable(fmt::format("flood: {} patches wait, {} calls a second, {} bindings, one each "
                              "{:.0f} ms",
                              options.patches, options.calls_per_second, options.bindings,
                              Milliseconds(options.binding_interval)),
                  table);
  const Duration limit = Duration(static_cast<int64_t>(static_cast<double>(kSecond.count()) /
                                                       options.calls_per_second)) +
                         2 * options.latency;
  writer.AddVerdict(product.WaitAt(0.99) <= limit && product.patches_meanwhile > 0,
                    fmt::format("flood: a binding waits {:.1f} ms at p99, at most {:.1f} wanted; "
                                "{:.1f} minutes in upstream's design; {} patches meanwhile",
                                Milliseconds(product.WaitAt(0.99)), Milliseconds(limit),
                                Seconds(rival.WaitAt(0.99)) / 60, product.patches_meanwhile));
}

// --- KEP-5278 ---

void ReportNominations(Writer& writer) {
  writer.Announce("nominations");
  TextTable table({{"nominated node", Align::kLeft},
                   {"wrong scale-downs"},
                   {"bound"},
                   {"elsewhere after restart"},
                   {"lost s"},
                   {"all bound after s"},
                   {"unreserved claim-s"},
                   {"calls a pod, idle"},
                   {"busy"}});
  NominationOptions options;
  options.seed = writer.options().seed;
  for (const bool nominates : {true, false}) {
    options.nominates = nominates;
    const AutoscalerOutcome autoscaler = RunAutoscaler(options);
    const RestartOutcome restart = RunRestart(options);
    options.claims_go_first = nominates;
    const ClaimOutcome claims = RunClaims(options);
    const CallsPerPod calls = CountCallsPerPod(options);
    table.AddRow({nominates ? "shown" : "not shown", std::to_string(autoscaler.wrong_scale_downs),
                  std::to_string(autoscaler.bound), std::to_string(restart.elsewhere),
                  fmt::format("{:.0f}", restart.lost_seconds),
                  fmt::format("{:.1f}", restart.finished_after_seconds),
                  fmt::format("{:.1f}", claims.unreserved_claim_seconds),
                  fmt::format("{:.2f}", calls.idle), fmt::format("{:.2f}", calls.busy)});
    if (!nominates) continue;
    writer.AddVerdict(autoscaler.wrong_scale_downs == 0 && restart.elsewhere == 0,
                      fmt::format("nominations: {} nodes in use removed, {} pods elsewhere after "
                                  "a restart, 0 wanted",
                                  autoscaler.wrong_scale_downs, restart.elsewhere));
  }
  writer.AddTable(fmt::format("KEP-5278: {} pods whose volumes take {:.0f} s", options.pods,
                              Seconds(options.provisioning)),
                  table);
}

}  // namespace

DispatchReport RunDispatchScenarios(const DispatchReportOptions& options) {
  Writer writer(options);
  for (const StatusScenario& scenario : StatusScenarios()) {
    if (options.is_quick && scenario.pods > kQuickPodsMax) continue;
    ReportScenario(writer, scenario);
  }
  ReportFlapping(writer);
  ReportFlood(writer);
  ReportNominations(writer);
  return writer.Take();
}

}  // namespace schedq
