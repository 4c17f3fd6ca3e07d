#include "bench/sim/devices/selector_index.h"

#include <set>
#include <string_view>
#include <utility>

#include "bench/format/objects/device_objects.h"

namespace schedq {

const SelectorIndex::Choice* SelectorIndex::ChoiceOf(SelectorId selector) {
  if (known_.size() <= selector) known_.resize(selector + 1);
  Known& known = known_[selector];
  const uint64_t version = catalog_.version();
  if (known.version == version) return &known.choice;
  if (std::exchange(known.asked_version, version) != version) return nullptr;
  known.choice = {};
  WorkOut(selector, &known.choice);
  known.version = version;
  return &known.choice;
}

void SelectorIndex::WorkOut(SelectorId selector, Choice* choice) {
  std::set<std::string_view> nodes;
  bool is_narrow = true;
  for (ListingId id = 0; id < catalog_.listing_count(); ++id) {
    const DeviceCatalog::Listing& listing = catalog_.listing(id);
    if (listing.spec == nullptr) continue;
    const SelectorAnswer answer = matches_.Ask(selector, id, listing);
    choice->fails = choice->fails || answer == SelectorAnswer::kError;
    if (answer != SelectorAnswer::kMatch) continue;
    const ResourceSliceObject& slice = *listing.slice->object;
    const NodeReach& reach = slice.per_device ? listing.spec->reach : slice.reach;
    is_narrow = is_narrow && !reach.node_name.empty();
    if (is_narrow) nodes.insert(reach.node_name);
    is_narrow = is_narrow && nodes.size() <= kNodesMax;
  }
  choice->is_decisive = is_narrow && !choice->fails;
  if (choice->is_decisive) choice->nodes.assign(nodes.begin(), nodes.end());
}

}  // namespace schedq
