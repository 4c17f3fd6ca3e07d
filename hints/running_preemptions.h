// Pods that have made room for themselves and whose victims have not all gone yet.
//
// Purpose: DefaultPreemption gates such a pod: an attempt before the victims are gone is wasted.
// Threads: any. One shared_mutex; a question does not allocate.
// Memory: the uids of the pods that wait for victims.
#pragma once

#include <functional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace schedq {

class RunningPreemptions {
 public:
  // By uid: a pod created anew under the same name has nothing to do with the old one's victims.
  void Begin(std::string_view pod_uid);
  // The victims are gone, or the preemption failed.
  void End(std::string_view pod_uid);
  bool Contains(std::string_view pod_uid) const;

 private:
  mutable std::shared_mutex mutex_;
  std::set<std::string, std::less<>> pod_uids_;  // Guarded by mutex_.
};

}  // namespace schedq
