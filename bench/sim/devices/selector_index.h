// The nodes whose devices a selector chooses, where these are few.
//
// Purpose: an attempt looks at many nodes for devices that few nodes have. Where one selector
// decides, it looks at those nodes alone.
// Method: the kept answers of a selector (selector_matches.h) for all devices, gone through once
// for each version of the catalog. A catalog that changes from attempt to attempt would make that
// dearer than the attempts, so it is done when a version is asked about for the second time.
// Threads: one. Catalog and matches outlive it.
// Memory: at most kNodesMax names for each selector that was ever asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/sim/devices/device_catalog.h"
#include "bench/sim/devices/selector_matches.h"

namespace schedq {

class SelectorIndex {
 public:
  // A selector that chooses devices of more nodes decides nothing.
  static constexpr size_t kNodesMax = 64;

  struct Choice {
    // It cannot be evaluated for some device, so that an attempt may have to say so.
    bool fails = false;
    // Its devices are on few nodes, each of one node: `nodes` has them all, by name.
    bool is_decisive = false;
    std::vector<std::string> nodes;
  };

  SelectorIndex(const DeviceCatalog* catalog, SelectorMatches* matches)
      : catalog_(*catalog), matches_(*matches) {}

  // Null: not known for this version of the catalog yet.
  const Choice* ChoiceOf(SelectorId selector);

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  struct Known {
    uint64_t asked_version = kNever;
    uint64_t version = kNever;  // Of `choice`.
    Choice choice;
  };

  void WorkOut(SelectorId selector, Choice* choice);

  const DeviceCatalog& catalog_;
  SelectorMatches& matches_;
  std::vector<Known> known_;  // By selector.
};

}  // namespace schedq
