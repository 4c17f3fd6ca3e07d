// An out-of-tree plugin in C++: a pod that it rejected is worth another attempt when one of its
// claims is updated. Its PreQueueingHint narrows such an event to the pods that use the claim.
//
// `schedq run`, `schedq profile requeue` and `schedq replay` load it with `--plugin libplugin.so`.
#include <schedq/plugin.h>

#include <cstddef>
#include <optional>
#include <string>

namespace {

using schedq::outside::Change;
using schedq::outside::Hint;
using schedq::outside::Object;
using schedq::outside::Pod;
using schedq::outside::PodList;
using schedq::outside::PreHint;

class License {
 public:
  bool MayEnter(const Pod& pod, std::string* message) const {
    if (pod.Label("license") != "none") return true;
    *message = "no license can be had";
    return false;
  }

  // Could the change make the pod schedulable?
  Hint ClaimHint(const Pod& pod, const Change& change) const {
    const std::optional<Object> claim = change.latest();
    if (!claim) return Hint::kQueue;
    for (size_t i = 0; i < pod.Count(SCHEDQ_POD_CLAIMS); ++i) {
      if (pod.Item(SCHEDQ_POD_CLAIMS, i) == claim->name()) return Hint::kQueue;
    }
    return Hint::kSkip;
  }

  // Which pods should ClaimHint be asked about?
  PreHint ClaimPreHint(const Change& change, PodList* pods) const {
    const std::optional<Object> claim = change.latest();
    if (!claim) return PreHint::kAllPods;
    pods->AddUsersOfClaim(claim->namespace_name(), claim->name());
    return PreHint::kListed;
  }
};

}  // namespace

SCHEDQ_PLUGIN_LIBRARY(schedq::outside::Describe<License>("License")
                          .Rejecting("the license is in use")
                          .BeforeEnqueue<&License::MayEnter>()
                          .On<&License::ClaimHint, &License::ClaimPreHint>("ResourceClaim",
                                                                           "Add,Update"));
