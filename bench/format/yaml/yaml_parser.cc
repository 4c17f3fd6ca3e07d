#include "bench/format/yaml/yaml_parser.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "perf/text/visible_text.h"

namespace schedq {
namespace {

TextPosition PositionOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

bool IsMergeKey(const YamlNode& key) { return key.plain && key.text == "<<"; }

// Builds the tree on a stack of unfinished collections. It throws a YamlProblem to stop early,
// because yaml-cpp's interface has no other way. ParseYaml catches it.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.at = PositionOf(mark);
    Finish(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw YamlProblem{PositionOf(mark), "alias of an unfinished node, expected a finished one"};
    }
    CountTowardsLimits(found->second.node_count, found->second.bytes, PositionOf(mark));
    YamlNode copy = found->second.node;
    copy.at = PositionOf(mark);
    Finish(std::move(copy), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlKind::kScalar;
    node.at = PositionOf(mark);
    // Quoted text can spell them: "\\e[31m".
    if (VisibleLines(value) != value) {
      throw YamlProblem{node.at, "a control character in a value, expected text without any"};
    }
    node.plain = IsPlain(tag, node.at);
    node.text = value;
    if (node.plain &&
        (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL")) {
      node.kind = YamlKind::kNull;
    }
    CountTowardsLimits(1, value.size(), node.at);
    Finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlKind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlKind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Anchored {
    YamlNode node;
    size_t node_count = 0;
    size_t bytes = 0;
  };
  struct OpenCollection {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    size_t nodes_before = 0;
    size_t bytes_before = 0;
    bool has_key = false;
    YamlNode key;
    std::unordered_set<std::string> keys;
    std::vector<YamlNode> merged;
  };

  static bool IsPlain(const std::string& tag, TextPosition at) {
    static const std::string kCore = "tag:yaml.org,2002:";
    if (tag == "?" || tag.empty()) return true;
    if (tag == "!" || tag == kCore + "str") return false;
    for (const char* name : {"int", "float", "bool", "null"}) {
      if (tag == kCore + name) return true;
    }
    throw YamlProblem{at, "tag " + tag + ", expected a value without a tag"};
  }

  void CountTowardsLimits(size_t nodes, size_t bytes, TextPosition at) {
    node_count_ += nodes;
    bytes_ += bytes;
    if (node_count_ > kYamlNodeCountMax || bytes_ > kYamlCopyBytesMax) {
      throw YamlProblem{at, "too large, expected at most " + std::to_string(kYamlNodeCountMax) +
                                " nodes after aliases are expanded"};
    }
  }

  void Open(YamlKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const TextPosition at = PositionOf(mark);
    if (static_cast<int>(stack_.size()) >= kYamlDepthMax) {
      throw YamlProblem{
          at, "nested too deep, expected at most " + std::to_string(kYamlDepthMax) + " levels"};
    }
    if (tag != "?" && tag != "!" && !tag.empty() && tag != "tag:yaml.org,2002:map" &&
        tag != "tag:yaml.org,2002:seq") {
      throw YamlProblem{at, "tag " + tag + ", expected a value without a tag"};
    }
    OpenCollection open;
    open.nodes_before = node_count_;
    open.bytes_before = bytes_;
    CountTowardsLimits(1, 0, at);
    open.node.kind = kind;
    open.node.at = at;
    open.anchor = anchor;
    stack_.push_back(std::move(open));
  }

  void Close() {
    OpenCollection closed = std::move(stack_.back());
    stack_.pop_back();
    for (YamlNode& source : closed.merged) Merge(std::move(source), closed);
    if (closed.anchor != 0) {
      Anchored anchored{closed.node, node_count_ - closed.nodes_before,
                        bytes_ - closed.bytes_before};
      CountTowardsLimits(anchored.node_count, anchored.bytes, closed.node.at);
      anchors_[closed.anchor] = std::move(anchored);
    }
    Place(std::move(closed.node));
  }

  void Finish(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = Anchored{node, 1, node.text.size()};
    Place(std::move(node));
  }

  // Stores a finished node as the root, an item, a key or the value of a key.
  void Place(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    OpenCollection& open = stack_.back();
    if (open.node.kind == YamlKind::kSequence) {
      open.node.items.push_back(std::move(node));
      return;
    }
    if (!open.has_key) {
      if (node.kind != YamlKind::kScalar && node.kind != YamlKind::kNull) {
        throw YamlProblem{node.at, "a collection as a key, expected a scalar"};
      }
      open.key = std::move(node);
      open.has_key = true;
      return;
    }
    open.has_key = false;
    if (IsMergeKey(open.key)) {
      open.merged.push_back(std::move(node));
      return;
    }
    if (!open.keys.insert(open.key.text).second) {
      throw YamlProblem{open.key.at,
                        "duplicate key \"" + open.key.text + "\", expected it once in its map"};
    }
    open.node.entries.push_back({std::move(open.key.text), open.key.at, std::move(node)});
  }

  // Handles `<<: *base`: adds the entries of the base whose keys the map does not have.
  static void Merge(YamlNode source, OpenCollection& target) {
    if (source.kind == YamlKind::kSequence) {
      for (YamlNode& item : source.items) Merge(std::move(item), target);
      return;
    }
    if (source.kind != YamlKind::kMap) {
      throw YamlProblem{source.at, "value of <<, expected a map or a list of maps"};
    }
    for (YamlEntry& entry : source.entries) {
      if (target.keys.insert(entry.key).second) target.node.entries.push_back(std::move(entry));
    }
  }

  YamlNode root_;
  std::vector<OpenCollection> stack_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  size_t node_count_ = 0;
  size_t bytes_ = 0;
};

// The offset of the first byte that no YAML text may hold, or npos.
size_t FindControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) return i;
  }
  return std::string_view::npos;
}

