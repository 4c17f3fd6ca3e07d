#include "bench/format/cel/cel_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "bench/format/cel/device_selector.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"

namespace schedq {
namespace {

// The numbers of the device's fields, which the checker writes into a selection's slot.
constexpr std::array<std::string_view, 4> kDeviceFields = {"driver", "allowMultipleAllocations",
                                                           "attributes", "capacity"};

uint64_t Tenth(uint64_t size) { return (size + 9) / 10; }

uint64_t TraversalCost(const CelValue& value) {
  if (value.kind == CelKind::kString || value.kind == CelKind::kBytes) return value.size / 10;
  if (value.kind != CelKind::kList) return 1;
  uint64_t cost = 0;
  // Items of items cost one each here, so that no recursion is needed.
  for (uint32_t i = 0; i < value.size; ++i) {
    const CelValue& item = value.items[i];
    cost += item.kind == CelKind::kString ? item.size / 10 : 1;
  }
  return cost;
}

CelValue MapOf(const DeviceAttributes::Entries* entries) {
  CelValue value = CelOf(CelKind::kMap);
  value.form = CelMapForm::kDomainAttributes;
  value.domain_attributes = entries;
  return value;
}

CelValue MapOf(const DeviceCapacities::Entries* entries) {
  CelValue value = CelOf(CelKind::kMap);
  value.form = CelMapForm::kDomainCapacities;
  value.domain_capacities = entries;
  return value;
}

// The value of an attribute; a list's items are copied for the evaluation.
struct AttributeReader {
  CelRun* run;

