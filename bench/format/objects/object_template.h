// A file that describes an API object, possibly as a template, compiled once and rendered for every
// object that an operation creates.
//
// Threads: ObjectTemplate is immutable; an ObjectRenderer belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/format/objects/api_object.h"
#include "bench/format/template/go_template.h"
#include "engine/base/result.h"

namespace schedq {

class ObjectTemplate {
 public:
  // A file with template actions.
  static Result<std::shared_ptr<const ObjectTemplate>> Compile(std::string file,
                                                               std::string source);
  // A file that is read as it stands.
  static std::shared_ptr<const ObjectTemplate> Literal(std::string file, std::string text);

  // What createPods and createNodes use without a file: one pause container that asks for 100m and
  // 500Mi; a Ready node with 4 CPU, 32Gi and 110 pods, named after `prefix`.
  static std::shared_ptr<const ObjectTemplate> DefaultPod();
  static std::shared_ptr<const ObjectTemplate> DefaultNode(const std::string& prefix);

  // Text to object. `data` is what the text was rendered with, to name the line of the template.
  Result<ApiObjectRef> Read(const std::string& text, const Value& data) const;

  const GoTemplate& text() const { return text_; }

  explicit ObjectTemplate(GoTemplate text) : text_(std::move(text)) {}

 private:
  GoTemplate text_;
};
using ObjectTemplateRef = std::shared_ptr<const ObjectTemplate>;

// A template and what is the same for all its objects.
struct ObjectSource {
  ObjectTemplateRef object;
  ValueMap params;
};

// Renders the objects of one operation. Consecutive renderings with the same text share one object,
// so a template without .Index is read once.
class ObjectRenderer {
 public:
  // `count` is what .Count says.
  ObjectRenderer(ObjectSource source, int64_t count);

  // From the next object on, the template knows `name` as this value.
  void Set(const std::string& name, Value value) { data_[name] = std::move(value); }
  Result<ApiObjectRef> Render(int64_t index);

 private:
  ObjectTemplateRef object_;
  ValueMap data_;
  std::string last_text_;
  ApiObjectRef last_;
};

}  // namespace schedq
