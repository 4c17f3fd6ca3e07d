#include "bench/format/cel/cel_checker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_types.h"
#include "bench/format/cel/cel_value.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"

namespace schedq {
namespace {

constexpr CelTypeId kDyn = CelTypes::Of(CelTypeKind::kDyn);
constexpr CelTypeId kBool = CelTypes::Of(CelTypeKind::kBool);
constexpr CelTypeId kInt = CelTypes::Of(CelTypeKind::kInt);
constexpr CelTypeId kString = CelTypes::Of(CelTypeKind::kString);
constexpr CelTypeId kDevice = CelTypes::Of(CelTypeKind::kDevice);

struct TypeName {
  std::string_view name;
  CelKind kind;
};
constexpr std::array<TypeName, 10> kTypeNames = {{{"bool", CelKind::kBool},
                                                  {"bytes", CelKind::kBytes},
                                                  {"double", CelKind::kDouble},
                                                  {"int", CelKind::kInt},
                                                  {"list", CelKind::kList},
                                                  {"map", CelKind::kMap},
                                                  {"null_type", CelKind::kNull},
                                                  {"string", CelKind::kString},
                                                  {"type", CelKind::kType},
                                                  {"uint", CelKind::kUint}}};

CelTypeId TypeOfConstant(CelKind kind) {
  switch (kind) {
    case CelKind::kNull:
      return CelTypes::Of(CelTypeKind::kNull);
    case CelKind::kBool:
      return kBool;
    case CelKind::kInt:
      return kInt;
    case CelKind::kUint:
      return CelTypes::Of(CelTypeKind::kUint);
    case CelKind::kDouble:
      return CelTypes::Of(CelTypeKind::kDouble);
    case CelKind::kString:
      return kString;
    case CelKind::kBytes:
      return CelTypes::Of(CelTypeKind::kBytes);
    default:
      return kDyn;
  }
}

class Checker {
 public:
  Checker(const CelRules& rules, CelTree* tree, CelConstants* constants, CelProblem* problem)
      : rules_(rules), tree_(tree), constants_(constants), problem_(problem) {}

  bool Run() {
    const CelTypeId type = types_.Substitute(Check(tree_->root), true);
    const bool fits = type == kBool || type == kDyn;
    if (!failed_ && rules_.gives_bool && !fits) {
      Fail(0, "must evaluate to bool or the unknown type, not " + types_.NameOf(type));
    }
    return !failed_;
  }

 private:
  struct Variable {
    std::string_view name;
    CelTypeId type;
  };

  CelTypeId Fail(size_t offset, std::string what) {
    if (!failed_) *problem_ = {offset, std::move(what)};
    failed_ = true;
    return kDyn;
  }
  CelTypeId FailType(const CelNode& node, CelTypeId expected, CelTypeId actual) {
    if (types_.exhausted()) return Fail(node.offset, "the types are too large");
    return Fail(node.offset, "expected type '" + types_.NameOf(expected) + "' but found '" +
                                 types_.NameOf(actual) + "'");
  }

  CelNode& NodeAt(uint32_t index) { return tree_->nodes[index]; }
  uint32_t ChildAt(const CelNode& node, uint32_t i) const { return tree_->ChildrenOf(node)[i]; }

  CelTypeId Check(uint32_t index);
  CelTypeId CheckName(CelNode& node);
  CelTypeId CheckField(CelNode& node);
  CelTypeId CheckDeviceField(CelNode& node);
  CelTypeId CheckIndex(CelNode& node);
  CelTypeId CheckCall(CelNode& node);
  CelTypeId Resolve(CelNode& node, const std::vector<CelTypeId>& arguments);
  bool CheckReceiver(const CelNode& node);
  CelTypeId CheckJunction(const CelNode& node);
  CelTypeId CheckConditional(const CelNode& node);
  CelTypeId CheckList(CelNode& node);
  CelTypeId CheckMap(CelNode& node);
  CelTypeId CheckMacro(CelNode& node);
  CelTypeId CheckBind(CelNode& node);
  CelTypeId CheckInScope(CelNode& node, uint32_t child, CelTypeId type);
  void CheckIsBool(uint32_t index, CelTypeId type);
  CelTypeId Join(uint32_t index, std::optional<CelTypeId> before, CelTypeId type);
  CelTypeId ReadType(std::string_view* signature, std::array<CelTypeId, 2>* variables);
  bool AreConstant(const CelNode& node) const;
  void FoldItems(CelNode& node);
  void FoldCall(CelNode& node);
  void CompilePattern(CelNode& node);

