#include "bench/format/yaml/yaml_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>

#include "bench/format/yaml/yaml_scalar.h"

namespace schedq {
namespace {

constexpr size_t kQuotedBytesMax = 60;  // Length of a value in a message.

// The node's content, for a message.
std::string Describe(const YamlNode& node) {
  if (node.kind != YamlKind::kScalar) return std::string(YamlKindName(node.kind));
  std::string text = node.text.substr(0, kQuotedBytesMax);
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() < node.text.size()) text += "...";
  return "\"" + text + "\"";
}

bool AddMismatch(YamlErrors& errors, const YamlNode& node, std::string_view what,
                 const std::string& expected) {
  errors.Add(node.at, std::string(what) + " is " + Describe(node) + ", expected " + expected);
  return false;
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

}  // namespace

std::string YamlErrors::Line(TextPosition at, const std::string& what) const {
  if (map_position_) at = map_position_(at);
  std::string place = file_ + ":" + std::to_string(std::max(at.line, 1));
  if (at.column > 0) place += ":" + std::to_string(at.column);
  return place + ": " + what;
}

void YamlErrors::Add(TextPosition at, const std::string& what) {
  if (ok()) first_ = Error(Line(at, what));
}

void YamlErrors::AddForeign(const Error& error) {
  if (ok()) first_ = error;
}

bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, std::string* out) {
  if (node.kind != YamlKind::kScalar) return AddMismatch(errors, node, what, "a string");
  *out = node.text;
  return true;
}

bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, bool* out) {
  const auto value = YamlBool(node);
  if (!value) return AddMismatch(errors, node, what, "true or false");
  *out = *value;
  return true;
}

bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, double* out) {
  const auto value = YamlNumber(node);
  if (!value) return AddMismatch(errors, node, what, "a number");
  *out = *value;
  return true;
}

bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what, int64_t* out) {
  if (const auto value = YamlInteger(node)) {
    *out = *value;
    return true;
  }
  // 1e3 is the integer 1000 to a JSON decoder.
  const auto number = YamlNumber(node);
  constexpr double kExactMax = 9007199254740992.0;
  if (!number || std::floor(*number) != *number || std::fabs(*number) > kExactMax) {
    return AddMismatch(errors, node, what, "an integer");
  }
  *out = static_cast<int64_t>(*number);
  return true;
}

bool ReadYaml(YamlErrors& errors, const YamlNode& node, std::string_view what,
              std::vector<std::string>* out) {
  if (node.kind != YamlKind::kSequence) return AddMismatch(errors, node, what, "a list of strings");
  for (const YamlNode& item : node.items) {
    std::string text;
    if (!ReadYaml(errors, item, std::string("an item of ") + std::string(what), &text)) {
      return false;
    }
    out->push_back(std::move(text));
  }
  return true;
}

YamlFields::YamlFields(YamlErrors& errors, const YamlNode& node, std::string what)
    : errors_(errors), node_(node), what_(std::move(what)) {
  if (node.kind != YamlKind::kMap && !node.IsNull()) AddMismatch(errors, node, what_, "a map");
}

YamlFields::~YamlFields() {
  if (allow_others_ || !errors_.ok()) return;
  for (const YamlEntry& entry : node_.entries) {
    const bool known = std::any_of(known_.begin(), known_.end(), [&entry](const std::string& key) {
      return EqualIgnoringCase(key, entry.key);
    });
    if (known) continue;
    std::string expected;
    for (const std::string& key : known_) {
      if (!expected.empty()) expected += ", ";
      expected += key;
    }
    if (expected.empty()) expected = "no keys";
    errors_.Add(entry.at, "unknown key \"" + entry.key.substr(0, kQuotedBytesMax) + "\" in " +
                              what_ + ", expected one of " + expected);
    return;
  }
}

const YamlNode* YamlFields::Find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  const YamlEntry* found = nullptr;
  for (const YamlEntry& entry : node_.entries) {
    if (!EqualIgnoringCase(entry.key, key)) continue;
    if (found != nullptr) {
      errors_.Add(entry.at, "key \"" + entry.key + "\" beside \"" + found->key + "\" in " + what_ +
                                ", expected one of them, for case does not count");
      return nullptr;
    }
    found = &entry;
  }
  return found == nullptr || found->value.IsNull() ? nullptr : &found->value;
}

const YamlNode* YamlFields::Require(std::string_view key) {
  const YamlNode* node = Find(key);
  if (node == nullptr) {
    errors_.Add(node_.at, what_ + " has no " + std::string(key) + ", expected one");
  }
  return node;
}

const YamlNode* YamlFields::FindList(std::string_view key) {
  const YamlNode* node = Find(key);
  if (node == nullptr || node->kind == YamlKind::kSequence) return node;
  AddMismatch(errors_, *node, key, "a list");
  return nullptr;
}

const YamlNode* YamlFields::FindMap(std::string_view key) {
  const YamlNode* node = Find(key);
  if (node == nullptr || node->kind == YamlKind::kMap) return node;
  AddMismatch(errors_, *node, key, "a map");
  return nullptr;
}

bool YamlFields::ReadCount(std::string_view key, int64_t* out) {
  const YamlNode* node = Find(key);
  int64_t value = 0;
  if (node == nullptr || !ReadYaml(errors_, *node, key, &value)) return false;
  if (value < 0 || value > kYamlCountMax) {
    return AddMismatch(errors_, *node, key, "0 to " + std::to_string(kYamlCountMax));
  }
  *out = value;
  return true;
}

void YamlFields::Ignore(std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) known_.emplace_back(key);
}

}  // namespace schedq
