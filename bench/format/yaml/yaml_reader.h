// Reads a YAML tree strictly: every key must be known, and every value of the expected type.
//
// Purpose: a decoder states the content of a file as a list of reads. It gets exactly one line for
// the first problem: `file:line:column: what, what was expected`. Reads after an error have no
// effect, so that decoders need no check after each.
// Threads: one. Bound: the size of the tree.
//
// Keys are matched without regard to case, as Go's JSON decoder matches them. Two keys that differ
// only in case are an error, because one of them would be dropped. A null value counts as absent.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/yaml/yaml_node.h"
#include "engine/base/result.h"

namespace schedq {

// The largest count, rate or size that a workload file may ask for.
inline constexpr int64_t kYamlCountMax = 10'000'000;

// Keeps the first problem of one file.
class YamlErrors {
 public:
  // `map_position` maps a place in the parsed text to its place in the file, where they differ.
  explicit YamlErrors(std::string file,
                      std::function<TextPosition(TextPosition)> map_position = nullptr)
      : file_(std::move(file)), map_position_(std::move(map_position)) {}

  void Add(TextPosition at, const std::string& what);
  // Adds a problem of another file; its text already has the place.
  void AddForeign(const Error& error);

  bool ok() const { return !first_.has_value(); }
  const Error& first() const { return *first_; }
  const std::string& file() const { return file_; }
  // "file:line:column: what".
  std::string Line(TextPosition at, const std::string& what) const;

 private:
  std::string file_;
  std::function<TextPosition(TextPosition)> map_position_;
  std::optional<Error> first_;
};

// Each reads one value, or adds an error and returns false when it is of another type. `what` names
// the value.
bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, std::string* out);
bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, bool* out);
bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, double* out);
bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, int64_t* out);
bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what,
              std::vector<std::string>* out);

// The fields of a map. `what` names the map in messages ("the workload").
class YamlFields {
 public:
  YamlFields(YamlErrors& errors, const YamlNode& node, std::string what);
  // Reports the first key that no read asked for.
  ~YamlFields();
  YamlFields(const YamlFields&) = delete;
  YamlFields& operator=(const YamlFields&) = delete;

  // Returns the value, or nullptr when it is absent or null.
  const YamlNode* Find(std::string_view key);
  // Does the same, and adds an error when the value is absent.
  const YamlNode* Require(std::string_view key);
  // Each returns a list or map, or nullptr when it is absent; another kind is an error.
  const YamlNode* FindList(std::string_view key);
  const YamlNode* FindMap(std::string_view key);

  // Reads a present value into `out`; returns false when it is absent or of another type.
  template <typename T>
  bool Read(std::string_view key, T* out) {
    const YamlNode* node = Find(key);
    return node != nullptr && ReadYaml(errors_, *node, key, out);
  }
  template <typename T>
  bool ReadRequired(std::string_view key, T* out) {
    const YamlNode* node = Require(key);
    return node != nullptr && ReadYaml(errors_, *node, key, out);
  }
  // Reads a number from 0 to kYamlCountMax.
  bool ReadCount(std::string_view key, int64_t* out);

  // Accepts these keys without reading them.
  void Ignore(std::initializer_list<std::string_view> keys);
  // Accepts all keys, known or not.
  void AllowOthers() { allow_others_ = true; }

  const YamlNode& node() const { return node_; }
  YamlErrors& errors() { return errors_; }

 private:
  YamlErrors& errors_;
  const YamlNode& node_;
  std::string what_;
  std::vector<std::string> known_;
  bool allow_others_ = false;
};

}  // namespace schedq
