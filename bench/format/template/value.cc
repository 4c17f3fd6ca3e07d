#include "bench/format/template/value.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "bench/format/yaml/yaml_scalar.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

std::string Digits(double value, std::chars_format format) {
  char buffer[400];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  (void)error;  // Cannot fail: the buffer is large enough for every double.
  return std::string(buffer, end);
}

std::string JsonFloat(double value) {
  if (!std::isfinite(value)) return "null";
  const double magnitude = std::fabs(value);
  if (magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21)) {
    std::string text = Digits(value, std::chars_format::scientific);
    const size_t size = text.size();  // Go's %e writes e-09, its JSON e-9.
    if (size >= 4 && text[size - 4] == 'e' && text[size - 3] == '-' && text[size - 2] == '0') {
      text.erase(size - 2, 1);
    }
    return text;
  }
  return Digits(value, std::chars_format::fixed);
}

void AppendEscaped(std::string_view text, bool is_json, std::string* out) {
  *out += '"';
  for (char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    switch (character) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          char buffer[8];
          std::snprintf(buffer, sizeof(buffer), is_json ? "\\u%04x" : "\\x%02x", byte);
          *out += is_json && byte == 0x7f ? std::string(1, character) : std::string(buffer);
        } else {
          *out += character;
        }
    }
  }
  *out += '"';
}

}  // namespace

Value::Value(ValueList value) : content_(std::make_shared<const ValueList>(std::move(value))) {}
Value::Value(ValueMap value) : content_(std::make_shared<const ValueMap>(std::move(value))) {}

const ValueList* Value::AsList() const {
  const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&content_);
  return list == nullptr ? nullptr : list->get();
}

const ValueMap* Value::AsMap() const {
  const auto* map = std::get_if<std::shared_ptr<const ValueMap>>(&content_);
  return map == nullptr ? nullptr : map->get();
}

std::string_view Value::TypeName() const {
  static constexpr std::string_view kNames[] = {
      "<nil>", "bool", "int", "float64", "string", "[]interface {}", "map[string]interface {}"};
  return kNames[content_.index()];
}

bool Value::Truth() const {
  if (const bool* value = AsBool()) return *value;
  if (const int64_t* value = AsInt()) return *value != 0;
  if (const double* value = AsFloat()) return *value != 0;
  if (const std::string* value = AsString()) return !value->empty();
  if (const ValueList* value = AsList()) return !value->empty();
  if (const ValueMap* value = AsMap()) return !value->empty();
  return false;
}

Value ValueFromYaml(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNull:
      return Value();
    case YamlKind::kScalar:
      if (const auto value = YamlBool(node)) return Value(*value);
      if (const auto value = YamlNumber(node)) return Value(*value);
      return Value(node.text);
    case YamlKind::kSequence: {
      ValueList list;
      for (const YamlNode& item : node.items) list.push_back(ValueFromYaml(item));
      return Value(std::move(list));
    }
    case YamlKind::kMap: {
      ValueMap map;
      for (const YamlEntry& entry : node.entries) {
        map.emplace(entry.key, ValueFromYaml(entry.value));
      }
      return Value(std::move(map));
    }
  }
  return Value();
}

std::string FormatValue(const Value& value) {
  if (const bool* boolean = value.AsBool()) return *boolean ? "true" : "false";
  if (const int64_t* integer = value.AsInt()) return std::to_string(*integer);
  if (const double* number = value.AsFloat()) return GoFloatText(*number);
  if (const std::string* text = value.AsString()) return *text;
  if (const ValueList* list = value.AsList()) {
    std::string out = "[";
    for (const Value& item : *list) {
      if (out.size() > 1) out += ' ';
      out += FormatValue(item);
    }
    return out + "]";
  }
  if (const ValueMap* map = value.AsMap()) {
    std::string out = "map[";
    for (const auto& [key, item] : *map) {
      if (out.size() > 4) out += ' ';
      out += key + ":" + FormatValue(item);
    }
    return out + "]";
  }
  return "<nil>";
}

std::string ToJson(const Value& value) {
  if (const double* number = value.AsFloat()) return JsonFloat(*number);
  if (const std::string* text = value.AsString()) {
    std::string out;
    AppendEscaped(*text, true, &out);
    return out;
  }
  if (const ValueList* list = value.AsList()) {
    std::string out = "[";
    for (const Value& item : *list) {
      if (out.size() > 1) out += ',';
      out += ToJson(item);
    }
    return out + "]";
  }
  if (const ValueMap* map = value.AsMap()) {
    std::string out = "{";
    for (const auto& [key, item] : *map) {
      if (out.size() > 1) out += ',';
      AppendEscaped(key, true, &out);
      out += ':' + ToJson(item);
    }
    return out + "}";
  }
  return value.IsNil() ? "null" : FormatValue(value);
}

std::string QuoteString(std::string_view text) {
  std::string out;
  AppendEscaped(text, false, &out);
  return out;
}

}  // namespace schedq
