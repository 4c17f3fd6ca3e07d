#include "bench/format/objects/object_template.h"

#include <utility>
#include <variant>

#include "bench/format/objects/object_reader.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_parser.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {
namespace {

constexpr const char* kDefaultPod = R"(apiVersion: v1
kind: Pod
metadata:
  generateName: pod-
spec:
  containers:
  - name: pause
    image: pause
    ports:
    - containerPort: 80
    resources:
      limits: {cpu: 100m, memory: 500Mi}
      requests: {cpu: 100m, memory: 500Mi}
)";

constexpr const char* kDefaultNodeStatus = R"(
status:
  capacity: {pods: "110", cpu: "4", memory: 32Gi}
  conditions:
  - {type: Ready, status: "True"}
)";

}  // namespace

Result<ObjectTemplateRef> ObjectTemplate::Compile(std::string file, std::string source) {
  auto compiled = GoTemplate::Compile(std::move(file), std::move(source));
  if (!compiled) return compiled.error();
  return std::make_shared<const ObjectTemplate>(std::move(*compiled));
}

ObjectTemplateRef ObjectTemplate::Literal(std::string file, std::string text) {
  return std::make_shared<const ObjectTemplate>(
      GoTemplate::Literal(std::move(file), std::move(text)));
}

ObjectTemplateRef ObjectTemplate::DefaultPod() { return Literal("the default pod", kDefaultPod); }

ObjectTemplateRef ObjectTemplate::DefaultNode(const std::string& prefix) {
  return Literal("the default node", "apiVersion: v1\nkind: Node\nmetadata:\n  generateName: " +
                                         prefix + kDefaultNodeStatus);
}

Result<ApiObjectRef> ObjectTemplate::Read(const std::string& text, const Value& data) const {
  YamlErrors errors(text_.file(),
                    [this, &data](TextPosition at) { return text_.Locate(data, at); });
  auto parsed = ParseYaml(text);
  if (const auto* problem = std::get_if<YamlProblem>(&parsed)) {
    errors.Add(problem->at, problem->what);
    return errors.first();
  }
  ApiObject object = ReadApiObject(errors, std::get<YamlNode>(parsed));
  if (!errors.ok()) return errors.first();
  return std::make_shared<const ApiObject>(std::move(object));
}

ObjectRenderer::ObjectRenderer(ObjectSource source, int64_t count)
    : object_(std::move(source.object)), data_(std::move(source.params)) {
  data_["Count"] = Value(count);
}

Result<ApiObjectRef> ObjectRenderer::Render(int64_t index) {
  if (last_ && object_->text().IsConstant()) return last_;
  data_["Index"] = Value(index);
  const Value data(data_);
  Result<std::string> text = object_->text().Render(data);
  if (!text) return text.error();
  if (last_ && *text == last_text_) return last_;
  Result<ApiObjectRef> object = object_->Read(*text, data);
  if (!object) return object;
  last_ = *object;
  last_text_ = std::move(*text);
  return last_;
}

}  // namespace schedq
