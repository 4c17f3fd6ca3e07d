#include "tests/fuzz/cel_fuzz.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/cel/device_selector.h"
#include "bench/format/cel/device_view.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"
#include "engine/base/result.h"
#include "perf/text/visible_text.h"
#include "tests/support/cel_text.h"

namespace schedq {
namespace {

// A device with an attribute of every type, under names that fit into short inputs.
const DeviceView& FuzzedDevice() {
  static const DeviceView kDevice = [] {
    DeviceView device("d");
    device.SetAttribute("i", int64_t{7});
    device.SetAttribute("b", true);
    device.SetAttribute("s", std::string("text"));
    device.SetAttribute("v", *SemanticVersion::Parse("1.2.3-rc.1"));
    device.SetAttribute("e/li", std::vector<int64_t>{1, 2, 3});
    device.SetAttribute("e/lb", std::vector<bool>{true, false});
    device.SetAttribute("e/ls", std::vector<std::string>{"a", "b"});
    device.SetAttribute("e/lv", std::vector<SemanticVersion>{*SemanticVersion::Parse("1.0.0")});
    device.SetCapacity("q", *ExactQuantity::Parse("1.5Gi"));
    device.SetCapacity("e/q", ExactQuantity::Of(3));
    return device;
  }();
  return kDevice;
}

void IsOneVisibleLine(const std::string& message) {
  SCHEDQ_CHECK(VisibleText(message) == message, "a message is one line without control characters");
}

}  // namespace

bool FuzzCelSelector(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data),
                         std::min(size, kSelectorBytesMax + 1));
  CelTextOf(text);
  const auto selector = DeviceSelector::Parse(text);
  if (!selector.ok()) {
    IsOneVisibleLine(selector.error().message());
    return false;
  }
  std::string first;
  std::string second;
  const SelectorResult result = selector->Evaluate(FuzzedDevice(), &first);
  SCHEDQ_CHECK(selector->Evaluate(FuzzedDevice(), &second) == result && first == second,
               "an evaluation has one result");
  if (result == SelectorResult::kError) IsOneVisibleLine(first);
  static const DeviceView kOther("no other driver has this name");
  const auto driver = selector->RequiredDriver();
  SCHEDQ_CHECK(!driver || *driver == kOther.driver() ||
                   selector->Evaluate(kOther) == SelectorResult::kNoMatch,
               "a selector that requires a driver matches no other");
  return true;
}

}  // namespace schedq
