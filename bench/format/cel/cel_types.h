// The types that the checker infers: a table in which equal types have equal numbers.
//
// Purpose: overloads are chosen, and wrong operands refused, before an expression is evaluated.
// The rules of assignability are cel-go's: dyn goes with everything, and variables stand for the
// unknown types of empty lists and of generic functions until something binds them.
// Threads: one.
// Bound: kStepsMax comparisons for one expression; beyond it everything is unassignable and
// `exhausted` is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace schedq {

using CelTypeId = uint32_t;

enum class CelTypeKind : uint8_t {
  kDyn,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDevice,
  kQuantity,
  kVersion,
  kList,      // Of first.
  kMap,       // From first to second.
  kType,      // The type of types; first is the one meant.
  kVariable,  // The variable with the number first.
};

class CelTypes {
 public:
  CelTypes();

  // A kind without parameters has the number of its kind as its type.
  static constexpr CelTypeId Of(CelTypeKind kind) { return static_cast<CelTypeId>(kind); }
  CelTypeId List(CelTypeId item) { return Intern(CelTypeKind::kList, item, 0); }
  CelTypeId Map(CelTypeId key, CelTypeId value) { return Intern(CelTypeKind::kMap, key, value); }
  CelTypeId TypeOf(CelTypeId type) { return Intern(CelTypeKind::kType, type, 0); }
  CelTypeId NewVariable();

  CelTypeKind KindOf(CelTypeId type) const { return types_[type].kind; }
  CelTypeId First(CelTypeId type) const { return types_[type].first; }
  CelTypeId Second(CelTypeId type) const { return types_[type].second; }

  // Whether values of the types may stand where those others are expected, pair by pair. If so, the
  // variables in them are bound accordingly; if not, nothing changes.
  bool Assign(const std::vector<std::pair<CelTypeId, CelTypeId>>& pairs);
  bool Assign(CelTypeId type, CelTypeId expected) { return Assign({{type, expected}}); }

  // The type with its bound variables replaced; unbound ones become dyn if `to_dyn` is set.
  CelTypeId Substitute(CelTypeId type, bool to_dyn);
  CelTypeId MostGeneral(CelTypeId left, CelTypeId right);

  // "map(string, dyn)"
  std::string NameOf(CelTypeId type);
  bool exhausted() const { return steps_ > kStepsMax; }

 private:
  static constexpr size_t kStepsMax = 1'000'000;
  static constexpr CelTypeId kUnbound = ~CelTypeId{0};
  struct Type {
    CelTypeKind kind;
    bool open;  // Holds a variable.
    CelTypeId first;
    CelTypeId second;
  };

  CelTypeId Intern(CelTypeKind kind, CelTypeId first, CelTypeId second);
  bool Step() { return ++steps_ <= kStepsMax; }
  bool Matches(CelTypeId type, CelTypeId expected);
  // Whether the type may be what the variable stands for, and whether the variable was bound.
  std::pair<bool, bool> Binds(CelTypeId type, CelTypeId variable);
  bool IsFreeOf(CelTypeId variable, CelTypeId type);
  bool IsAtMostAsSpecific(CelTypeId left, CelTypeId right);
  bool IsNullable(CelTypeId type) const;
  CelTypeId BindingOf(CelTypeId variable) const { return bindings_[types_[variable].first]; }
  void Bind(CelTypeId variable, CelTypeId type);
  std::string NameWithin(CelTypeId type, int depth) const;

  std::vector<Type> types_;
  std::map<std::tuple<CelTypeKind, CelTypeId, CelTypeId>, CelTypeId> known_;
  std::vector<CelTypeId> bindings_;                    // By number of variable.
  std::vector<std::pair<CelTypeId, CelTypeId>> undo_;  // Number of variable, its binding before.
  size_t steps_ = 0;
};

}  // namespace schedq
