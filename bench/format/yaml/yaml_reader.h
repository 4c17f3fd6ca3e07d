// Strict reading of a YAML tree: every key must be known, every value of the expected type.
//
// Purpose: a decoder that says what a file may hold as a list of reads, and gets exactly one line
// for the first thing that is wrong: `file:line:column: what, what was expected`. Reads after an
// error are harmless, so that decoders need no check after each.
// Threads: one. Bound: the size of the tree.
//
// Keys are matched as Go's JSON decoder does it: exactly, else ignoring the case. A null value is
// an absent one.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/yaml/yaml_node.h"
#include "engine/base/result.h"

namespace schedq {

// The largest count, rate or size that a workload file may ask for.
inline constexpr int64_t kYamlCountMax = 10'000'000;

// Keeps the first problem of one file.
class YamlErrors {
 public:
  // `map_position` turns a place of the parsed text into a place of the file, where they differ.
  explicit YamlErrors(std::string file,
                      std::function<TextPosition(TextPosition)> map_position = nullptr)
      : file_(std::move(file)), map_position_(std::move(map_position)) {}

  void Add(TextPosition at, const std::string& what);
  // A problem of another file, already with its place.
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

// One value; adds an error and returns false when it is of another type. `what` names the value.
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

  // The value, or nullptr when absent or null.
  const YamlNode* Find(std::string_view key);
  // The same, and an error when absent.
  const YamlNode* Require(std::string_view key);
  // A list or map of the given kind; nullptr when absent or of another kind (an error).
  const YamlNode* FindList(std::string_view key);
  const YamlNode* FindMap(std::string_view key);

  // Reads into `out` when present; false when absent or wrong.
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
  // A number of things: at least 0, at most kYamlCountMax.
  bool ReadCount(std::string_view key, int64_t* out);

  // Known, and of no interest.
  void Ignore(std::initializer_list<std::string_view> keys);
  // Every key is acceptable: no complaint about unknown ones.
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
