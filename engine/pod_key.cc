#include "engine/pod_key.h"

#include <cstring>

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
  while (!uid.empty()) {
    uint64_t word = 0;
    const size_t taken = uid.size() < sizeof(word) ? uid.size() : sizeof(word);
    std::memcpy(&word, uid.data(), taken);
    hash = Mix(hash ^ word, kSecond);
    uid.remove_prefix(taken);
  }
  return Mix(hash ^ kFirst, kSecond);
}

}  // namespace schedq