  CelValue operator()(int64_t integer) const { return CelInt(integer); }
  CelValue operator()(bool boolean) const { return CelBool(boolean); }
  CelValue operator()(const std::string& text) const { return CelString(text); }
  CelValue operator()(const SemanticVersion& version) const { return CelVersion(&version); }
  template <typename T>
  CelValue operator()(const std::vector<T>& list) const {
    CelValue* const items = run->NewItems(list.size());
    if (items == nullptr) return run->Stopped();
    for (size_t i = 0; i < list.size(); ++i) items[i] = (*this)(list[i]);
    return CelList(items, list.size());
  }
};

}  // namespace

CelValue CelRun::Run() {
  const CelValue value = Evaluate(tree_.root);
  return stop_.empty() ? value : Stopped();
}

void CelRun::Charge(uint64_t cost) {
  cost_ += cost;
  if (cost_ > kSelectorCostMax && stop_.empty()) {
    stop_ = "operation cancelled: actual cost limit exceeded";
  }
}

bool CelRun::Step(size_t count) {
  steps_ += count;
  if (steps_ <= kCelStepsMax) return true;
  if (stop_.empty()) stop_ = "operation cancelled: too many steps within comparisons and copies";
  return false;
}

bool CelRun::MayCompilePattern() {
  if (++compiled_ <= kCelPatternsMax) return true;
  if (stop_.empty()) stop_ = "operation cancelled: too many patterns that are no constants";
  return false;
}

char* CelRun::NewText(size_t bytes) {
  void* const place = arena_.Allocate(bytes);
  if (place == nullptr && stop_.empty()) stop_ = "operation cancelled: no memory is left";
  return static_cast<char*>(place);
}

CelValue* CelRun::NewItems(size_t count) {
  void* const place = NewText(count * sizeof(CelValue));
  return static_cast<CelValue*>(place);
}

CelValue CelRun::Copy(std::string_view text) {
  char* const place = NewText(text.size());
  if (place == nullptr) return Stopped();
  std::copy(text.begin(), text.end(), place);
  return CelString({place, text.size()});
}

CelValue CelRun::Fail(std::string_view what, std::string_view detail) {
  constexpr size_t kDetailBytesMax = 200;
  detail = detail.substr(0, kDetailBytesMax);
  char* const place = NewText(what.size() + detail.size());
  if (place == nullptr) return Stopped();
  std::copy(detail.begin(), detail.end(), std::copy(what.begin(), what.end(), place));
  return CelError({place, what.size() + detail.size()});
}

CelValue CelRun::Keep(const ExactQuantity& quantity) {
  void* const place = NewText(sizeof(ExactQuantity));
  if (place == nullptr) return Stopped();
  return CelQuantity(new (place) ExactQuantity(quantity));
}

CelValue CelRun::Keep(SemanticVersion version) {
  if (versions_.size() == kCelVersionsMax && stop_.empty()) {
    stop_ = "operation cancelled: too many versions that are no constants";
  }
  if (!stop_.empty()) return Stopped();
  versions_.push_back(std::make_unique<const SemanticVersion>(std::move(version)));
  return CelVersion(versions_.back().get());
}

CelValue CelRun::Evaluate(uint32_t index) {
  const CelNode& node = tree_.nodes[index];
  switch (node.kind) {
    case CelNodeKind::kConstant:
      if (node.cost > 0) Charge(node.cost);
      return node.value;
    case CelNodeKind::kName:
    case CelNodeKind::kDevice:
    case CelNodeKind::kSlot:
      return EvaluateName(node);
    case CelNodeKind::kSelect:
      return Select(node);
    case CelNodeKind::kHas:
      return Test(node);
    case CelNodeKind::kIndex:
      return Index(node);
    case CelNodeKind::kCall:
      return Call(node);
    case CelNodeKind::kAnd:
      return Junction(node, false);
    case CelNodeKind::kOr:
      return Junction(node, true);
    case CelNodeKind::kConditional:
      return Conditional(node);
    case CelNodeKind::kList:
      return MakeList(node);
    case CelNodeKind::kMap:
      return MakeMap(node);
    case CelNodeKind::kAll:
      return Quantify(node, false);
    case CelNodeKind::kExists:
      return Quantify(node, true);
    case CelNodeKind::kExistsOne:
      return ExistsOne(node);
    case CelNodeKind::kMapLoop:
    case CelNodeKind::kFilter:
      return Collect(node);
    case CelNodeKind::kBind:
      return Bind(node);
  }
  return CelNoOverload();
}

CelValue CelRun::EvaluateName(const CelNode& node) {
  Charge(1);
  if (node.kind == CelNodeKind::kSlot) return slots_[node.slot];
  CelValue value = CelOf(CelKind::kDevice);
  value.device = device_;
  return value;
}

CelValue CelRun::DeviceField(const CelNode& node) {
  switch (node.slot) {
    case 0:
      return CelString(device_->driver());
    case 1:
      return CelBool(device_->allow_multiple_allocations());
    case 2: {
      CelValue value = CelOf(CelKind::kMap);
      value.form = CelMapForm::kAttributes;
      value.attributes = &device_->attributes();
      return value;
    }
    default: {
      CelValue value = CelOf(CelKind::kMap);
      value.form = CelMapForm::kCapacities;
      value.capacities = &device_->capacities();
      return value;
    }
  }
}

CelValue CelRun::Select(const CelNode& node) {
  const CelValue operand = Evaluate(tree_.ChildrenOf(node)[0]);
  if (operand.IsError()) return operand;
  Charge(1);
  if (operand.kind != CelKind::kDevice) return Lookup(operand, CelString(node.text));
  // What is known only as dyn may be the device too; the checker then left no number.
  if (node.open_overload) {
    const auto* const field = std::find(kDeviceFields.begin(), kDeviceFields.end(), node.text);
    if (field == kDeviceFields.end()) return MissingKey(CelString(node.text));
    CelNode known = node;
    known.slot = static_cast<uint16_t>(field - kDeviceFields.begin());
    return DeviceField(known);
  }
  return DeviceField(node);
}

CelValue CelRun::Test(const CelNode& node) {
  const CelValue operand = Evaluate(tree_.ChildrenOf(node)[0]);
  if (operand.IsError()) return operand;
  if (operand.kind == CelKind::kDevice) {
    return CelBool(std::find(kDeviceFields.begin(), kDeviceFields.end(), node.text) !=
                   kDeviceFields.end());
  }
  if (operand.kind == CelKind::kList) return CelError("unsupported index type 'string' in list");
  if (operand.kind != CelKind::kMap) return CelBool(false);
  CelValue found;
  return CelBool(FindKey(operand, CelString(node.text), &found));
}

CelValue CelRun::Index(const CelNode& node) {
  const CelValue operand = Evaluate(tree_.ChildrenOf(node)[0]);
  if (operand.IsError()) return operand;
  const CelValue key = Evaluate(tree_.ChildrenOf(node)[1]);
  if (key.IsError()) return key;
  Charge(1);
  return Lookup(operand, key);
}

CelValue CelRun::Lookup(const CelValue& container, const CelValue& key) {
  if (container.kind == CelKind::kList) return LookupItem(container, key);
  CelValue found;
  const bool map = container.kind == CelKind::kMap;
  return map && FindKey(container, key, &found) ? found : MissingKey(key);
}

CelValue CelRun::LookupItem(const CelValue& list, const CelValue& key) {
  if (!CelIsNumber(key.kind)) {
    return Fail("unsupported index type in list: ", CelTypeName(key.kind));
  }
  // Of a double, only a whole number is an index.
  if (key.kind == CelKind::kDouble && !(std::floor(key.number) == key.number)) {
    return Fail("unsupported index value in list: ", CelValueText(key));
  }
  const bool beyond =
      CelCompareNumbers(key, CelInt(0)) < 0 || CelCompareNumbers(key, CelInt(list.size)) >= 0;
  if (beyond) return Fail("index out of bounds: ", CelValueText(key));
  if (key.kind == CelKind::kDouble) return list.items[static_cast<size_t>(key.number)];
  return list.items[key.natural];
}

CelValue CelRun::MissingKey(const CelValue& key) {
  if (key.kind == CelKind::kString) return Fail("no such key: ", key.view());
  return Fail("no such key: ", CelIsNumber(key.kind) ? CelValueText(key) : CelTypeName(key.kind));
}

CelValue CelRun::Attribute(const DeviceAttribute& attribute) {
  return std::visit(AttributeReader{this}, attribute);
}

CelValue CelRun::KeyAt(const CelValue& map, size_t index) const {
  switch (map.form) {
    case CelMapForm::kEntries:
      return map.items[2 * index];
    case CelMapForm::kAttributes:
      return CelString(map.attributes->domains()[index].name);
    case CelMapForm::kDomainAttributes:
      return CelString((*map.domain_attributes)[index].name);
    case CelMapForm::kCapacities:
      return CelString(map.capacities->domains()[index].name);
    case CelMapForm::kDomainCapacities:
      return CelString((*map.domain_capacities)[index].name);
  }
  return CelNoOverload();
}

bool CelRun::FindKey(const CelValue& map, const CelValue& key, CelValue* found) {
  if (map.form == CelMapForm::kEntries) {
    size_t low = 0;
    size_t high = map.size;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      const int order = CelCompareKeys(map.items[2 * middle], key);
      if (order == 0) *found = map.items[2 * middle + 1];
      if (order == 0) return true;
      if (order == 2) return false;
      (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
    }
    return false;
  }
  if (key.kind != CelKind::kString) {
    // A domain that no device has is an empty map, whatever is asked for.
    if (map.form == CelMapForm::kAttributes || map.form == CelMapForm::kCapacities) {
      *found = CelMap(nullptr, 0);
      return true;
    }
    return false;
  }
  if (map.form == CelMapForm::kAttributes) {
    *found = MapOf(map.attributes->FindDomain(key.view()));
    return true;
  }
  if (map.form == CelMapForm::kCapacities) {
    *found = MapOf(map.capacities->FindDomain(key.view()));
    return true;
  }
  if (map.form == CelMapForm::kDomainAttributes) {
    if (map.domain_attributes == nullptr) return false;
    const auto* const entry = DeviceAttributes::FindEntry(*map.domain_attributes, key.view());
    if (entry != nullptr) *found = Attribute(*entry);
    return entry != nullptr;
  }
  if (map.domain_capacities == nullptr) return false;
  const auto* const entry = DeviceCapacities::FindEntry(*map.domain_capacities, key.view());
  if (entry != nullptr) *found = CelQuantity(entry);
  return entry != nullptr;
}

bool CelRun::HasKey(const CelValue& map, const CelValue& key) {
  CelValue found;
  const bool text = key.kind == CelKind::kString;
  if (map.form == CelMapForm::kAttributes) {
    return text && map.attributes->FindDomain(key.view()) != nullptr;
  }
  if (map.form == CelMapForm::kCapacities) {
    return text && map.capacities->FindDomain(key.view()) != nullptr;
  }
  return FindKey(map, key, &found);
}

CelValue CelRun::Call(const CelNode& node) {
  std::array<CelValue, kCelArgumentsMax> arguments;
  for (uint32_t i = 0; i < node.child_count; ++i) {
    arguments[i] = Evaluate(tree_.ChildrenOf(node)[i]);
    if (arguments[i].IsError()) return arguments[i];
  }
  pattern_ = node.pattern == 0 ? nullptr : &patterns_[node.pattern - 1];
  const CelFunction& function = CelFunctionAt(node.function);
  const CelValue result = function.call(*this, arguments.data(), node.child_count);
  Charge(CostOf(node, arguments.data(), result));
  if (result.IsError() && result.view().data() == kCelNoOverload.data()) {
    return NoOverload(node, arguments.data(), node.child_count);
  }
  return result;
}

CelValue CelRun::NoOverload(const CelNode& node, const CelValue* arguments, size_t count) {
  std::string text(CelFunctionAt(node.function).name);
  for (size_t i = 0; i < count; ++i) {
    text += i == 0 ? "(" : ", ";
    text += CelTypeName(arguments[i].kind);
  }
  return Fail("no such overload: ", text + ")");
}

uint64_t CelRun::CostOf(const CelNode& node, const CelValue* arguments,
                        const CelValue& result) const {
  const auto is_text = [](const CelValue& value) {
    return value.kind == CelKind::kString || value.kind == CelKind::kBytes;
  };
  const CelValue& first = arguments[0];
  const bool texts = !node.open_overload && is_text(first);
  switch (CelFunctionAt(node.function).cost) {
    case CelCost::kOne:
      return 1;
    case CelCost::kFirstSize:
      return Tenth(CelSize(first));
    case CelCost::kFirstTwice:
      return (CelSize(first) + 4) / 5;
    case CelCost::kSecondSize:
      return Tenth(CelSize(arguments[1]));
    case CelCost::kResultSize:
      return (CelSize(result) + 4) / 5;
    case CelCost::kEqual:
      return Tenth(std::min(CelSize(first), CelSize(arguments[1])));
    case CelCost::kOrder:
      return texts ? Tenth(std::min(CelSize(first), CelSize(arguments[1]))) : 1;
    case CelCost::kSum:
      return texts ? Tenth(CelSize(first) + CelSize(arguments[1])) : 1;
    case CelCost::kText:
      return texts ? Tenth(CelSize(first)) : 1;
    case CelCost::kSearch:
      return Tenth(CelSize(first)) * Tenth(CelSize(arguments[1]));
    case CelCost::kPattern:
      return Tenth(1 + CelSize(first)) * ((CelSize(arguments[1]) + 3) / 4);
    case CelCost::kMember:
      return node.open_overload || arguments[1].kind != CelKind::kList ? 1 : arguments[1].size;
    case CelCost::kTraversal:
      return TraversalCost(first);
  }
  return 1;
}

// && and || of any number of parts: the first part that decides is the result, else the first error
// there was.
CelValue CelRun::Junction(const CelNode& node, bool decides) {
  CelValue error = CelBool(!decides);
  for (uint32_t i = 0; i < node.child_count; ++i) {
    CelValue part = Evaluate(tree_.ChildrenOf(node)[i]);
    if (part.kind == CelKind::kBool) {
      if (part.boolean == decides) return part;
      continue;
    }
    if (!part.IsError()) part = CelNoOverload();
    if (!error.IsError()) error = part;
    if (!stop_.empty()) break;
  }
  return error;
}

CelValue CelRun::Conditional(const CelNode& node) {
  const uint32_t* const children = tree_.ChildrenOf(node);
  const CelValue condition = Evaluate(children[0]);
  if (condition.IsError()) return condition;
  if (condition.kind != CelKind::kBool) return CelNoOverload();
  return Evaluate(children[condition.boolean ? 1 : 2]);
}

CelValue CelRun::MakeList(const CelNode& node) {
  constexpr uint64_t kListCost = 10;
  CelValue* const items = NewItems(node.child_count);
  if (items == nullptr) return Stopped();
  for (uint32_t i = 0; i < node.child_count; ++i) {
    items[i] = Evaluate(tree_.ChildrenOf(node)[i]);
    if (items[i].IsError()) return items[i];
  }
  Charge(kListCost);
  return CelList(items, node.child_count);
}

CelValue CelRun::MakeMap(const CelNode& node) {
  constexpr uint64_t kMapCost = 30;
  CelValue* const entries = NewItems(node.child_count);
  if (entries == nullptr) return Stopped();
  for (uint32_t i = 0; i < node.child_count; ++i) {
    entries[i] = Evaluate(tree_.ChildrenOf(node)[i]);
    if (entries[i].IsError()) return entries[i];
  }
  Charge(kMapCost);
  size_t count = node.child_count / 2;
  if (!SortCelEntries(entries, &count)) return CelError("unsupported key type");
  return CelMap(entries, count);
}

bool SortCelEntries(CelValue* entries, size_t* count) {
  struct Entry {
    CelValue key;
    CelValue value;
    size_t place;  // In the expression: of equal keys, the last one wins.
  };
  std::vector<Entry> sorted;
  sorted.reserve(*count);
  for (size_t i = 0; i < *count; ++i) {
    const CelKind kind = entries[2 * i].kind;
    const bool fits = kind == CelKind::kBool || kind == CelKind::kInt || kind == CelKind::kUint ||
                      kind == CelKind::kString;
    if (!fits) return false;
    sorted.push_back({entries[2 * i], entries[2 * i + 1], i});
  }
  std::sort(sorted.begin(), sorted.end(), [](const Entry& left, const Entry& right) {
    const int order = CelCompareKeys(left.key, right.key);
    return order != 0 ? order < 0 : left.place < right.place;
  });
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const bool again =
        i + 1 < sorted.size() && CelCompareKeys(sorted[i].key, sorted[i + 1].key) == 0;
    if (again) continue;
    entries[2 * kept] = sorted[i].key;
    entries[2 * kept + 1] = sorted[i].value;
    ++kept;
  }
  *count = kept;
  return true;
}

