// Which labels an object must have, as selectors of the API say it.
// Threads: pure functions and immutable values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/pod.h"

namespace schedq {

// A requirement on one label. Greater and less compare whole numbers, and only nodes are asked so.
struct LabelRequirement {
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };

  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;
  bool operator==(const LabelRequirement&) const = default;
};

// All requirements must hold. An empty selector holds for everything.
using LabelSelector = std::vector<LabelRequirement>;

// The value of the label, or null.
const std::string* FindLabel(const Labels& labels, const std::string& key);
// `value` is that of the requirement's label; null: there is none.
bool Meets(const LabelRequirement& requirement, const std::string* value);
bool MatchesLabels(const LabelSelector& selector, const Labels& labels);

}  // namespace schedq
