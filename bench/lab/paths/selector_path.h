// Evaluations of one selector, device after device.
//
//     devices -> selector -> match or no match
//
// The devices differ in what the selector looks at; half of them match.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/format/cel/device_selector.h"
#include "bench/format/cel/device_view.h"
#include "bench/lab/paths/measured_path.h"

namespace schedq {

enum class SelectorLook : uint8_t {
  kDriver,      // The driver's name alone.
  kAttributes,  // A version and a quantity, as upstream's workloads ask for them.
  kList,        // The items of a list.
  kPattern,     // A regular expression on a name.
};

class SelectorEvaluations final : public MeasuredPath {
 public:
  SelectorEvaluations(SelectorLook look, uint64_t devices, uint64_t evaluations);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  const DeviceSelector selector_;
  const uint64_t evaluations_;
  std::vector<DeviceView> devices_;
  uint64_t matches_ = 0;
  uint64_t errors_ = 0;
};

}  // namespace schedq