  const CelRules rules_;
  CelTree* tree_;
  CelConstants* constants_;
  CelProblem* problem_;
  CelTypes types_;
  std::vector<Variable> scope_;
  bool failed_ = false;
};

CelTypeId Checker::Check(uint32_t index) {
  if (failed_) return kDyn;
  CelNode& node = NodeAt(index);
  switch (node.kind) {
    case CelNodeKind::kConstant:
      return TypeOfConstant(node.value.kind);
    case CelNodeKind::kName:
    case CelNodeKind::kDevice:
    case CelNodeKind::kSlot:
      return CheckName(node);
    case CelNodeKind::kSelect:
    case CelNodeKind::kHas:
      return CheckField(node);
    case CelNodeKind::kIndex:
      return CheckIndex(node);
    case CelNodeKind::kCall:
      return CheckCall(node);
    case CelNodeKind::kAnd:
    case CelNodeKind::kOr:
      return CheckJunction(node);
    case CelNodeKind::kConditional:
      return CheckConditional(node);
    case CelNodeKind::kList:
      return CheckList(node);
    case CelNodeKind::kMap:
      return CheckMap(node);
    case CelNodeKind::kBind:
      return CheckBind(node);
    default:
      return CheckMacro(node);
  }
}

CelTypeId Checker::CheckName(CelNode& node) {
  const bool global = node.method;
  for (size_t i = scope_.size(); i-- > 0 && !global;) {
    if (scope_[i].name != node.text) continue;
    node.kind = CelNodeKind::kSlot;
    node.slot = static_cast<uint16_t>(i);
    return scope_[i].type;
  }
  if (rules_.has_device && node.text == "device") {
    node.kind = CelNodeKind::kDevice;
    return kDevice;
  }
  const auto* const named =
      std::find_if(kTypeNames.begin(), kTypeNames.end(),
                   [&](const TypeName& known) { return known.name == node.text; });
  if (named != kTypeNames.end()) {
    node.kind = CelNodeKind::kConstant;
    node.value = CelType(named->kind);
    node.cost = 1;
    return types_.TypeOf(TypeOfConstant(named->kind));
  }
  return Fail(node.offset, "undeclared reference to '" + std::string(node.text) + "'");
}

CelTypeId Checker::CheckField(CelNode& node) {
  const CelTypeId operand = types_.Substitute(Check(ChildAt(node, 0)), false);
  if (failed_) return kDyn;
  CelTypeId field = kDyn;
  switch (types_.KindOf(operand)) {
    case CelTypeKind::kMap:
      field = types_.Second(operand);
      break;
    case CelTypeKind::kDevice:
      field = CheckDeviceField(node);
      break;
    case CelTypeKind::kVariable:
      types_.Assign(kDyn, operand);
      node.open_overload = true;
      break;
    case CelTypeKind::kDyn:
      node.open_overload = true;
      break;
    default:
      return Fail(node.offset,
                  "type '" + types_.NameOf(operand) + "' does not support field selection");
  }
  return node.kind == CelNodeKind::kHas ? kBool : types_.Substitute(field, false);
}

CelTypeId Checker::CheckDeviceField(CelNode& node) {
  if (node.text == "driver") return kString;
  if (node.text == "allowMultipleAllocations") {
    node.slot = 1;
    return kBool;
  }
  if (node.text == "attributes") {
    node.slot = 2;
    return types_.Map(kString, types_.Map(kString, kDyn));
  }
  if (node.text == "capacity") {
    node.slot = 3;
    return types_.Map(kString, types_.Map(kString, CelTypes::Of(CelTypeKind::kQuantity)));
  }
  return Fail(node.offset, "undefined field '" + std::string(node.text) + "'");
}

CelTypeId Checker::CheckIndex(CelNode& node) {
  const CelTypeId operand = types_.Substitute(Check(ChildAt(node, 0)), false);
  const CelTypeId key = Check(ChildAt(node, 1));
  if (failed_) return kDyn;
  const CelTypeId item = types_.NewVariable();
  const CelTypeId wanted_key = types_.NewVariable();
  const bool list = types_.Assign({{operand, types_.List(item)}, {key, kInt}});
  const CelTypeId from_list = list ? types_.Substitute(item, false) : kDyn;
  const CelTypeId value = types_.NewVariable();
  const bool map = types_.Assign({{operand, types_.Map(wanted_key, value)}, {key, wanted_key}});
  if (list && map) return kDyn;
  if (list) return from_list;
  if (map) return types_.Substitute(value, false);
  return Fail(node.offset, "found no matching overload for '_[_]' applied to '(" +
                               types_.NameOf(operand) + ", " + types_.NameOf(key) + ")'");
}

// A receiver that is no variable may be the first part of a function's name.
bool Checker::CheckReceiver(const CelNode& node) {
  const CelNode& receiver = tree_->Child(node, 0);
  const bool unmodelled =
      receiver.kind == CelNodeKind::kName && IsUnmodelledCelFunction(receiver.text) &&
      std::none_of(scope_.begin(), scope_.end(),
                   [&](const Variable& known) { return known.name == receiver.text; });
  if (!unmodelled) return true;
  Fail(receiver.offset,
       "'" + std::string(receiver.text) + "." + std::string(node.text) + "' is not modelled");
  return false;
}

CelTypeId Checker::CheckCall(CelNode& node) {
  if (node.method && !CheckReceiver(node)) return kDyn;
  std::vector<CelTypeId> arguments;
  for (uint32_t i = 0; i < node.child_count; ++i) {
    arguments.push_back(Check(ChildAt(node, i)));
    if (failed_) return kDyn;
  }
  const int function = FindCelFunction(node.text);
  if (function < 0) {
    const std::string name = "'" + std::string(node.text) + "'";
    if (IsUnmodelledCelFunction(node.text)) return Fail(node.offset, name + " is not modelled");
    return Fail(node.offset, "undeclared reference to " + name);
  }
  node.function = static_cast<uint8_t>(function);
  const CelTypeId result = Resolve(node, arguments);
  if (failed_) return kDyn;
  CompilePattern(node);
  if (!failed_) FoldCall(node);
  return result;
}

CelTypeId Checker::ReadType(std::string_view* signature, std::array<CelTypeId, 2>* variables) {
  const char letter = (*signature)[0];
  signature->remove_prefix(1);
  switch (letter) {
    case 'L':
      return types_.List(ReadType(signature, variables));
    case 'T':
      return types_.TypeOf(ReadType(signature, variables));
    case 'M': {
      const CelTypeId key = ReadType(signature, variables);
      return types_.Map(key, ReadType(signature, variables));
    }
    case 'A':
    case 'B': {
      CelTypeId& variable = (*variables)[letter - 'A'];
      if (variable == kDyn) variable = types_.NewVariable();
      return variable;
    }
    default:
      break;
  }
  constexpr std::string_view kLetters = "*_biudsy_qv";  // In the order of CelTypeKind.
  return static_cast<CelTypeId>(kLetters.find(letter));
}

// The type of the result by the overloads that fit; more than one fits where types are unknown.
CelTypeId Checker::Resolve(CelNode& node, const std::vector<CelTypeId>& arguments) {
  std::string_view rest = CelFunctionAt(node.function).overloads;
  std::optional<CelTypeId> result;
  while (!rest.empty()) {
    std::string_view signature = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(signature.size() + 1, rest.size()));
    const bool method = signature[0] == '.';
    if (method) signature.remove_prefix(1);
    if (method != node.method) continue;
    std::array<CelTypeId, 2> variables = {kDyn, kDyn};
    std::vector<std::pair<CelTypeId, CelTypeId>> pairs;
    for (size_t i = 0; signature[0] != ':'; ++i) {
      const CelTypeId wanted = ReadType(&signature, &variables);
      pairs.emplace_back(i < arguments.size() ? arguments[i] : kDyn, wanted);
    }
    if (pairs.size() != arguments.size() || !types_.Assign(pairs)) continue;
    signature.remove_prefix(1);
    const CelTypeId type = types_.Substitute(ReadType(&signature, &variables), false);
    node.open_overload = result.has_value();
    if (!result) {
      result = type;
    } else if (*result != type) {
      result = kDyn;
    }
  }
  if (result) return *result;
  if (types_.exhausted()) return Fail(node.offset, "the types are too large");
  std::string types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) types += node.method && i == 1 ? ".(" : ", ";
    types += types_.NameOf(arguments[i]);
  }
  types = node.method ? types + (arguments.size() == 1 ? ".()" : ")") : "(" + types + ")";
  return Fail(node.offset, "found no matching overload for '" + std::string(node.text) +
                               "' applied to '" + types + "'");
}