CelValue CelRun::RangeOf(const CelNode& node, size_t* count) {
  const CelValue range = Evaluate(tree_.ChildrenOf(node)[0]);
  if (range.IsError()) return range;
  if (range.kind != CelKind::kList && range.kind != CelKind::kMap) {
    return Fail("expected a list or a map to iterate over, got ", CelTypeName(range.kind));
  }
  *count = CelSize(range);
  return range;
}

CelValue CelRun::Item(const CelValue& range, size_t index) const {
  return range.kind == CelKind::kList ? range.items[index] : KeyAt(range, index);
}

// all and exists: like && and || over the items.
CelValue CelRun::Quantify(const CelNode& node, bool decides) {
  size_t count = 0;
  const CelValue range = RangeOf(node, &count);
  if (range.IsError()) return range;
  // Upstream asks before each item whether the result stands already, and joins the item's to it.
  const uint64_t item_cost = decides ? 4 : 3;
  CelValue result = CelBool(!decides);
  for (size_t i = 0; i < count; ++i) {
    Charge(item_cost);
    slots_[node.slot] = Item(range, i);
    const CelArena::Mark mark = arena_.Now();
    CelValue part = Evaluate(tree_.ChildrenOf(node)[1]);
    if (!stop_.empty()) return Stopped();
    if (part.kind == CelKind::kBool && part.boolean == decides) {
      result = part;
      if (i + 1 < count) Charge(item_cost - 1);
      break;
    }
    if (part.kind != CelKind::kBool && !result.IsError()) {
      result = part.IsError() ? part : CelNoOverload();
    } else {
      arena_.Release(mark);
    }
  }
  Charge(1);
  return result;
}

