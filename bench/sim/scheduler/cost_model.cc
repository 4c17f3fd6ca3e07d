#include "bench/sim/scheduler/cost_model.h"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

#include "bench/format/suite/file_source.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_parser.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {
namespace {

class Reader {
 public:
  Reader(YamlErrors& errors, const YamlNode& root) : fields_(errors, root, "the cost model") {}

  void Read(std::string_view key, std::string* out) { fields_.ReadRequired(key, out); }
  void Read(std::string_view key, Duration unit, Duration* out) {
    int64_t amount = 0;
    if (ReadBetween(key, 0, kYamlCountMax, &amount)) *out = amount * unit;
  }
  void Read(const std::string& key, CallLatency* out) {
    Read(key + "_us", std::chrono::microseconds(1), &out->fixed);
    Read(key + "_extra_us", std::chrono::microseconds(1), &out->extra);
  }
  bool ReadBetween(std::string_view key, int64_t low, int64_t high, int64_t* out) {
    if (!fields_.ReadRequired(key, out)) return false;
    if (*out >= low && *out <= high) return true;
    fields_.errors().Add(fields_.Find(key)->at, std::string(key) + " is " + std::to_string(*out) +
                                                    ", expected " + std::to_string(low) + " to " +
                                                    std::to_string(high));
    return false;
  }

 private:
  YamlFields fields_;
};

CostModel ReadCosts(YamlErrors& errors, const YamlNode& root) {
  constexpr Duration kNs = std::chrono::nanoseconds(1);
  constexpr int64_t kWorkersMax = 1000;
  CostModel costs;
  Reader reader(errors, root);
  reader.Read("name", &costs.name);
  reader.Read("attempt_ns", kNs, &costs.attempt);
  reader.Read("filter_node_ns", kNs, &costs.filter_node);
  reader.Read("allocate_ns", kNs, &costs.allocate);
  reader.Read("allocate_node_ns", kNs, &costs.allocate_node);
  reader.Read("preempt_node_ns", kNs, &costs.preempt_node);
  reader.Read("group_decision_ns", kNs, &costs.group_decision);
  reader.Read("queue_add_ns", kNs, &costs.queue_add);
  reader.Read("queue_pop_ns", kNs, &costs.queue_pop);
  reader.Read("queue_done_ns", kNs, &costs.queue_done);
  reader.Read("queue_fail_ns", kNs, &costs.queue_fail);
  reader.Read("queue_update_ns", kNs, &costs.queue_update);
  reader.Read("queue_event_ns", kNs, &costs.queue_event);
  reader.Read("queue_judge_ns", kNs, &costs.queue_judge);
  reader.Read("informer_delay_us", std::chrono::microseconds(1), &costs.informer_delay);
  reader.Read("api_create", &costs.create);
  reader.Read("api_delete", &costs.remove);
  reader.Read("api_status", &costs.status);
  reader.Read("api_bind", &costs.bind);
  reader.Read("api_work_us", std::chrono::microseconds(1), &costs.call_work);
  int64_t count = 1;
  if (reader.ReadBetween("processors", 1, kWorkersMax, &count)) {
    costs.processors = static_cast<int>(count);
  }
  if (reader.ReadBetween("creators", 1, kWorkersMax, &count)) {
    costs.creators = static_cast<int>(count);
  }
  if (reader.ReadBetween("client_calls_per_second", 1, kYamlCountMax, &count)) {
    costs.client_interval = kSecond / count;
  }
  if (reader.ReadBetween("claim_workers", 1, kWorkersMax, &count)) {
    costs.claim_workers = static_cast<int>(count);
  }
  return costs;
}

}  // namespace

Duration CallLatency::Draw(Random* random) const {
  if (extra.count() == 0) return fixed;
  const double drawn = random->Exponential(static_cast<double>(extra.count()));
  return fixed + Duration(static_cast<int64_t>(drawn));
}

Result<CostModel> ParseCostModel(const std::string& file, const std::string& text) {
  YamlErrors errors(file);
  const auto parsed = ParseYaml(text);
  if (const auto* problem = std::get_if<YamlProblem>(&parsed)) {
    errors.Add(problem->at, problem->what);
    return errors.first();
  }
  CostModel costs = ReadCosts(errors, std::get<YamlNode>(parsed));
  if (!errors.ok()) return errors.first();
  return costs;
}

CostModel NoCosts() {
  CostModel costs;
  costs.name = kNoCosts;
  costs.creators = 30;
  costs.claim_workers = 5;
  return costs;
}

Result<CostModel> LoadCostModel(const std::string& name_or_path) {
  if (name_or_path == kNoCosts) return NoCosts();
  if (name_or_path == kUpstreamModel) return ParseCostModel("costs/upstream.yaml", kUpstreamCosts);
  Result<std::string> text = ReadDiskFile(name_or_path);
  if (!text)
    return Error("--costs " + name_or_path + " " + text.error().message() + " or upstream or none");
  return ParseCostModel(name_or_path, *text);
}

}  // namespace schedq
