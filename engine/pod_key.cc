#include "engine/pod_key.h"

#include <cstring>

#include "engine/base/time/time.h"

namespace schedq {
namespace {

constexpr uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

// Multiply-and-fold over 8-byte words: a uid is 36 bytes, so this is five multiplications.
uint64_t UidFingerprint(std::string_view uid) {
  constexpr uint64_t kFirst = 0xa0761d6478bd642f;
  constexpr uint64_t kSecond = 0xe7037ed1a0b428db;
  uint64_t hash = kFirst ^ uid.size();
  uint64_t word = 0;
  // Whole words first: a copy of a fixed size is one load.
  for (; uid.size() >= sizeof(word); uid.remove_prefix(sizeof(word))) {
    std::memcpy(&word, uid.data(), sizeof(word));
    hash = Mix(hash ^ word, kSecond);
  }
  if (!uid.empty()) {
    word = 0;
    std::memcpy(&word, uid.data(), uid.size());
    hash = Mix(hash ^ word, kSecond);
  }
  return Mix(hash ^ kFirst, kSecond);
}

}  // namespace schedq
