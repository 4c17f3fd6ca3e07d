#include "hints/plugins/claim_hints.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

bool FreesDevices(const ObjectChange& change) {
  if (change.before == nullptr || !change.before->allocated) return false;
  return change.after == nullptr || !change.after->allocated;
}

namespace {

// Names of claims mostly differ in their last characters, if they are of one length at all.
bool IsSameName(const std::string& a, const std::string& b) {
  constexpr size_t kTail = sizeof(uint64_t);
  if (a.size() != b.size()) return false;
  if (a.size() < kTail) return a == b;
  uint64_t tail_of_a;
  uint64_t tail_of_b;
  std::memcpy(&tail_of_a, a.data() + a.size() - kTail, kTail);
  std::memcpy(&tail_of_b, b.data() + b.size() - kTail, kTail);
  return tail_of_a == tail_of_b && a == b;
}

}  // namespace

// Names differ more often than namespaces, and a pod's claims are adjacent: names are compared
// first.
bool NamesClaim(const Pod& pod, const ObjectView& claim) {
  for (const std::string& name : pod.claims) {
    if (IsSameName(name, claim.name)) return pod.namespace_name == claim.namespace_name;
  }
  return false;
}

bool UsesClaim(const Pod& pod, const ObjectView& claim) {
  if (NamesClaim(pod, claim)) return true;
  return std::any_of(pod.generated_claims.begin(), pod.generated_claims.end(),
                     [&](const GeneratedClaim& used) { return used.claim_name == claim.name; }) &&
         pod.namespace_name == claim.namespace_name;
}

PreQueueingHintFunction PodsOfClaim(const World* world) {
  return [world](const ObjectChange& change, PodList* pods) {
    const ObjectView* claim = change.Latest();
    if (claim == nullptr || claim->resource != Resource::kResourceClaim) return PreHint::kAllPods;
    if (FreesDevices(change)) return PreHint::kAllPods;
    world->claim_index().Lookup(claim->namespace_name, claim->name, pods);
    return PreHint::kListed;
  };
}

}  // namespace schedq