void Checker::CheckIsBool(uint32_t index, CelTypeId type) {
  if (!failed_ && !types_.Assign(type, kBool)) FailType(NodeAt(index), kBool, type);
}

CelTypeId Checker::CheckJunction(const CelNode& node) {
  for (uint32_t i = 0; i < node.child_count; ++i) {
    const uint32_t child = ChildAt(node, i);
    CheckIsBool(child, Check(child));
  }
  return kBool;
}

CelTypeId Checker::CheckConditional(const CelNode& node) {
  const CelTypeId condition = Check(ChildAt(node, 0));
  const CelTypeId when_true = Check(ChildAt(node, 1));
  const CelTypeId when_false = Check(ChildAt(node, 2));
  if (failed_) return kDyn;
  const CelTypeId common = types_.NewVariable();
  if (types_.Assign({{condition, kBool}, {when_true, common}, {when_false, common}})) {
    return types_.Substitute(common, false);
  }
  return Fail(node.offset, "found no matching overload for '_?_:_' applied to '(" +
                               types_.NameOf(condition) + ", " + types_.NameOf(when_true) + ", " +
                               types_.NameOf(when_false) + ")'");
}

// The common type of an item and those before it; literals hold one type only.
CelTypeId Checker::Join(uint32_t index, std::optional<CelTypeId> before, CelTypeId type) {
  if (failed_ || !before) return type;
  if (types_.Assign(*before, type)) return types_.MostGeneral(*before, type);
  return FailType(NodeAt(index), *before, type);
}

