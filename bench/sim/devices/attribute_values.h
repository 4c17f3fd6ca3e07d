// The values that devices have of the attributes on which claims have constraints.
//
// Purpose: constraints compare sets of values. A value becomes a number once, so that a comparison
// meets no text.
// Threads: one.
// Memory: an attribute that was ever asked for, with the values of each listing that was.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/devices/device_catalog.h"

namespace schedq {

using AttributeId = uint32_t;
// Numbers of values, ascending. Values of different types have different numbers.
using ValueSet = std::vector<uint32_t>;

class AttributeValues {
 public:
  // `has_lists`: attributes may be lists; else a list is as if it were not there.
  explicit AttributeValues(bool has_lists) : has_lists_(has_lists) {}

  // The number of the attribute, "domain/name".
  AttributeId IdOf(const std::string& attribute);

  // Empty: the device does not have the attribute. Valid until the listing is forgotten.
  const ValueSet& Of(AttributeId attribute, ListingId listing, const DeviceCatalog::Listing& what);

  // The number stands for another device from now on.
  void Forget(ListingId listing);

 private:
  struct Attribute {
    std::string name;
    std::vector<std::unique_ptr<ValueSet>> values;  // By listing; null: not asked for yet.
  };

  std::unique_ptr<ValueSet> Read(const std::string& name, const DeviceCatalog::Listing& what);

  const bool has_lists_;
  std::unordered_map<std::string, AttributeId> ids_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string, uint32_t> values_;  // By type and text.
};

// Whether they have a value in common, and those that they have.
bool HaveCommon(const ValueSet& a, const ValueSet& b);
ValueSet CommonOf(const ValueSet& a, const ValueSet& b);

}  // namespace schedq
