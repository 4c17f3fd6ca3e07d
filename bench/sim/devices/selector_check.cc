#include "bench/sim/devices/selector_check.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/format/cel/semantic_version.h"

namespace schedq {
namespace {

// A list, or the one value.
template <typename T>
DeviceAttribute ValueOf(const SliceAttribute& attribute, std::vector<T> values) {
  if (attribute.is_list) return DeviceAttribute(std::move(values));
  const T first = values.front();
  return DeviceAttribute(first);
}

DeviceAttribute ViewOf(const SliceAttribute& attribute) {
  switch (attribute.type) {
    case SliceAttribute::Type::kBool: {
      std::vector<bool> values;
      for (const int64_t number : attribute.numbers) values.push_back(number != 0);
      return ValueOf(attribute, std::move(values));
    }
    case SliceAttribute::Type::kInt:
      return ValueOf(attribute, attribute.numbers);
    case SliceAttribute::Type::kString:
      return ValueOf(attribute, attribute.texts);
    case SliceAttribute::Type::kVersion:
      break;
  }
  std::vector<SemanticVersion> values;
  for (const std::string& text : attribute.texts) {
    // The reader of slices takes nothing else.
    if (auto version = SemanticVersion::Parse(text)) values.push_back(*std::move(version));
  }
  return ValueOf(attribute, std::move(values));
}

}  // namespace

DeviceView ViewOf(const ResourceSliceObject& slice, const SliceDevice& device) {
  DeviceView view(slice.driver);
  view.AllowMultipleAllocations(device.is_shared);
  for (const SliceAttribute& attribute : device.attributes) {
    view.SetAttribute(attribute.name, ViewOf(attribute));
  }
  for (const SliceCapacity& capacity : device.capacity) {
    view.SetCapacity(capacity.name, capacity.amount.exact());
  }
  return view;
}

Result<bool> SelectorCheck::Selects(const std::string& expression, const ResourceSliceObject& slice,
                                    const SliceDevice& device) {
  auto found = parsed_.find(expression);
  if (found == parsed_.end()) {
    found = parsed_.emplace(expression, DeviceSelector::Parse(expression)).first;
  }
  if (!found->second) return found->second.error();
  std::string error;
  const SelectorResult result = found->second->Evaluate(ViewOf(slice, device), &error);
  if (result == SelectorResult::kError) return Error(error);
  return result == SelectorResult::kMatch;
}

}  // namespace schedq