CelTypeId Checker::CheckList(CelNode& node) {
  std::optional<CelTypeId> item;
  for (uint32_t i = 0; i < node.child_count; ++i) {
    const uint32_t child = ChildAt(node, i);
    item = Join(child, item, Check(child));
  }
  FoldItems(node);
  return types_.List(item ? *item : types_.NewVariable());
}

CelTypeId Checker::CheckMap(CelNode& node) {
  std::optional<CelTypeId> key;
  std::optional<CelTypeId> value;
  for (uint32_t i = 0; i + 1 < node.child_count; i += 2) {
    key = Join(ChildAt(node, i), key, Check(ChildAt(node, i)));
    value = Join(ChildAt(node, i + 1), value, Check(ChildAt(node, i + 1)));
  }
  FoldItems(node);
  const CelTypeId key_type = key ? *key : types_.NewVariable();
  return types_.Map(key_type, value ? *value : types_.NewVariable());
}

// Checks a child in which the node's variable has the type.
CelTypeId Checker::CheckInScope(CelNode& node, uint32_t child, CelTypeId type) {
  node.slot = static_cast<uint16_t>(scope_.size());
  scope_.push_back({node.text, type});
  const CelTypeId result = Check(ChildAt(node, child));
  scope_.pop_back();
  return result;
}

CelTypeId Checker::CheckBind(CelNode& node) {
  return CheckInScope(node, 1, Check(ChildAt(node, 0)));
}

