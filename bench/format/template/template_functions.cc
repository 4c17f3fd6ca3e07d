#include "bench/format/template/template_functions.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "bench/format/template/template_printf.h"
#include "bench/format/yaml/yaml_scalar.h"

namespace schedq {
namespace {

using Arguments = std::vector<Value>;

Error BadCast(const Value& value, const char* type) {
  return Error("cannot cast " + FormatValue(value) + " to " + type);
}

Result<double> ToFloat(const Value& value) {
  if (const double* number = value.AsFloat()) return *number;
  if (const int64_t* number = value.AsInt()) return static_cast<double>(*number);
  if (const std::string* text = value.AsString()) {
    if (const auto number = ParseDecimal(*text)) return *number;
  }
  return BadCast(value, "float64");
}

// Go truncates. On amd64 a value that does not fit becomes the smallest integer.
int64_t Truncate(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value > -kLimit && value < kLimit)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

Result<Value> Int(const Arguments& arguments) {
  const Value& value = arguments[0];
  if (const double* number = value.AsFloat()) return Value(Truncate(*number));
  if (value.AsInt() != nullptr) return value;
  if (const std::string* text = value.AsString()) {
    if (const auto number = ParseDecimalInteger(*text)) return Value(*number);
  }
  return BadCast(value, "int");
}

Result<Value> Json(const Arguments& arguments) { return Value(ToJson(arguments[0])); }

Result<Value> AddFloat(const Arguments& arguments) {
  double sum = 0;
  for (const Value& argument : arguments) {
    const auto number = ToFloat(argument);
    if (!number) return number.error();
    sum += *number;
  }
  return Value(sum);
}

Result<Value> MultiplyFloat(const Arguments& arguments) {
  double product = 1;
  for (const Value& argument : arguments) {
    const auto number = ToFloat(argument);
    if (!number) return number.error();
    product *= *number;
  }
  return Value(product);
}

Result<Value> SubtractFloat(const Arguments& arguments) {
  const auto left = ToFloat(arguments[0]);
  if (!left) return left.error();
  const auto right = ToFloat(arguments[1]);
  if (!right) return right.error();
  return Value(*left - *right);
}

Result<Value> DivideFloat(const Arguments& arguments) {
  const auto left = ToFloat(arguments[0]);
  if (!left) return left.error();
  const auto right = ToFloat(arguments[1]);
  if (!right) return right.error();
  if (*right == 0) return Error("division by zero");
  return Value(*left / *right);
}

template <Result<Value> (*call)(const Arguments&)>
Result<Value> AsInt(const Arguments& arguments) {
  Result<Value> result = call(arguments);
  if (!result) return result;
  return Value(Truncate(*result->AsFloat()));
}

Result<Value> Mod(const Arguments& arguments) {
  const auto left = ToFloat(arguments[0]);
  if (!left) return left.error();
  const auto right = ToFloat(arguments[1]);
  if (!right) return right.error();
  const int64_t divisor = Truncate(*right);
  if (divisor == 0) return Error("integer divide by zero");
  if (divisor == -1) return Value(int64_t{0});
  return Value(Truncate(*left) % divisor);
}

enum class BasicKind { kInvalid, kBool, kInt, kFloat, kString, kOther };

BasicKind KindOf(const Value& value) {
  if (value.IsNil()) return BasicKind::kInvalid;
  if (value.AsBool() != nullptr) return BasicKind::kBool;
  if (value.AsInt() != nullptr) return BasicKind::kInt;
  if (value.AsFloat() != nullptr) return BasicKind::kFloat;
  if (value.AsString() != nullptr) return BasicKind::kString;
  return BasicKind::kOther;
}

Result<bool> Equal(const Value& left, const Value& right) {
  const BasicKind kind = KindOf(left);
  if (kind != KindOf(right)) {
    if (kind == BasicKind::kInvalid || KindOf(right) == BasicKind::kInvalid) return false;
    return Error("incompatible types for comparison");
  }
  switch (kind) {
    case BasicKind::kInvalid:
      return true;
    case BasicKind::kBool:
      return *left.AsBool() == *right.AsBool();
    case BasicKind::kInt:
      return *left.AsInt() == *right.AsInt();
    case BasicKind::kFloat:
      return *left.AsFloat() == *right.AsFloat();
    case BasicKind::kString:
      return *left.AsString() == *right.AsString();
    case BasicKind::kOther:
      break;
  }
  return Error("non-comparable type " + std::string(left.TypeName()));
}

Result<bool> Less(const Value& left, const Value& right) {
  const BasicKind kind = KindOf(left);
  const BasicKind other = KindOf(right);
  const auto ordered = [](BasicKind k) {
    return k != BasicKind::kInvalid && k != BasicKind::kOther;
  };
  if (!ordered(kind) || !ordered(other)) return Error("invalid type for comparison");
  if (kind != other) return Error("incompatible types for comparison");
  if (kind == BasicKind::kInt) return *left.AsInt() < *right.AsInt();
  if (kind == BasicKind::kFloat) return *left.AsFloat() < *right.AsFloat();
  if (kind == BasicKind::kString) return *left.AsString() < *right.AsString();
  return Error("invalid type for comparison");
}

Result<Value> Eq(const Arguments& arguments) {
  if (arguments.size() < 2) return Error("missing argument for comparison");
  for (size_t i = 1; i < arguments.size(); ++i) {
    const auto equal = Equal(arguments[0], arguments[i]);
    if (!equal) return equal.error();
    if (*equal) return Value(true);
  }
  return Value(false);
}

Result<Value> Ne(const Arguments& arguments) {
  const auto equal = Equal(arguments[0], arguments[1]);
  if (!equal) return equal.error();
  return Value(!*equal);
}

Result<Value> Lt(const Arguments& arguments) {
  const auto less = Less(arguments[0], arguments[1]);
  if (!less) return less.error();
  return Value(*less);
}

// Go defines `le` as less than, or equal.
Result<Value> Le(const Arguments& arguments) {
  const auto less = Less(arguments[0], arguments[1]);
  if (!less) return less.error();
  if (*less) return Value(true);
  const auto equal = Equal(arguments[0], arguments[1]);
  if (!equal) return equal.error();
  return Value(*equal);
}

Result<Value> Negate(const Result<Value>& result) {
  if (!result) return result;
  return Value(!*result->AsBool());
}
Result<Value> Gt(const Arguments& arguments) { return Negate(Le(arguments)); }
Result<Value> Ge(const Arguments& arguments) { return Negate(Lt(arguments)); }

Result<Value> Not(const Arguments& arguments) { return Value(!arguments[0].Truth()); }

Result<Value> Len(const Arguments& arguments) {
  const Value& value = arguments[0];
  if (const auto* text = value.AsString()) return Value(static_cast<int64_t>(text->size()));
  if (const auto* list = value.AsList()) return Value(static_cast<int64_t>(list->size()));
  if (const auto* map = value.AsMap()) return Value(static_cast<int64_t>(map->size()));
  if (value.IsNil()) return Error("len of nil pointer");
  return Error("len of type " + std::string(value.TypeName()));
}

Result<Value> IndexOne(const Value& value, const Value& key) {
  if (const ValueMap* map = value.AsMap()) {
    const std::string* name = key.AsString();
    if (name == nullptr) {
      return Error("value has type " + std::string(key.TypeName()) + "; should be string");
    }
    const auto found = map->find(*name);
    return found == map->end() ? Value() : found->second;
  }
  const ValueList* list = value.AsList();
  const std::string* text = value.AsString();
  if (list == nullptr && text == nullptr) {
    if (value.IsNil()) return Error("index of untyped nil");
    return Error("can't index item of type " + std::string(value.TypeName()));
  }
  const int64_t* at = key.AsInt();
  if (at == nullptr) {
    if (key.IsNil()) return Error("cannot index slice/array with nil");
    return Error("cannot index slice/array with type " + std::string(key.TypeName()));
  }
  const size_t size = list != nullptr ? list->size() : text->size();
  if (*at < 0 || static_cast<size_t>(*at) >= size) {
    return Error("index out of range: " + std::to_string(*at));
  }
  const size_t position = static_cast<size_t>(*at);
  if (list != nullptr) return (*list)[position];
  return Value(static_cast<int64_t>(static_cast<unsigned char>((*text)[position])));
}

Result<Value> Index(const Arguments& arguments) {
  Value value = arguments[0];
  if (value.IsNil()) return Error("index of untyped nil");
  for (size_t i = 1; i < arguments.size(); ++i) {
    Result<Value> next = IndexOne(value, arguments[i]);
    if (!next) return next;
    value = *next;
  }
  return value;
}

Result<Value> Print(const Arguments& arguments) { return Value(GoSprint(arguments)); }
Result<Value> Println(const Arguments& arguments) { return Value(GoSprintln(arguments)); }

Result<Value> Printf(const Arguments& arguments) {
  const std::string* format = arguments[0].AsString();
  if (format == nullptr) {
    return Error("wrong type for value; expected string; got " +
                 std::string(arguments[0].TypeName()));
  }
  return GoSprintf(*format, Arguments(arguments.begin() + 1, arguments.end()));
}

constexpr TemplateFunction kFunctions[] = {
    {"and", 1, -1, nullptr},
    {"or", 1, -1, nullptr},
    {"not", 1, 1, Not},
    {"eq", 1, -1, Eq},
    {"ne", 2, 2, Ne},
    {"lt", 2, 2, Lt},
    {"le", 2, 2, Le},
    {"gt", 2, 2, Gt},
    {"ge", 2, 2, Ge},
    {"len", 1, 1, Len},
    {"index", 1, -1, Index},
    {"print", 0, -1, Print},
    {"println", 0, -1, Println},
    {"printf", 1, -1, Printf},
    {"AddFloat", 0, -1, AddFloat},
    {"AddInt", 0, -1, AsInt<AddFloat>},
    {"DivideFloat", 2, 2, DivideFloat},
    {"DivideInt", 2, 2, AsInt<DivideFloat>},
    {"Int", 1, 1, Int},
    {"JSON", 1, 1, Json},
    {"Mod", 2, 2, Mod},
    {"MultiplyFloat", 0, -1, MultiplyFloat},
    {"MultiplyInt", 0, -1, AsInt<MultiplyFloat>},
    {"SubtractFloat", 2, 2, SubtractFloat},
    {"SubtractInt", 2, 2, AsInt<SubtractFloat>},
};

}  // namespace

std::optional<int> FindTemplateFunction(std::string_view name) {
  for (size_t i = 0; i < std::size(kFunctions); ++i) {
    if (kFunctions[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

const TemplateFunction& GetTemplateFunction(int number) { return kFunctions[number]; }

std::string TemplateFunctionNames() {
  std::string names;
  for (const TemplateFunction& function : kFunctions) {
    if (!names.empty()) names += ", ";
    names += function.name;
  }
  return names;
}

bool IsUnsupportedTemplateFunction(std::string_view name) {
  for (std::string_view known : {"call", "html", "js", "slice", "urlquery"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace schedq
