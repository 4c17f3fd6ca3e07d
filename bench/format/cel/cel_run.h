// One evaluation of an expression.
//
// Purpose: walks the tree and counts what the evaluation costs by upstream's rules. Errors are
// values, which && and || absorb where the other side decides.
// Threads: one; trees and devices are only read.
// Bound: a cost of kSelectorCostMax, memory of kSelectorMemoryBytesMax, kCelStepsMax steps within
// comparisons and copies, kCelPatternsMax patterns and kCelVersionsMax versions that are no
// constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "bench/format/cel/cel_arena.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_node.h"
#include "bench/format/cel/cel_parser.h"
#include "bench/format/cel/cel_value.h"
#include "bench/format/cel/device_view.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"
#include "perf/text/pattern.h"

namespace schedq {

inline constexpr uint64_t kCelStepsMax = 2'000'000;
inline constexpr uint64_t kCelPatternsMax = 100;
inline constexpr size_t kCelVersionsMax = 10'000;

class CelRun {
 public:
  // `device` may be nullptr for expressions without a device.
  CelRun(const CelTree& tree, const std::vector<Pattern>& patterns, const DeviceView* device)
      : tree_(tree), patterns_(patterns), device_(device) {}

  // The value stays valid as long as this object, the tree and the device.
  CelValue Run();
  uint64_t cost() const { return cost_; }

  // For functions.

  // An error whose text consists of two parts.
  CelValue Fail(std::string_view what, std::string_view detail);
  // nullptr: no memory is left, and the evaluation ends.
  char* NewText(size_t bytes);
  CelValue* NewItems(size_t count);
  CelValue Copy(std::string_view text);
  CelValue Keep(const ExactQuantity& quantity);
  CelValue Keep(SemanticVersion version);
  // The error that ends an evaluation, which && and || do not absorb.
  CelValue Stopped() const { return CelError(stop_); }
  // Counts steps; false where they are too many and the evaluation ends.
  bool Step(size_t count = 1);
  // The pattern of a call whose pattern is a constant.
  const Pattern* pattern() const { return pattern_; }
  // Counts a pattern that is none.
  bool MayCompilePattern();

  // Whether two values are equal; an error where they cannot be compared.
  CelValue Equal(const CelValue& left, const CelValue& right);
  // Items of a list, keys of a map.
  CelValue KeyAt(const CelValue& map, size_t index) const;
  // false: the map has no such key.
  bool FindKey(const CelValue& map, const CelValue& key, CelValue* found);
  // Whether `key in map`, which knows no default.
  bool HasKey(const CelValue& map, const CelValue& key);

 private:
  CelValue Evaluate(uint32_t index);
  CelValue EvaluateName(const CelNode& node);
  CelValue Select(const CelNode& node);
  CelValue DeviceField(const CelNode& node);
  CelValue Test(const CelNode& node);
  CelValue Index(const CelNode& node);
  CelValue Lookup(const CelValue& container, const CelValue& key);
  CelValue LookupItem(const CelValue& list, const CelValue& key);
  CelValue Call(const CelNode& node);
  uint64_t CostOf(const CelNode& node, const CelValue* arguments, const CelValue& result) const;
  CelValue Junction(const CelNode& node, bool decides);
  CelValue Conditional(const CelNode& node);
  CelValue MakeList(const CelNode& node);
  CelValue MakeMap(const CelNode& node);
  CelValue Quantify(const CelNode& node, bool decides);
  CelValue ExistsOne(const CelNode& node);
  CelValue Collect(const CelNode& node);
  CelValue Bind(const CelNode& node);
  CelValue Attribute(const DeviceAttribute& attribute);
  bool EqualItems(const CelValue& left, const CelValue& right);
  bool EqualMaps(const CelValue& left, const CelValue& right);
  CelValue MissingKey(const CelValue& key);
  CelValue NoOverload(const CelNode& node, const CelValue* arguments, size_t count);
  CelValue Item(const CelValue& range, size_t index) const;
  // The number of items of a range of a macro; an error where it is none.
  CelValue RangeOf(const CelNode& node, size_t* count);
  void Charge(uint64_t cost);

  const CelTree& tree_;
  const std::vector<Pattern>& patterns_;
  const DeviceView* device_;
  const Pattern* pattern_ = nullptr;
  std::string_view stop_;  // Why the evaluation ends early; empty: it goes on.
  uint64_t cost_ = 0;
  uint64_t steps_ = 0;
  uint64_t compiled_ = 0;
  std::vector<std::unique_ptr<const SemanticVersion>> versions_;
  CelArena arena_;
  CelValue slots_[kCelDepthMax];
};

// Sorts pairs of key and value by key and drops all but the last of equal keys, as upstream does;
// false where a key is of a kind that cannot be one.
bool SortCelEntries(CelValue* entries, size_t* count);

}  // namespace schedq
