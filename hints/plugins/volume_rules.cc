#include "hints/plugins/volume_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/label_selector.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

struct ZoneLabel {
  const char* key;
  const char* later_name;  // What the label is called today.
};
constexpr std::array<ZoneLabel, 4> kZoneLabels = {{
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "topology.kubernetes.io/region"},
}};

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The values of a volume's label, sorted; none: the label is malformed, and says nothing.
std::vector<std::string> ValuesOf(const std::string& label) {
  constexpr std::string_view kSeparator = "__";
  std::vector<std::string> values;
  for (size_t begin = 0; begin <= label.size();) {
    const size_t end = std::min(label.find(kSeparator, begin), label.size());
    values.push_back(Trimmed(label.substr(begin, end - begin)));
    if (values.back().empty()) return {};
    begin = end + kSeparator.size();
    if (end == label.size()) break;
  }
  std::sort(values.begin(), values.end());
  return values;
}

const char* LaterNameOf(const std::string& key) {
  for (const ZoneLabel& label : kZoneLabels) {
    if (key == label.key) return label.later_name;
  }
  return key.c_str();
}

bool ShareMonitor(const InlineDisk& a, const InlineDisk& b) {
  return std::find_first_of(a.monitors.begin(), a.monitors.end(), b.monitors.begin(),
                            b.monitors.end()) != a.monitors.end();
}

}  // namespace

const PodVolumes& VolumesOf(const Pod& pod) {
  static const PodVolumes kNone;
  return pod.volumes != nullptr ? *pod.volumes : kNone;
}

bool MountsClaim(const Pod& pod, const ObjectView& claim) {
  const auto& claims = VolumesOf(pod).claims;
  return pod.namespace_name == claim.namespace_name &&
         std::find(claims.begin(), claims.end(), claim.name) != claims.end();
}

bool ShareClaimName(const Pod& a, const Pod& b) {
  const auto& of_a = VolumesOf(a).claims;
  const auto& of_b = VolumesOf(b).claims;
  return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

bool Conflicts(const InlineDisk& a, const InlineDisk& b) {
  if (a.kind != b.kind || a.name != b.name) return false;
  const bool both_only_read = a.read_only && b.read_only;
  switch (a.kind) {
    case InlineDisk::Kind::kAwsElasticBlockStore:
      return true;
    case InlineDisk::Kind::kGcePersistentDisk:
    case InlineDisk::Kind::kIscsi:
      return !both_only_read;
    case InlineDisk::Kind::kRbd:
      return !both_only_read && ShareMonitor(a, b);
    default:
      return false;
  }
}

bool AnyDiskConflicts(const Pod& a, const Pod& b) {
  const auto& of_a = VolumesOf(a).disks;
  const auto& of_b = VolumesOf(b).disks;
  return std::any_of(of_a.begin(), of_a.end(), [&](const InlineDisk& disk) {
    return std::any_of(of_b.begin(), of_b.end(),
                       [&](const InlineDisk& other) { return Conflicts(disk, other); });
  });
}

std::string DriverOfProvisioner(const std::string& provisioner) {
  using Kind = InlineDisk::Kind;
  static constexpr std::array<std::pair<std::string_view, Kind>, 5> kPlugins = {{
      {"kubernetes.io/gce-pd", Kind::kGcePersistentDisk},
      {"kubernetes.io/aws-ebs", Kind::kAwsElasticBlockStore},
      {"kubernetes.io/azure-disk", Kind::kAzureDisk},
      {"kubernetes.io/cinder", Kind::kCinder},
      {"kubernetes.io/portworx-volume", Kind::kPortworx},
  }};
  for (const auto& [name, kind] : kPlugins) {
    if (name == provisioner) return MigratedDriverOf(kind);
  }
  return provisioner;
}

bool MeetsAnyTerm(const std::vector<NodeTerm>& terms, const ObjectView& node) {
  return terms.empty() || std::any_of(terms.begin(), terms.end(),
                                      [&](const NodeTerm& term) { return MeetsTerm(term, node); });
}

std::vector<VolumeZone> ZonesOf(const Labels& volume_labels) {
  std::vector<VolumeZone> zones;
  for (const ZoneLabel& label : kZoneLabels) {
    const std::string* const value = FindLabel(volume_labels, label.key);
    if (value == nullptr) continue;
    std::vector<std::string> values = ValuesOf(*value);
    if (!values.empty()) zones.push_back({label.key, std::move(values)});
  }
  return zones;
}

bool IsInZones(const std::vector<VolumeZone>& zones, const Labels& node_labels) {
  const bool has_any = std::any_of(
      kZoneLabels.begin(), kZoneLabels.end(),
      [&](const ZoneLabel& label) { return FindLabel(node_labels, label.key) != nullptr; });
  if (!has_any) return true;
  return std::all_of(zones.begin(), zones.end(), [&](const VolumeZone& zone) {
    const std::string* value = FindLabel(node_labels, zone.key);
    if (value == nullptr) value = FindLabel(node_labels, LaterNameOf(zone.key));
    return value != nullptr && std::binary_search(zone.values.begin(), zone.values.end(), *value);
  });
}

}  // namespace schedq
