// The three archives that a Describe function is called with: JSON writer, strict JSON reader and
// JSON schema.
//
// When not to use it: outside document.cc, because it costs compile time. Other code includes
// document.h.
// A describable type has `template <Archive, Self> static void Describe(Archive&, Self&)`, which
// calls Version, Field, FieldOrNull, Optional and Derived in the order of the file. Fields are
// strings, booleans, uint64_t, double, enums with EnumText, optionals, vectors, maps from string,
// and describable types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "perf/documents/enum_text.h"

namespace schedq::json {

using Json = nlohmann::ordered_json;

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
inline constexpr bool kIsScalar = std::is_same_v<T, bool> || std::is_same_v<T, uint64_t> ||
                                  std::is_same_v<T, double> || std::is_same_v<T, std::string>;

template <typename T>
Json Encode(const T& value);

// Builds one JSON object.
class Writer {
 public:
  void Version(const char* key, uint64_t number) { object_[key] = number; }
  template <typename T>
  void Field(const char* key, const T& value, const char*) {
    object_[key] = Encode(value);
  }
  template <typename T>
  void FieldOrNull(const char* key, const T& value, const char* about) {
    Field(key, value, about);
  }
  template <typename T>
  void Optional(const char* key, const T& value, const char*) {
    if constexpr (IsOptional<T>::value) {
      if (value.has_value()) object_[key] = Encode(*value);
    } else {
      if (!value.empty()) object_[key] = Encode(value);
    }
  }
  template <typename T>
  void Derived(const char* key, const T& value, const char* about) {
    Field(key, value, about);
  }

  Json Take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

template <typename T>
Json Encode(const T& value) {
  if constexpr (kIsScalar<T>) {
    return Json(value);
  } else if constexpr (std::is_enum_v<T>) {
    return Json(std::string(TextOf(value)));
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(Encode(element));
    return array;
  } else if constexpr (IsMap<T>::value) {
    Json object = Json::object();
    for (const auto& [key, element] : value) object[key] = Encode(element);
    return object;
  } else {
    Writer writer;
    T::Describe(writer, value);
    return writer.Take();
  }
}

// The reader's place in a document, and the first error.
class Cursor {
 public:
  bool failed() const { return error_.has_value(); }
  const std::optional<std::string>& error() const { return error_; }

  // Both keep the first error and drop later ones, which may be consequences of the first.
  void Expect(const std::string& what, const Json& got);
  void Fail(const std::string& message);

  class Step {
   public:
    Step(Cursor& cursor, std::string_view key);
    Step(Cursor& cursor, size_t index);
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { cursor_.path_.resize(length_); }

   private:
    Cursor& cursor_;
    size_t length_;
  };

 private:
  std::string path_;
  std::optional<std::string> error_;
};

template <typename T>
void Decode(Cursor& cursor, const Json& json, T& value);

// Reads one JSON object. Every key must be asked for, and every required key must be present.
class Reader {
 public:
  Reader(Cursor& cursor, const Json& object) : cursor_(cursor), object_(object) {}

  void Version(const char* key, uint64_t number);
  template <typename T>
  void Field(const char* key, T& value, const char*) {
    if (const Json* json = Find(key, true)) DecodeAt(key, *json, value);
  }
  template <typename T>
  void FieldOrNull(const char* key, T& value, const char*) {
    const Json* json = Find(key, true);
    if (json != nullptr && !json->is_null()) DecodeAt(key, *json, value);
  }
  template <typename T>
  void Optional(const char* key, T& value, const char*) {
    const Json* json = Find(key, false);
    if (json == nullptr) return;
    if constexpr (IsOptional<T>::value) {
      DecodeAt(key, *json, value.emplace());
    } else {
      DecodeAt(key, *json, value);
    }
  }
  // Checks the type of a field and drops its value, which follows from other fields.
  template <typename T>
  void Derived(const char* key, T dropped, const char* about) {
    Field(key, dropped, about);
  }

  // Called after all reads.
  void RejectUnknownKeys();

 private:
  const Json* Find(const char* key, bool required);
  template <typename T>
  void DecodeAt(const char* key, const Json& json, T& value) {
    const Cursor::Step step(cursor_, key);
    Decode(cursor_, json, value);
  }

