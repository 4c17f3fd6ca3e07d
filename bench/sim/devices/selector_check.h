// Evaluates selectors for devices as slices list them.
//
// Purpose: from the objects of the API to the values that expressions see. An expression is parsed
// once.
// Threads: one.
// Memory: the expressions that were ever asked for.
#pragma once

#include <string>
#include <unordered_map>

#include "bench/format/cel/device_selector.h"
#include "bench/format/cel/device_view.h"
#include "bench/format/objects/device_objects.h"
#include "engine/base/result.h"

namespace schedq {

// The device as expressions see it.
DeviceView ViewOf(const ResourceSliceObject& slice, const SliceDevice& device);

class SelectorCheck {
 public:
  // Whether the expression selects the device. An error says why it cannot be evaluated for it.
  Result<bool> Selects(const std::string& expression, const ResourceSliceObject& slice,
                       const SliceDevice& device);

 private:
  std::unordered_map<std::string, Result<DeviceSelector>> parsed_;
};

}  // namespace schedq
