#include "bench/format/suite/needs.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "engine/base/result.h"
#include "engine/pod.h"

namespace schedq {
namespace {

int64_t AmountOf(const ResourceList& amounts, const std::string& name) {
  for (const auto& [key, amount] : amounts) {
    if (key == name) return amount;
  }
  return 0;
}

// The number of such pods that an empty node holds.
int64_t PodsPerNode(const ResourceList& wanted, const ResourceList& node) {
  int64_t pods = AmountOf(node, "pods");
  for (const auto& [name, amount] : wanted) {
    if (amount > 0) pods = std::min(pods, AmountOf(node, name) / amount);
  }
  return pods;
}

// The first object of the operation, or null.
ApiObjectRef FirstObject(const ObjectSource& source, int64_t count) {
  if (count == 0 || source.object == nullptr) return nullptr;
  const Result<ApiObjectRef> object = ObjectRenderer(source, count).Render(0);
  return object ? *object : nullptr;
}

// Estimates which fraction of the cluster the pods fill; above 1 they may not all fit at once. The
// first pod of an operation stands for all its pods, as if they had the nodes to themselves. Pods
// that fit on no empty node do not count, because no eviction helps them.
class FillEstimate {
 public:
  void AddNodes(const CreateNodesOp& op) {
    const ApiObjectRef object = FirstObject(op.node, op.count);
    if (object == nullptr) return;
    if (const auto* node = std::get_if<NodeObject>(&object->body)) {
      nodes_.emplace_back(node->allocatable, op.count);
    }
  }

  void AddPods(const ApiObjectRef& object, double count) {
    if (object == nullptr) return;
    const auto* body = std::get_if<PodObject>(&object->body);
    if (body == nullptr || !body->pod.scheduling_gates.empty()) return;
    double places = 0;
    for (const auto& [allocatable, node_count] : nodes_) {
      places += static_cast<double>(PodsPerNode(body->pod.requests, allocatable)) *
                static_cast<double>(node_count);
    }
    if (places == 0) return;
    filled_ += count / places;
    priorities_.emplace(body->pod.priority, body->priority_class);
  }

  bool NeedsPreemption() const { return priorities_.size() > 1 && filled_ > 1; }

 private:
  double filled_ = 0;
  std::vector<std::pair<ResourceList, int64_t>> nodes_;
  std::set<std::pair<int32_t, std::string>> priorities_;  // A number, or a class.
};

}  // namespace

void NoteJointFeatures(Workload* workload) {
  FillEstimate estimate;
  for (const Op& op : workload->ops) {
    if (const auto* nodes = std::get_if<CreateNodesOp>(&op.action)) estimate.AddNodes(*nodes);
  }
  for (const Op& op : workload->ops) {
    if (const auto* pods = std::get_if<CreatePodsOp>(&op.action)) {
      estimate.AddPods(FirstObject(pods->pod, pods->count), static_cast<double>(pods->count));
    } else if (const auto* any = std::get_if<CreateAnyOp>(&op.action)) {
      estimate.AddPods(FirstObject(any->object, any->count), static_cast<double>(any->count));
    } else if (const auto* churn = std::get_if<ChurnOp>(&op.action)) {
      for (const ObjectTemplateRef& object : churn->objects) {
        // Without a number, churn creates until the end.
        const double count = churn->number > 0 ? static_cast<double>(churn->number)
                                               : std::numeric_limits<double>::infinity();
        estimate.AddPods(FirstObject({object, {}}, 1), count);
      }
    }
  }
  if (estimate.NeedsPreemption()) AddFeature(workload->features, Feature::kPreemption);
}

std::vector<Need> NeedsOf(const Workload& workload) {
  std::vector<Need> needs;
  for (const FeatureUse& use : workload.features) {
    const FeatureInfo& info = GetFeatureInfo(use.feature);
    if (info.modelled) continue;
    std::string text(info.name);
    if (use.feature == Feature::kDefect) {
      text = use.detail;
    } else if (!use.detail.empty()) {
      text += " " + use.detail;
    }
    needs.push_back({use.feature, std::move(text), info.blocks});
  }
  std::stable_sort(needs.begin(), needs.end(),
                   [](const Need& a, const Need& b) { return a.feature < b.feature; });
  return needs;
}

bool CanRun(const Workload& workload) {
  const std::vector<Need> needs = NeedsOf(workload);
  return std::none_of(needs.begin(), needs.end(), [](const Need& need) { return need.blocks; });
}

const std::string* DefectOf(const Workload& workload) {
  for (const FeatureUse& use : workload.features) {
    if (use.feature == Feature::kDefect) return &use.detail;
  }
  return nullptr;
}

}  // namespace schedq
