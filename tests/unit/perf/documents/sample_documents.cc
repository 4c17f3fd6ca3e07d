#include "tests/unit/perf/documents/sample_documents.h"

#include <cstdint>
#include <utility>

#include "perf/documents/environment.h"
#include "perf/documents/real_figures.h"
#include "perf/documents/reference_comparison.h"

namespace schedq {
namespace {

Environment SampleEnvironment() {
  Environment environment;
  environment.machine = {.architecture = "x86_64",
                         .cpu_model = "AMD EPYC \"Genoa\"",
                         .cores = 2,
                         .memory_bytes = uint64_t{8} << 30,
                         .kernel = "Linux 6.1.0",
                         .governor = "performance",
                         .virtual_machine = true};
  environment.build = {.version = "0.1.0",
                       .commit = "0123456789ab",
                       .compiler = "GNU 12.2.0",
                       .flags = "-O3",
                       .type = "Release",
                       .allocator = "jemalloc 5.3.0",
                       .libraries = {{"fmt", "9.1.0"}}};
  environment.command = "schedq run";
  environment.started = "2026-03-01T12:00:00Z";
  environment.finished = "2026-03-01T12:00:01.5Z";
  environment.wall_seconds = 1.5;
  environment.resident_bytes_max = 123456;
  return environment;
}

DataItem SampleItem() {
  return {.data = {{"Average", 336.25}, {"Perc50", 340}, {"Perc99", 1e-7}},
          .unit = "pods/s",
          .labels = {{"Metric", "SchedulingThroughput"}, {"Name", "Basic/500Nodes/ns"}}};
}

}  // namespace

RunDocument SampleRun() {
  RunDocument document;
  document.engine = "lockfree";
  document.seed = UINT64_MAX;  // Larger than a double holds exactly.
  document.cost_model = "upstream";
  document.status_model = "implicit-delayed";
  document.gates = {{"SchedulerPopFromBackoffQ", true}, {"SchedulerAsyncAPICalls", false}};
  Repetition repetition;
  repetition.seed = 42;
  repetition.seconds = 12.5;
  repetition.metrics = {SampleItem()};
  repetition.counters = {{"scheduler_queue_incoming_pods_total{queue=\"active\"}", 1000}};
  repetition.real = {.cpu_by_thread = {{"binder", 0.25}},
                     .cpu_by_part = {{"placing", 0.125}},
                     .conflicts = 3,
                     .allocations = 1000,
                     .allocated_bytes = 64'000,
                     .memory = MemoryCourse{.bytes_at_tenth = 1000, .bytes_at_end = 1001},
                     .instructions_per_pod = 2000};
  repetition.latencies["add"] = {.count = 10, .total_ns = 100, .p50_ns = 8, .max_ns = 31};
  WorkloadResult measured;
  measured.test_case = "SchedulingBasic";
  measured.workload = "500Nodes";
  measured.labels = {"performance", "short"};
  measured.gates = document.gates;
  measured.not_modelled = {"profiles"};
  measured.thresholds = {{.metric = "SchedulingThroughput",
                          .bucket = "Average",
                          .limit = 300,
                          .measured = 336.25,
                          .met = true}};
  measured.repetitions = {repetition, repetition};
  ReferenceComparison reference;
  reference.file = "basic.json";
  reference.runs = 3;
  reference.closeness["attempts"].counts = {5, 4, 3, 2, 1};
  reference.misses = {{"hints", "NodePorts|Queue", 12, 3, 5, Closeness::kWorse}};
  reference.throughput = ThroughputRatio{300, 400};
  measured.reference = reference;
  WorkloadResult skipped;
  skipped.test_case = "Volumes";
  skipped.workload = "5000Nodes";
  skipped.outcome = WorkloadOutcome::kSkipped;
  skipped.reason = "needs persistent volumes";
  skipped.reference.emplace().not_compared = "was not measured here";
  document.workloads = {measured, skipped};
  document.reference.emplace().closeness = reference.closeness;
  document.reference->rank_correlation = 0.75;
  document.scenarios = {{"KEP-5501/outage",
                         "the server is away",
                         {"patches", "blind pod-s"},
                         {{"gates-off", {0, 1.5}}}}};
  document.verdicts = {{"KEP-5501", true, "outage: 0 pods show a wrong message"},
                       {"KEP-5278", false, "restart: 3 pods land elsewhere"}};
  static_cast<Environment&>(document.environment) = SampleEnvironment();
  document.environment.costs = {{.test_case = "SchedulingBasic",
                                 .workload = "500Nodes",
                                 .repetition = 1,
                                 .wall_seconds = 0.25,
                                 .bytes_per_pod = 160.5,
                                 .allocations_per_operation = 0}};
  return document;
}

BenchDocument SampleBench() {
  BenchContender product;
  product.name = "schedq";
  product.role = ContenderRole::kProduct;
  product.repetitions = {21.5, 20.25, 22};
  product.answers_checked = 3000;
  product.counters = {{"bytes_per_operation", 0}};
  BenchContender rival = product;
  rival.name = "mutex+std::priority_queue";
  rival.role = ContenderRole::kRival;
  rival.anchor = 58;
  BenchCase one;
  one.name = "engine/active/pair/priorities:8/size:1000";
  one.topology = "2 threads -> queue -> 2 threads";
  one.unit = "ns/op";
  one.parameters = {{"size", 1000}, {"threads", 2}};
  one.contenders = {product, rival};
  BenchDocument document;
  document.seed = 7;
  document.rounds = 3;
  document.cases = {one};
  document.environment = SampleEnvironment();
  return document;
}

FloorDocument SampleFloor() {
  FloorDocument document;
  document.measurements = {{.name = "cache_miss",
                            .about = "A dependent random read.",
                            .unit = "ns",
                            .parameters = {{"bytes", 1 << 20}},
                            .repetitions = {4.5, 5, 4.75}}};
  document.environment = SampleEnvironment();
  return document;
}

BarsDocument SampleBars() {
  BarRow row;
  row.path = "add + pop + done per pod, one thread";
  row.at = "100,000 pods";
  row.bar = "300 ns";
  row.aim = "135 ns";
  row.verdict = BarVerdict::kShort;
  row.unit = "ns";
  row.measured = 400;
  row.to_bar = 0.75;
  row.rival = "classic";
  row.rival_measured = 1600;
  row.upstream = 13'519;
  row.floor = 250;
  row.floor_arithmetic = "2 random_miss in 64.0 MiB x 125 ns";
  row.reason = "most time in schedq::Interner::Find: 40 %";
  row.contenders = SampleBench().cases.front().contenders;
  BarsDocument document;
  document.seed = 7;
  document.rounds = 3;
  document.rows = {row};
  document.floor = SampleFloor().measurements;
  document.environment = SampleEnvironment();
  return document;
}

ScaleDocument SampleScale() {
  ScaleDocument document;
  document.seed = 1;
  document.curves = {{.path = "pairs",
                      .contestant = "schedq",
                      .role = ContenderRole::kProduct,
                      .operation = "push and pop of one entry",
                      .points = {{.threads = 2,
                                  .operations = 1000,
                                  .transfers = 2.5,
                                  .invalidations = 2.25,
                                  .updates = 4,
                                  .contended_updates = 1.5,
                                  .retries = 0.125,
                                  .lines = 5,
                                  .hottest_transfers = 1.25}}}};
  document.floor = SampleFloor().measurements;
  document.times = {{.path = "pairs",
                     .contestant = "schedq",
                     .points = {{.threads = 2,
                                 .predicted_ns = 150,
                                 .serial_ns = 125,
                                 .measured_ns = 200,
                                 .error = -0.25}}}};
  document.environment = SampleEnvironment();
  return document;
}

ProfileDocument SampleProfile() {
  ProfileSeries series;
  series.name = "classic/all_pods";
  series.operation = "event";
  for (const uint64_t size : {1000, 2000, 4000}) {
    const auto cost = static_cast<double>(size) * 20;
    series.points.push_back({.size = size,
                             .operations = 100,
                             .measurements = {{.name = "time",
                                               .about = "Wall time.",
                                               .unit = "ns",
                                               .parameters = {},
                                               .repetitions = {cost, cost}}}});
  }
  series.fits = FitSeries(series);
  series.stopped = "8,000 would take about 3 minutes";
  series.hot_spots = {{.method = "timer",
                       .size = 4000,
                       .samples = 250,
                       .functions = {{"schedq::ClassicQueue::Event", 0.25, 0.75}}}};
  ProfileDocument document;
  document.kind = "requeue";
  document.seed = 7;
  document.rounds = 2;
  document.series = {series};
  document.environment = SampleEnvironment();
  return document;
}

DataItemsDocument SampleDataItems() {
  DataItemsDocument document;
  DataItem latency = SampleItem();
  latency.unit = "ms";
  latency.labels = {{"Metric", "scheduler_pod_scheduling_sli_duration_seconds"},
                    {"Name", "Basic/500Nodes/ns"},
                    {"attempts", "1"}};
  document.items = {SampleItem(), std::move(latency)};
  CompleteLabels(document.items);
  return document;
}

}  // namespace schedq
