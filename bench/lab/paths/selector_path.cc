#include "bench/lab/paths/selector_path.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

std::string_view ExpressionOf(SelectorLook look) {
  switch (look) {
    case SelectorLook::kDriver:
      return R"(device.driver == "even.example.com")";
    case SelectorLook::kAttributes:
      return R"(device.attributes["example.com"].version.major() >= 1 &&
                device.capacity["example.com"].memory.isGreaterThan(quantity("1Gi")))";
    case SelectorLook::kList:
      return R"(device.attributes["example.com"].links.exists(link, link == 40))";
    case SelectorLook::kPattern:
      break;
  }
  return R"(device.attributes["example.com"].model.matches("^a[0-9]+-even$"))";
}

DeviceSelector SelectorOf(SelectorLook look) {
  auto selector = DeviceSelector::Parse(ExpressionOf(look));
  SCHEDQ_CHECK(selector.ok(), "the selector of a path is one");
  return std::move(*selector);
}

// The even devices match each selector, the others none.
DeviceView DeviceOf(uint64_t number) {
  const bool even = number % 2 == 0;
  DeviceView device(even ? "even.example.com" : "odd.example.com");
  device.SetAttribute("example.com/version", *SemanticVersion::Parse(even ? "1.2.3" : "0.9.0"));
  device.SetAttribute("example.com/model",
                      "a" + std::to_string(number) + (even ? "-even" : "-odd"));
  device.SetAttribute("example.com/links",
                      std::vector<int64_t>{10, 20, 30, even ? int64_t{40} : int64_t{50}});
  device.SetCapacity("example.com/memory", *ExactQuantity::Parse("80Gi"));
  return device;
}

}  // namespace

SelectorEvaluations::SelectorEvaluations(SelectorLook look, uint64_t devices, uint64_t evaluations)
    : selector_(SelectorOf(look)), evaluations_(evaluations) {
  devices_.reserve(devices);
  for (uint64_t i = 0; i < devices; ++i) devices_.push_back(DeviceOf(i));
}

void SelectorEvaluations::Run() {
  size_t next = 0;
  for (uint64_t i = 0; i < evaluations_; ++i) {
    const SelectorResult result = selector_.Evaluate(devices_[next]);
    if (result == SelectorResult::kMatch) ++matches_;
    if (result == SelectorResult::kError) ++errors_;
    next = next + 1 == devices_.size() ? 0 : next + 1;
  }
}

PathOutcome SelectorEvaluations::Outcome() {
  PathOutcome outcome;
  outcome.operations = evaluations_;
  const uint64_t rounds = evaluations_ / devices_.size();
  const uint64_t rest = evaluations_ % devices_.size();
  const uint64_t even = rounds * ((devices_.size() + 1) / 2) + (rest + 1) / 2;
  if (errors_ > 0) outcome.fault = "a selector failed on a device that has all it looks at";
  if (matches_ != even) outcome.fault = "a selector did not match the even devices alone";
  return outcome;
}

}  // namespace schedq
