// A file that describes an API object, compiled once and rendered for every object that an
// operation creates. The file may be a template.
//
// Threads: ObjectTemplate is immutable; an ObjectRenderer belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/format/template/go_template.h"
#include "bench/format/template/value.h"
#include "engine/base/result.h"

namespace schedq {

class ObjectTemplate {
 public:
  // Compiles a file with template actions.
  static Result<std::shared_ptr<const ObjectTemplate>> Compile(std::string file,
                                                               std::string source);
  // Wraps a file without template actions; {{ means nothing in it.
  static std::shared_ptr<const ObjectTemplate> Literal(std::string file, std::string text);

  // The objects that createPods and createNodes make without a file. The pod has one pause
  // container that requests 100m and 500Mi. The node is Ready, has 4 CPU, 32Gi and 110 pods, and
  // its name begins with `prefix`.
  static std::shared_ptr<const ObjectTemplate> DefaultPod();
  static std::shared_ptr<const ObjectTemplate> DefaultNode(const std::string& prefix);

  // Reads the object from rendered text. `data` is what the text was rendered with; an error uses
  // it to find the line of the template.
  Result<ApiObjectRef> Read(const std::string& text, const Value& data) const;

  const GoTemplate& text() const { return text_; }

  explicit ObjectTemplate(GoTemplate text) : text_(std::move(text)) {}

 private:
  GoTemplate text_;
};
using ObjectTemplateRef = std::shared_ptr<const ObjectTemplate>;

// A template, and the parameters that are the same for all its objects.
struct ObjectSource {
  ObjectTemplateRef object;
  ValueMap params;
};

// Renders the objects of one operation. Consecutive renderings of the same text share one object,
// so a template without .Index is read once.
class ObjectRenderer {
 public:
  // `count` is the value of .Count.
  ObjectRenderer(ObjectSource source, int64_t count);

  // Gives .name this value from the next object on.
  void Set(const std::string& name, Value value) { data_[name] = std::move(value); }
  Result<ApiObjectRef> Render(int64_t index);

 private:
  ObjectTemplateRef object_;
  ValueMap data_;
  std::string last_text_;
  ApiObjectRef last_;
};

}  // namespace schedq
