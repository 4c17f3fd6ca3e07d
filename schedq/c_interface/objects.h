// From the C interface's pods and objects to the engine's.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "schedq/schedq.h"

namespace schedq {

// "" for null.
inline const char* TextOf(const char* text) { return text != nullptr ? text : ""; }

// An error: there is no list where the count says that there is one.
template <typename T>
Result<std::span<const T>> ListOf(const char* what, const T* items, size_t count) {
  if (items == nullptr && count != 0) {
    return Error(std::string(what) + " is null, expected " + std::to_string(count) + " of them");
  }
  return std::span<const T>(items, count);
}

// An error says which field is wrong.
Result<PodRef> PodOf(const schedq_pod* given);
// Null for null.
Result<PodGroupRef> GroupOf(const schedq_group* given);
Result<ObjectRef> ObjectOf(const schedq_object* given, Resource resource);

}  // namespace schedq