  Cursor& cursor_;
  const Json& object_;
  std::set<std::string, std::less<>> known_keys_;
};

void DecodeScalar(Cursor& cursor, const Json& json, bool& value);
void DecodeScalar(Cursor& cursor, const Json& json, uint64_t& value);
void DecodeScalar(Cursor& cursor, const Json& json, double& value);
void DecodeScalar(Cursor& cursor, const Json& json, std::string& value);

template <typename T>
void DecodeEnum(Cursor& cursor, const Json& json, T& value) {
  const auto found = json.is_string() ? EnumFromText<T>(json.template get_ref<const std::string&>())
                                      : std::nullopt;
  if (found.has_value()) {
    value = *found;
    return;
  }
  std::string choices;
  for (const std::string_view name : EnumText<T>::kNames) {
    choices += choices.empty() ? "" : ", ";
    choices += name;
  }
  cursor.Expect("one of " + choices, json);
}

template <typename T>
void Decode(Cursor& cursor, const Json& json, T& value) {
  if (cursor.failed()) return;
  if constexpr (kIsScalar<T>) {
    DecodeScalar(cursor, json, value);
  } else if constexpr (std::is_enum_v<T>) {
    DecodeEnum(cursor, json, value);
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) return cursor.Expect("an array", json);
    value.clear();
    for (size_t i = 0; i < json.size() && !cursor.failed(); ++i) {
      const Cursor::Step step(cursor, i);
      Decode(cursor, json[i], value.emplace_back());
    }
  } else if constexpr (IsMap<T>::value) {
    if (!json.is_object()) return cursor.Expect("an object", json);
    value.clear();
    for (const auto& [key, element] : json.items()) {
      const Cursor::Step step(cursor, key);
      Decode(cursor, element, value[key]);
    }
  } else {
    if (!json.is_object()) return cursor.Expect("an object", json);
    Reader reader(cursor, json);
    T::Describe(reader, value);
    reader.RejectUnknownKeys();
  }
}

template <typename T>
Json SchemaOf();

// Collects the schema of one object.
class SchemaWriter {
 public:
  void Version(const char* key, uint64_t number);
  template <typename T>
  void Field(const char* key, const T&, const char* about) {
    Add(key, SchemaOf<T>(), about, true);
  }
  template <typename T>
  void FieldOrNull(const char* key, const T&, const char* about) {
    Json schema = SchemaOf<T>();
    schema["type"] = Json::array({schema["type"], "null"});
    Add(key, std::move(schema), about, true);
  }
  template <typename T>
  void Optional(const char* key, const T&, const char* about) {
    if constexpr (IsOptional<T>::value) {
      Add(key, SchemaOf<typename T::value_type>(), about, false);
    } else {
      Add(key, SchemaOf<T>(), about, false);
    }
  }
  template <typename T>
  void Derived(const char* key, const T& value, const char* about) {
    Field(key, value, about);
  }

  Json Take();

 private:
  void Add(const char* key, const Json& schema, const char* about, bool required);

  Json properties_ = Json::object();
  Json required_ = Json::array();
};

Json ScalarSchema(const bool*);
Json ScalarSchema(const uint64_t*);
Json ScalarSchema(const double*);
Json ScalarSchema(const std::string*);

template <typename T>
Json SchemaOf() {
  if constexpr (kIsScalar<T>) {
    return ScalarSchema(static_cast<const T*>(nullptr));
  } else if constexpr (std::is_enum_v<T>) {
    Json names = Json::array();
    for (const std::string_view name : EnumText<T>::kNames) names.push_back(std::string(name));
    return Json{{"type", "string"}, {"enum", std::move(names)}};
  } else if constexpr (IsVector<T>::value) {
    return Json{{"type", "array"}, {"items", SchemaOf<typename T::value_type>()}};
  } else if constexpr (IsMap<T>::value) {
    return Json{{"type", "object"}, {"additionalProperties", SchemaOf<typename T::mapped_type>()}};
  } else {
    SchemaWriter writer;
    const T example{};
    T::Describe(writer, example);
    return writer.Take();
  }
}

}  // namespace schedq::json