CelTypeId Checker::CheckMacro(CelNode& node) {
  const uint32_t range_index = ChildAt(node, 0);
  const CelTypeId range = types_.Substitute(Check(range_index), false);
  if (failed_) return kDyn;
  CelTypeId item = kDyn;
  switch (types_.KindOf(range)) {
    case CelTypeKind::kList:
    case CelTypeKind::kMap:
      item = types_.First(range);
      break;
    case CelTypeKind::kVariable:
      types_.Assign(kDyn, range);
      break;
    case CelTypeKind::kDyn:
      break;
    default:
      return Fail(NodeAt(range_index).offset,
                  "expression of type '" + types_.NameOf(range) +
                      "' cannot be range of a comprehension (must be list, map, or dynamic)");
  }
  const bool maps = node.kind == CelNodeKind::kMapLoop;
  if (!maps || node.child_count == 3) {
    CheckIsBool(ChildAt(node, 1), CheckInScope(node, 1, item));
  }
  if (maps) return types_.List(CheckInScope(node, node.child_count - 1, item));
  return node.kind == CelNodeKind::kFilter ? types_.List(item) : kBool;
}

bool Checker::AreConstant(const CelNode& node) const {
  const uint32_t* const children = tree_->ChildrenOf(node);
  return std::all_of(children, children + node.child_count, [this](uint32_t child) {
    return tree_->nodes[child].kind == CelNodeKind::kConstant;
  });
}

// A list or a map of constants is made once. Upstream does so too, and then it costs nothing.
void Checker::FoldItems(CelNode& node) {
  if (failed_ || !AreConstant(node)) return;
  auto items = std::make_unique<CelValue[]>(node.child_count);
  for (uint32_t i = 0; i < node.child_count; ++i) items[i] = tree_->Child(node, i).value;
  if (node.kind == CelNodeKind::kList) {
    node.value = CelList(items.get(), node.child_count);
  } else {
    size_t count = node.child_count / 2;
    if (!SortCelEntries(items.get(), &count)) return;
    node.value = CelMap(items.get(), count);
  }
  node.kind = CelNodeKind::kConstant;
  constants_->items.push_back(std::move(items));
}

// Quantities and versions of constant texts are made once, and cost what making them costs.
void Checker::FoldCall(CelNode& node) {
  const bool quantity = node.text == "quantity";
  if ((!quantity && node.text != "semver") || !AreConstant(node)) return;
  const CelValue& text = tree_->Child(node, 0).value;
  if (quantity) {
    const auto parsed = ExactQuantity::Parse(text.view());
    if (!parsed) return;
    constants_->quantities.push_back(std::make_unique<const ExactQuantity>(*parsed));
    node.value = CelQuantity(constants_->quantities.back().get());
  } else {
    const bool tolerant = node.child_count == 2 && tree_->Child(node, 1).value.boolean;
    auto parsed = tolerant ? SemanticVersion::ParseTolerant(text.view())
                           : SemanticVersion::Parse(text.view());
    if (!parsed) return;
    constants_->versions.push_back(std::make_unique<const SemanticVersion>(std::move(*parsed)));
    node.value = CelVersion(constants_->versions.back().get());
  }
  node.kind = CelNodeKind::kConstant;
  node.cost = static_cast<uint32_t>((CelSize(text) + 9) / 10);
}

void Checker::CompilePattern(CelNode& node) {
  if (node.text != "matches" && node.text != "find") return;
  const CelNode& argument = tree_->Child(node, 1);
  if (argument.kind != CelNodeKind::kConstant || argument.value.kind != CelKind::kString) return;
  auto pattern = Pattern::Parse(argument.value.view());
  if (!pattern.ok()) {
    Fail(argument.offset,
         "invalid " + std::string(node.text) + " argument: " + pattern.error().message());
    return;
  }
  constants_->patterns.push_back(std::move(*pattern));
  node.pattern = static_cast<uint32_t>(constants_->patterns.size());
}

}  // namespace

bool CheckCel(const CelRules& rules, CelTree* tree, CelConstants* constants, CelProblem* problem) {
  return Checker(rules, tree, constants, problem).Run();
}

}  // namespace schedq
