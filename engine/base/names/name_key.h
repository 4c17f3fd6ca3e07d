// The secret that names are hashed with, and the hash of tables that are keyed by a name.
//
// Purpose: names come from outside. An attacker that knows a table's hash can make many names that
// fall into one place of the table, so that each lookup visits all of them. With a secret key
// nobody outside the process knows which names these are.
// When not to use it: as a cryptographic hash. It hides nothing from a reader of the hash itself;
// tables never show theirs.
// Threads: OfProcess from any thread, lock-free. FixForProcess from one thread before there is a
// table.
// Memory: 16 bytes a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace schedq {

struct NameKey {
  uint64_t first = 0;   // Where the hash of a text begins.
  uint64_t second = 0;  // Is mixed with every word before the word is multiplied.

  bool operator==(const NameKey&) const = default;

  // Two seeds give unrelated keys.
  static NameKey FromSeed(uint64_t seed);
  // The key of this process: from the system's entropy, unless it was fixed.
  static NameKey OfProcess();
  // From now on the process's key is that of the seed. Runs of one seed then do the same steps, to
  // the instruction. A program that serves others must not call this.
  static void FixForProcess(uint64_t seed);
};

// All 128 bits of the product, folded into 64.
inline uint64_t FoldedProduct(uint64_t left, uint64_t right) {
  const auto product = static_cast<unsigned __int128>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// For hash maps of the standard library and of folly that are keyed by names.
class NameHash {
 public:
  using is_transparent = void;
  using is_avalanching = void;  // folly: all bits of the hash are good.

  explicit NameHash(NameKey key = NameKey::OfProcess()) : key_(key) {}
  size_t operator()(std::string_view text) const;

 private:
  NameKey key_;
};

}  // namespace schedq
