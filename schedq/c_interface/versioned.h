// Structs that carry their size, of this version of the interface or of another.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "engine/base/result.h"

namespace schedq {

// Larger sizes are taken for memory that nobody has initialized.
inline constexpr size_t kVersionedBytesMax = 4096;

inline Status CheckSize(const std::string& what, size_t size, size_t expected) {
  if (size >= sizeof(size_t) && size <= kVersionedBytesMax) return Status::Ok();
  return Error(what + ": size is " + std::to_string(size) + ", expected sizeof its type, " +
               std::to_string(expected));
}

// Copies `given`; what it lacks is 0. An error: its size is no size, or it says something that this
// version does not know.
template <typename T>
Status ReadVersioned(const std::string& what, const T* given, T* read) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, size) == 0);
  if (given == nullptr) return Error(what + " is null");
  const size_t size = given->size;
  if (Status status = CheckSize(what, size, sizeof(T)); !status) return status;
  std::memset(read, 0, sizeof(T));
  std::memcpy(read, given, std::min(size, sizeof(T)));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return Error(what + ": it is of a later version and asks for what this one lacks (byte " +
                   std::to_string(i) + " of " + std::to_string(size) + " is not 0)");
    }
  }
  return Status::Ok();
}

// Fills as much of `given` as its size allows. An error: its size is no size.
template <typename T>
Status WriteVersioned(const std::string& what, const T& written, T* given) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, size) == 0);
  if (given == nullptr) return Error(what + " is null");
  const size_t size = given->size;
  if (Status status = CheckSize(what, size, sizeof(T)); !status) return status;
  auto* const bytes = reinterpret_cast<unsigned char*>(given);
  std::memcpy(bytes, &written, std::min(size, sizeof(T)));
  if (size > sizeof(T)) std::memset(bytes + sizeof(T), 0, size - sizeof(T));
  given->size = size;
  return Status::Ok();
}

}  // namespace schedq