CelValue CelRun::ExistsOne(const CelNode& node) {
  size_t count = 0;
  const CelValue range = RangeOf(node, &count);
  if (range.IsError()) return range;
  size_t matches = 0;
  for (size_t i = 0; i < count; ++i) {
    slots_[node.slot] = Item(range, i);
    const CelArena::Mark mark = arena_.Now();
    const CelValue part = Evaluate(tree_.ChildrenOf(node)[1]);
    if (part.IsError()) return part;
    if (part.kind != CelKind::kBool) return CelNoOverload();
    Charge(part.boolean ? 2 : 1);
    if (!stop_.empty()) return Stopped();
    if (part.boolean) ++matches;
    arena_.Release(mark);
  }
  Charge(2);
  return CelBool(matches == 1);
}

// map and filter.
CelValue CelRun::Collect(const CelNode& node) {
  constexpr uint64_t kAppendCost = 12;  // The list so far, a list of one, their sum.
  size_t count = 0;
  const CelValue range = RangeOf(node, &count);
  if (range.IsError()) return range;
  const uint32_t* const children = tree_.ChildrenOf(node);
  const bool filter = node.kind == CelNodeKind::kFilter;
  const bool conditional = filter || node.child_count == 3;
  CelValue* const items = NewItems(count);
  if (items == nullptr) return Stopped();
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    slots_[node.slot] = Item(range, i);
    if (conditional) {
      const CelValue condition = Evaluate(children[1]);
      if (condition.IsError()) return condition;
      if (condition.kind != CelKind::kBool) return CelNoOverload();
      if (!condition.boolean) Charge(1);
      if (!condition.boolean) continue;
    }
    // A filter's item costs its name.
    if (filter) Charge(1);
    items[kept] = filter ? slots_[node.slot] : Evaluate(children[node.child_count - 1]);
    if (items[kept].IsError()) return items[kept];
    Charge(kAppendCost);
    if (!stop_.empty()) return Stopped();
    ++kept;
  }
  Charge(1);
  return CelList(items, kept);
}

