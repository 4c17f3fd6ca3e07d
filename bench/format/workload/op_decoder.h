// Decodes one operation of a workload template with the parameters of one workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/model.h"
#include "bench/format/workload/params.h"
#include "bench/format/workload/template_files.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/pod.h"

namespace schedq {

// The largest number of operations in a workload, after createPodSets is unrolled.
inline constexpr size_t kOpCountMax = 100'000;

class OpDecoder {
 public:
  // `default_pod_path` is the case's defaultPodTemplatePath, or null.
  OpDecoder(YamlErrors& errors, TemplateFiles& files, const YamlNode* default_pod_path,
            Params& params, FeatureUses& features)
      : errors_(errors),
        files_(files),
        default_pod_path_(default_pod_path),
        params_(params),
        features_(features) {}

  // Appends the operation, or the operations that it unrolls to.
  void Decode(const YamlNode& node, std::vector<Op>* ops);

 private:
  using Form = TemplateFiles::Form;

  NodeAllocatableStrategy ReadAllocatable(const YamlNode& node);
  CreateNodesOp CreateNodes(YamlFields& fields, int index);
  CreateNamespacesOp CreateNamespaces(YamlFields& fields);
  CreatePodsOp CreatePods(YamlFields& fields, int index);
  void CreatePodSets(YamlFields& fields, std::vector<Op>* ops);
  DeletePodsOp DeletePods(YamlFields& fields);
  ChurnOp Churn(YamlFields& fields, int index);
  CreateAnyOp CreateAny(YamlFields& fields);
  UpdateAnyOp UpdateAny(YamlFields& fields);
  CreatePodGroupsOp CreatePodGroups(YamlFields& fields);
  CreateResourceClaimsOp CreateResourceClaims(YamlFields& fields);
  BarrierOp Barrier(YamlFields& fields);
  SleepOp Sleep(YamlFields& fields);
  StartCollectingMetricsOp StartCollectingMetrics(YamlFields& fields);
  StartCollectingProfileOp StartCollectingProfile(YamlFields& fields);

  // Sets op->action; returns false for an unknown opcode.
  bool DecodeAction(const std::string& opcode, YamlFields& fields, Op* op);
  void CheckPods(const YamlFields& fields, const CreatePodsOp& op);
  std::string ProfileType(YamlFields& fields);
  Labels Selector(YamlFields& fields);
  ObjectTemplateRef Template(YamlFields& fields, std::string_view key, Form form);
  ObjectTemplateRef RequiredTemplate(YamlFields& fields, std::string_view key, Form form);
  // Renders the first and the last object, which finds errors of the template and the features that
  // it needs. Returns the first object; null after an error or for a count of 0.
  ApiObjectRef TryObjects(const ObjectSource& source, int64_t count);
  // Does the same, and adds an error unless the object is of this kind.
  void TryObjects(const ObjectSource& source, int64_t count, std::string_view kind,
                  const YamlFields& fields);
  // Adds an error unless the object's kind fits the operation's namespace.
  void CheckSubresources(YamlFields& fields, const UpdateAnyOp& op);
  void CheckUpdatable(const UpdateAnyOp& op, const YamlFields& fields);
  void CheckScope(const ObjectSource& source, int64_t count, const std::string& namespace_name,
                  const YamlFields& fields);

  YamlErrors& errors_;
  TemplateFiles& files_;
  const YamlNode* const default_pod_path_;
  Params& params_;
  FeatureUses& features_;
};

}  // namespace schedq
