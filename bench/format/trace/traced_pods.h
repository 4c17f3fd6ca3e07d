// The pods that a trace has told of: which are live, and which incarnations are in flight.
//
// A trace names pods by their name, or by "namespace/name" where names repeat. An incarnation that
// was deleted or bound may still be named while it is in flight.
#pragma once

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
    std::string place = "absent";        // As last told.
  };

  // Finds or makes the entry of a pod that is told of.
  Entry* Of(const Pod& pod);
  // An error: nobody told of it, or the short name is not unique.
  Result<Entry*> Named(const std::string& name);
  // As Named, but an error also when it is neither live nor in flight.
  Result<Entry*> Present(const std::string& name);

  // How the trace would name it: short where that is unique.
  std::string DisplayName(const Entry& entry) const;

  std::map<std::string, Entry>& entries() { return entries_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;                           // By full name.
  std::map<std::string, std::vector<Entry*>, std::less<>> short_;  // By name alone.
};

}  // namespace schedq
