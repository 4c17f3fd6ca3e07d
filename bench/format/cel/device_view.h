// A device as selectors see it: its driver, whether it may be allocated several times, and its
// attributes and capacities by domain and name.
//
// Purpose: read once from a ResourceSlice, then looked at by every evaluation of a selector.
// Domains and names are sorted, so that iteration over them has one order.
// Threads: immutable after reading, so any thread may read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"

namespace schedq {

using DeviceAttribute =
    std::variant<int64_t, bool, std::string, SemanticVersion, std::vector<int64_t>,
                 std::vector<bool>, std::vector<std::string>, std::vector<SemanticVersion>>;

// What a device has of one kind, by domain and name.
template <typename T>
class QualifiedEntries {
 public:
  struct Entry {
    std::string name;
    T value;
  };
  using Entries = std::vector<Entry>;
  struct Domain {
    std::string name;
    Entries entries;
  };

  // Replaces the entry of the same domain and name.
  void Set(std::string_view domain, std::string_view name, T value) {
    Domain& place = PlaceOf(domains_, domain);
    PlaceOf(place.entries, name).value = std::move(value);
  }

  // nullptr: the device has nothing in the domain.
  const Entries* FindDomain(std::string_view domain) const {
    const Domain* found = FindIn(domains_, domain);
    return found == nullptr ? nullptr : &found->entries;
  }
  // nullptr: the device has no such entry.
  const T* Find(std::string_view domain, std::string_view name) const {
    const Entries* entries = FindDomain(domain);
    return entries == nullptr ? nullptr : FindEntry(*entries, name);
  }
  static const T* FindEntry(const Entries& entries, std::string_view name) {
    const Entry* found = FindIn(entries, name);
    return found == nullptr ? nullptr : &found->value;
  }

  const std::vector<Domain>& domains() const { return domains_; }

 private:
  // A device has at most 32 entries, so a search that compares lengths first is the fastest.
  template <typename Named>
  static const Named* FindIn(const std::vector<Named>& list, std::string_view name) {
    for (const Named& item : list) {
      if (item.name == name) return &item;
    }
    return nullptr;
  }
  template <typename Named>
  static Named& PlaceOf(std::vector<Named>& list, std::string_view name) {
    const auto place = std::lower_bound(
        list.begin(), list.end(), name,
        [](const Named& item, std::string_view sought) { return item.name < sought; });
    if (place != list.end() && place->name == name) return *place;
    return *list.insert(place, Named{std::string(name), {}});
  }

  std::vector<Domain> domains_;
};

using DeviceAttributes = QualifiedEntries<DeviceAttribute>;
using DeviceCapacities = QualifiedEntries<ExactQuantity>;

class DeviceView {
 public:
  explicit DeviceView(std::string driver) : driver_(std::move(driver)) {}

  void AllowMultipleAllocations(bool allow) { allow_multiple_allocations_ = allow; }
  // A name without a domain ("memory" instead of "gpu.example.com/memory") is in the driver's.
  void SetAttribute(std::string_view qualified_name, DeviceAttribute value) {
    const auto [domain, name] = SplitName(qualified_name);
    attributes_.Set(domain, name, std::move(value));
  }
  void SetCapacity(std::string_view qualified_name, ExactQuantity value) {
    const auto [domain, name] = SplitName(qualified_name);
    capacities_.Set(domain, name, value);
  }

  const std::string& driver() const { return driver_; }
  bool allow_multiple_allocations() const { return allow_multiple_allocations_; }
  const DeviceAttributes& attributes() const { return attributes_; }
  const DeviceCapacities& capacities() const { return capacities_; }

  // The domain and the name that a qualified name means for this device.
  std::pair<std::string_view, std::string_view> SplitName(std::string_view qualified_name) const {
    const auto slash = qualified_name.find('/');
    if (slash == std::string_view::npos) return {driver_, qualified_name};
    return {qualified_name.substr(0, slash), qualified_name.substr(slash + 1)};
  }

 private:
  std::string driver_;
  bool allow_multiple_allocations_ = false;
  DeviceAttributes attributes_;
  DeviceCapacities capacities_;
};

}  // namespace schedq
