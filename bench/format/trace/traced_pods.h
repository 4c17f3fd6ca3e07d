// The pods that a trace has named: which are live, and which incarnations are in flight.
//
// A trace names a pod by its name, or by "namespace/name" where names repeat. It may still name an
// incarnation that was deleted or bound while that is in flight.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

std::string FullName(const Pod& pod);

class TracedPods {
 public:
  struct Incarnation {
    PodRef pod;
    PodKey key;
  };
  struct Entry {
    std::string full_name;
    PodRef live;                         // Null: not live.
    std::vector<Incarnation> in_flight;  // In the order of their pops.
    std::string place = "absent";        // The place at the last comparison.
  };

  // Finds or makes the entry of a pod.
  Entry* Of(const Pod& pod);
  // Returns an error where the trace did not name the pod before, or the short name is not unique.
  Result<Entry*> Named(const std::string& name);
  // Like Named, but returns an error also where the pod is neither live nor in flight.
  Result<Entry*> Present(const std::string& name);

  // The pod's name in the trace: the short one where that is unique.
  std::string DisplayName(const Entry& entry) const;

  std::map<std::string, Entry>& entries() { return entries_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;                           // By full name.
  std::map<std::string, std::vector<Entry*>, std::less<>> short_;  // By name alone.
};

}  // namespace schedq
