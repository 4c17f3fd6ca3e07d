#include "bench/sim/devices/attribute_values.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "bench/format/objects/device_objects.h"

namespace schedq {
namespace {

const SliceAttribute* FindNamed(const SliceDevice& device, std::string_view name) {
  for (const SliceAttribute& each : device.attributes) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

// An attribute may stand without its domain where that is the driver's name.
const SliceAttribute* FindAttribute(const DeviceCatalog::Listing& what, std::string_view name) {
  if (const SliceAttribute* const found = FindNamed(*what.spec, name)) return found;
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(0, slash) != what.slice->object->driver) {
    return nullptr;
  }
  return FindNamed(*what.spec, name.substr(slash + 1));
}

}  // namespace

AttributeId AttributeValues::IdOf(const std::string& attribute) {
  const auto next = static_cast<AttributeId>(attributes_.size());
  const auto [found, is_new] = ids_.try_emplace(attribute, next);
  if (is_new) attributes_.push_back({attribute, {}});
  return found->second;
}

const ValueSet& AttributeValues::Of(AttributeId attribute, ListingId listing,
                                    const DeviceCatalog::Listing& what) {
  Attribute& asked = attributes_[attribute];
  if (asked.values.size() <= listing) asked.values.resize(listing + 1);
  std::unique_ptr<ValueSet>& values = asked.values[listing];
  if (values == nullptr) values = Read(asked.name, what);
  return *values;
}

std::unique_ptr<ValueSet> AttributeValues::Read(const std::string& name,
                                                const DeviceCatalog::Listing& what) {
  auto values = std::make_unique<ValueSet>();
  const SliceAttribute* const attribute = FindAttribute(what, name);
  if (attribute == nullptr || (attribute->is_list && !has_lists_)) return values;
  const auto add = [&](const std::string& text) {
    const char type = static_cast<char>('0' + static_cast<int>(attribute->type));
    const auto next = static_cast<uint32_t>(values_.size());
    values->push_back(values_.try_emplace(type + text, next).first->second);
  };
  for (const int64_t number : attribute->numbers) add(std::to_string(number));
  for (const std::string& text : attribute->texts) add(text);
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
  return values;
}

void AttributeValues::Forget(ListingId listing) {
  for (Attribute& each : attributes_) {
    if (listing < each.values.size()) each.values[listing] = nullptr;
  }
}

bool HaveCommon(const ValueSet& a, const ValueSet& b) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return true;
    *x < *y ? ++x : ++y;
  }
  return false;
}

ValueSet CommonOf(const ValueSet& a, const ValueSet& b) {
  ValueSet common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common;
}

}  // namespace schedq
