#include "bench/format/cel/cel_types.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace schedq {
namespace {

bool HasParameters(CelTypeKind kind) { return kind >= CelTypeKind::kList; }

}  // namespace

CelTypes::CelTypes() {
  for (int kind = 0; kind < static_cast<int>(CelTypeKind::kList); ++kind) {
    types_.push_back({static_cast<CelTypeKind>(kind), false, 0, 0});
  }
}

CelTypeId CelTypes::Intern(CelTypeKind kind, CelTypeId first, CelTypeId second) {
  const auto next = static_cast<CelTypeId>(types_.size());
  const auto [place, added] = known_.try_emplace({kind, first, second}, next);
  if (added) {
    const bool variable = kind == CelTypeKind::kVariable;
    const bool open = variable || types_[first].open || types_[second].open;
    types_.push_back({kind, open, first, second});
  }
  return place->second;
}

CelTypeId CelTypes::NewVariable() {
  bindings_.push_back(kUnbound);
  return Intern(CelTypeKind::kVariable, static_cast<CelTypeId>(bindings_.size() - 1), 0);
}

void CelTypes::Bind(CelTypeId variable, CelTypeId type) {
  CelTypeId& binding = bindings_[types_[variable].first];
  undo_.emplace_back(types_[variable].first, binding);
  binding = type;
}

bool CelTypes::Assign(const std::vector<std::pair<CelTypeId, CelTypeId>>& pairs) {
  undo_.clear();
  const bool matches = std::all_of(pairs.begin(), pairs.end(), [this](const auto& pair) {
    return Matches(pair.first, pair.second);
  });
  if (!matches) {
    for (auto change = undo_.rbegin(); change != undo_.rend(); ++change) {
      bindings_[change->first] = change->second;
    }
  }
  return matches;
}

bool CelTypes::IsNullable(CelTypeId type) const {
  const CelTypeKind kind = KindOf(type);
  return kind == CelTypeKind::kNull || kind == CelTypeKind::kDevice ||
         kind == CelTypeKind::kQuantity || kind == CelTypeKind::kVersion;
}

bool CelTypes::Matches(CelTypeId type, CelTypeId expected) {
  if (!Step()) return false;
  if (type == expected) return true;
  const CelTypeKind kind = KindOf(type);
  const CelTypeKind wanted = KindOf(expected);
  if (wanted == CelTypeKind::kVariable) {
    const auto [valid, bound] = Binds(type, expected);
    if (valid || bound) return valid;
  }
  if (kind == CelTypeKind::kVariable) return Binds(expected, type).first;
  if (kind == CelTypeKind::kDyn || wanted == CelTypeKind::kDyn) return true;
  if (kind == CelTypeKind::kNull) return IsNullable(expected);
  if (wanted == CelTypeKind::kNull) return IsNullable(type);
  if (kind != wanted || !HasParameters(kind)) return false;
  if (kind == CelTypeKind::kType) return true;
  if (!Matches(First(type), First(expected))) return false;
  return kind == CelTypeKind::kList || Matches(Second(type), Second(expected));
}

std::pair<bool, bool> CelTypes::Binds(CelTypeId type, CelTypeId variable) {
  if (type == variable) return {true, true};
  const CelTypeId binding = BindingOf(variable);
  if (binding == kUnbound) {
    if (!IsFreeOf(variable, type)) return {false, false};
    Bind(variable, type);
    return {true, false};
  }
  if (type == binding) return {true, true};
  if (!Matches(type, binding)) return {false, true};
  const CelTypeId general = MostGeneral(type, binding);
  if (IsFreeOf(variable, general)) Bind(variable, general);
  return {true, true};
}

bool CelTypes::IsFreeOf(CelTypeId variable, CelTypeId type) {
  if (!Step() || type == variable) return false;
  if (!types_[type].open) return true;
  if (KindOf(type) == CelTypeKind::kVariable) {
    const CelTypeId binding = BindingOf(type);
    return binding == kUnbound || IsFreeOf(variable, binding);
  }
  return IsFreeOf(variable, First(type)) &&
         (KindOf(type) != CelTypeKind::kMap || IsFreeOf(variable, Second(type)));
}

bool CelTypes::IsAtMostAsSpecific(CelTypeId left, CelTypeId right) {
  if (!Step()) return false;
  const auto any = [this](CelTypeId type) {
    return KindOf(type) == CelTypeKind::kDyn || KindOf(type) == CelTypeKind::kVariable;
  };
  if (left == right || any(left)) return true;
  if (any(right) || KindOf(left) != KindOf(right)) return false;
  if (KindOf(left) == CelTypeKind::kType) return true;
  if (!HasParameters(KindOf(left))) return false;
  return IsAtMostAsSpecific(First(left), First(right)) &&
         (KindOf(left) == CelTypeKind::kList || IsAtMostAsSpecific(Second(left), Second(right)));
}

CelTypeId CelTypes::MostGeneral(CelTypeId left, CelTypeId right) {
  return IsAtMostAsSpecific(left, right) ? left : right;
}

CelTypeId CelTypes::Substitute(CelTypeId type, bool to_dyn) {
  if (!Step() || !types_[type].open) return type;
  const Type copy = types_[type];
  switch (copy.kind) {
    case CelTypeKind::kVariable: {
      const CelTypeId binding = BindingOf(type);
      if (binding != kUnbound) return Substitute(binding, to_dyn);
      return to_dyn ? Of(CelTypeKind::kDyn) : type;
    }
    case CelTypeKind::kList:
      return List(Substitute(copy.first, to_dyn));
    case CelTypeKind::kMap: {
      const CelTypeId key = Substitute(copy.first, to_dyn);
      return Map(key, Substitute(copy.second, to_dyn));
    }
    default:
      return TypeOf(Substitute(copy.first, to_dyn));
  }
}

std::string CelTypes::NameOf(CelTypeId type) { return NameWithin(Substitute(type, true), 0); }

std::string CelTypes::NameWithin(CelTypeId type, int depth) const {
  constexpr int kNamedDepthMax = 4;
  constexpr std::array<std::string_view, 11> kNames = {"dyn",
                                                       "null",
                                                       "bool",
                                                       "int",
                                                       "uint",
                                                       "double",
                                                       "string",
                                                       "bytes",
                                                       "kubernetes.DRADevice",
                                                       "kubernetes.Quantity",
                                                       "kubernetes.Semver"};
  const CelTypeKind kind = KindOf(type);
  if (!HasParameters(kind)) return std::string(kNames[type]);
  if (depth == kNamedDepthMax) return "...";
  if (kind == CelTypeKind::kVariable) return "dyn";
  const std::string first = NameWithin(First(type), depth + 1);
  if (kind == CelTypeKind::kList) return "list(" + first + ")";
  if (kind == CelTypeKind::kType) return "type(" + first + ")";
  return "map(" + first + ", " + NameWithin(Second(type), depth + 1) + ")";
}

}  // namespace schedq