CelValue CelRun::Bind(const CelNode& node) {
  const uint32_t* const children = tree_.ChildrenOf(node);
  // An error is the variable's value: only a body that reads it fails.
  slots_[node.slot] = Evaluate(children[0]);
  if (!stop_.empty()) return Stopped();
  return Evaluate(children[1]);
}

bool CelRun::EqualItems(const CelValue& left, const CelValue& right) {
  if (left.size != right.size) return false;
  for (uint32_t i = 0; i < left.size; ++i) {
    // Upstream takes items that cannot be compared for equal ones.
    if (Equal(left.items[i], right.items[i]).IsFalse()) return false;
    if (!stop_.empty()) return false;
  }
  return true;
}

bool CelRun::EqualMaps(const CelValue& left, const CelValue& right) {
  const size_t count = CelSize(left);
  if (count != CelSize(right)) return false;
  for (size_t i = 0; i < count; ++i) {
    const CelValue key = KeyAt(left, i);
    CelValue mine;
    CelValue other;
    if (!HasKey(right, key) || !FindKey(right, key, &other)) return false;
    if (!FindKey(left, key, &mine) || Equal(mine, other).IsFalse()) return false;
    if (!stop_.empty()) return false;
  }
  return true;
}

CelValue CelRun::Equal(const CelValue& left, const CelValue& right) {
  if (!Step()) return Stopped();
  if (left.kind == CelKind::kNull || right.kind == CelKind::kNull) {
    return CelBool(left.kind == right.kind);
  }
  if (CelIsNumber(left.kind) && CelIsNumber(right.kind)) {
    return CelBool(CelCompareNumbers(left, right) == 0);
  }
  // Only quantities and versions refuse to be compared with something else.
  const bool exact = left.kind == CelKind::kQuantity || left.kind == CelKind::kVersion;
  if (left.kind != right.kind) return exact ? CelNoOverload() : CelBool(false);
  switch (left.kind) {
    case CelKind::kBool:
      return CelBool(left.boolean == right.boolean);
    case CelKind::kString:
    case CelKind::kBytes:
      return CelBool(left.view() == right.view());
    case CelKind::kList:
      return CelBool(EqualItems(left, right));
    case CelKind::kMap:
      return CelBool(EqualMaps(left, right));
    case CelKind::kType:
      return CelBool(left.type == right.type);
    case CelKind::kQuantity:
      return CelBool(*left.quantity == *right.quantity);
    case CelKind::kVersion:
      return CelBool(left.version->Compare(*right.version) == 0);
    default:
      return CelBool(left.kind == right.kind);
  }
}

}  // namespace schedq
