// The claim index and its rivals, with one interface: from a claim's name to the pods that use it.
//
// A contestant has `kName` and two functions. Any thread may call `Find(claim, pods)`, which
// replaces `pods` by the pods that use the claim. Only the thread that changes a pod may call
// `Move(pod, from, to)`. Claims and pods are numbers; a contestant finds a claim by the name made
// from its number.
#pragma once

#include <folly/concurrency/ConcurrentHashMap.h>
#include <tbb/concurrent_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "hints/claims/claim_index.h"

namespace schedq {

// Writes names such as "bench/c0001234" into one buffer, without allocation.
class NumberedName {
 public:
  explicit NumberedName(char letter) : text_(std::string("bench/") + letter + "0000000") {}

  const std::string& Full(uint32_t number) {
    for (size_t i = text_.size(); i-- > kLetter + 1; number /= 10) {
      text_[i] = static_cast<char>('0' + number % 10);
    }
    return text_;
  }
  // The name without its namespace.
  std::string_view Short(uint32_t number) { return WithoutSpace(Full(number)); }
  static std::string_view WithoutSpace(const std::string& full) {
    return std::string_view(full).substr(kLetter);
  }

 private:
  static constexpr size_t kLetter = 6;
  std::string text_;
};

// The claim's name, in a buffer of the calling thread that the next call overwrites.
inline const std::string& ClaimName(uint32_t claim) {
  thread_local NumberedName name('c');
  return name.Full(claim);
}

using PodNumbers = std::vector<uint32_t>;

class ClaimIndexContestant {
 public:
  static constexpr const char* kName = "schedq::ClaimIndex";

  explicit ClaimIndexContestant(uint32_t pods) {
    NumberedName name('p');
    for (uint32_t pod = 0; pod < pods; ++pod) {
      SCHEDQ_CHECK(pod_names_.Acquire("bench", name.Short(pod)) == pod, "ids are dense");
    }
  }

  void Find(uint32_t claim, PodNumbers* pods) {
    pods->clear();
    index_.Lookup("bench", NumberedName::WithoutSpace(ClaimName(claim)), pods);
  }
  void Move(uint32_t pod, uint32_t from, uint32_t to) {
    thread_local Versions versions;
    index_.Update(&versions.Using(0, pod, from), &versions.Using(1, pod, to));
  }
  void Add(uint32_t pod, uint32_t claim) {
    Versions versions;
    index_.Insert("bench", NumberedName::WithoutSpace(ClaimName(claim)));
    index_.Update(nullptr, &versions.Using(0, pod, claim));
  }

 private:
  // Two versions of a pod, which each move rewrites.
  class Versions {
   public:
    Versions() {
      for (Pod& version : versions_) {
        version.namespace_name = "bench";
        version.claims.resize(1);
      }
    }
    const Pod& Using(size_t version, uint32_t pod, uint32_t claim) {
      versions_[version].name = pod_name_.Short(pod);
      versions_[version].claims[0] = claim_name_.Short(claim);
      return versions_[version];
    }

   private:
    NumberedName pod_name_{'p'};
    NumberedName claim_name_{'c'};
    Pod versions_[2];
  };

  Interner pod_names_;
  ClaimIndex index_{&pod_names_};
};

inline PodNumbers Without(PodNumbers pods, uint32_t pod) {
  std::erase(pods, pod);
  return pods;
}
inline PodNumbers With(PodNumbers pods, uint32_t pod) {
  pods.push_back(pod);
  return pods;
}

class FollyClaimMap {
 public:
  static constexpr const char* kName = "folly::ConcurrentHashMap";

  explicit FollyClaimMap(uint32_t pods) : map_(pods) {}

  void Find(uint32_t claim, PodNumbers* pods) {
    pods->clear();
    const auto found = map_.find(ClaimName(claim));
    if (found != map_.cend()) *pods = found->second;
  }
  void Move(uint32_t pod, uint32_t from, uint32_t to) {
    Change(from, [pod](const PodNumbers& pods) { return Without(pods, pod); });
    Add(pod, to);
  }
  void Add(uint32_t pod, uint32_t claim) {
    Change(claim, [pod](const PodNumbers& pods) { return With(pods, pod); });
  }

 private:
  // Other threads read values without a lock, so a change replaces the whole value.
  template <typename Make>
  void Change(uint32_t claim, Make make) {
    const std::string& key = ClaimName(claim);
    for (;;) {
      const auto found = map_.find(key);
      if (found == map_.cend()) {
        if (map_.insert(key, make(PodNumbers())).second) return;
      } else if (map_.assign_if_equal(key, found->second, make(found->second))) {
        return;
      }
    }
  }

  folly::ConcurrentHashMap<std::string, PodNumbers> map_;
};

class TbbClaimMap {
 public:
  static constexpr const char* kName = "tbb::concurrent_hash_map";

  explicit TbbClaimMap(uint32_t pods) : map_(pods) {}

  void Find(uint32_t claim, PodNumbers* pods) {
    pods->clear();
    Map::const_accessor found;
    if (map_.find(found, ClaimName(claim))) *pods = found->second;
  }
  void Move(uint32_t pod, uint32_t from, uint32_t to) {
    {
      Map::accessor found;
      if (map_.find(found, ClaimName(from))) std::erase(found->second, pod);
    }
    Add(pod, to);
  }
  void Add(uint32_t pod, uint32_t claim) {
    Map::accessor found;
    map_.insert(found, ClaimName(claim));
    found->second.push_back(pod);
  }

 private:
  using Map = tbb::concurrent_hash_map<std::string, PodNumbers>;
  Map map_;
};

}  // namespace schedq