// yaml-cpp takes the end of the text for the end of a quote when only blanks stand before it. With
// the mark that ends a document behind them it says that the mark stands in a scalar.
constexpr std::string_view kDocumentEnd = "...\n";

std::string WithDocumentEnd(std::string_view text) {
  const size_t last = text.find_last_not_of(' ');
  std::string ended(text);
  const bool has_quotes = text.find_first_of("\"'") != std::string_view::npos;
  if (!has_quotes || last == std::string_view::npos || text[last] != '\n') return ended;
  if (last + 1 != text.size()) ended += '\n';
  return ended += kDocumentEnd;
}

std::variant<YamlNode, YamlProblem> ParseDocuments(std::string_view text) {
  std::istringstream stream(WithDocumentEnd(text));
  YAML::Parser parser(stream);
  TreeBuilder builder;
  if (!parser.HandleNextDocument(builder)) return YamlNode{};
  YamlNode root = builder.TakeRoot();
  // Nothing but comments: the mark would be its place.
  if (root.IsNull() && root.at.line >= PositionAt(text, text.size()).line) root.at = {};
  TreeBuilder rest;
  if (parser.HandleNextDocument(rest)) {
    const YamlNode second = rest.TakeRoot();
    if (!second.IsNull()) return YamlProblem{second.at, "a second document, expected one"};
  }
  return root;
}

}  // namespace

TextPosition PositionAt(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0.
  const auto lines = std::count(before.begin(), before.end(), '\n');
  return {static_cast<int>(lines) + 1, static_cast<int>(before.size() - line_start) + 1};
}

std::string_view YamlKindName(YamlKind kind) {
  switch (kind) {
    case YamlKind::kNull:
      return "nothing";
    case YamlKind::kScalar:
      return "a scalar";
    case YamlKind::kSequence:
      return "a list";
    case YamlKind::kMap:
      return "a map";
  }
  return "";
}

std::variant<YamlNode, YamlProblem> ParseYaml(std::string_view text) {
  if (text.size() > kYamlTextBytesMax) {
    return YamlProblem{
        {1, 1}, "too large, expected at most " + std::to_string(kYamlTextBytesMax) + " bytes"};
  }
  if (const size_t offset = FindControlCharacter(text); offset != std::string_view::npos) {
    return YamlProblem{PositionAt(text, offset), "a control character, expected YAML text"};
  }
  if (const size_t offset = FindWhatIsNotUtf8(text); offset != std::string_view::npos) {
    return YamlProblem{PositionAt(text, offset), "a byte that is not UTF-8, expected YAML text"};
  }
  try {
    return ParseDocuments(text);
  } catch (YamlProblem& problem) {
    return std::move(problem);
  } catch (const YAML::Exception& exception) {
    const TextPosition end = PositionAt(text, text.size());
    if (exception.msg == YAML::ErrorMsg::DOC_IN_SCALAR && exception.mark.line + 1 >= end.line) {
      return YamlProblem{end, "a quote that does not end, expected YAML"};
    }
    return YamlProblem{PositionOf(exception.mark), exception.msg + ", expected YAML"};
  }
}

}  // namespace schedq
