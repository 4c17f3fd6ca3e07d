// A pod rather goes where its images are already.
//
// Score: the bytes of its images that the node has, each less where few nodes have it, so that the
// pods of one image do not all go to the first node that has it. Below 23 MiB it is 0, from 1,000
// MiB a container on it is 100.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kBytesMin = 23 * kMiB;
constexpr int64_t kBytesOfContainerMax = 1000 * kMiB;

int64_t BytesOf(const ClusterNode& node, const std::string& image) {
  for (const NodeImage& each : node.images) {
    if (std::find(each.names.begin(), each.names.end(), image) != each.names.end()) {
      return each.bytes;
    }
  }
  return 0;
}

class ImageLocality final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "ImageLocality"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kScore); }
  int32_t weight() const override { return 1; }

  bool PreScore(PlacingAttempt* attempt, const NodeColumns& nodes) const override {
    return nodes.has_images() && !attempt->pod->spec().images.empty();
  }

  void Score(const PlacingAttempt& attempt, const NodeColumns& nodes,
             std::span<const uint32_t> slots, std::span<int64_t> scores) const override {
    const auto& images = attempt.pod->spec().images;
    std::unordered_map<std::string, int64_t> nodes_with;
    for (const std::string& image : images) nodes_with[image] = nodes.NodesWith(image);
    const int64_t most = kBytesOfContainerMax * static_cast<int64_t>(images.size());
    for (size_t i = 0; i < slots.size(); ++i) {
      int64_t sum = 0;
      for (const std::string& image : images) {
        const double share = static_cast<double>(nodes_with[image]) /
                             static_cast<double>(std::max<size_t>(nodes.nodes(), 1));
        const auto bytes = static_cast<double>(BytesOf(nodes.node(slots[i]), image));
        sum += static_cast<int64_t>(bytes * share);
      }
      sum = std::clamp(sum, kBytesMin, most);
      scores[i] = kScoreMax * (sum - kBytesMin) / (most - kBytesMin);
    }
  }
};

}  // namespace

PlacingPluginRef MakeImageLocality() { return std::make_unique<ImageLocality>(); }

}  // namespace schedq
