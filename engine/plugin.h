// Plugins as the engine sees them: dense numbers, and sets of them in one word.
#pragma once

#include <bit>
#include <cstdint>

namespace schedq {

using PluginId = uint8_t;
inline constexpr PluginId kNoPlugin = 255;
inline constexpr int kPluginCountMax = 64;  // A set is one word; a registry refuses the 65th.

class PluginSet {
 public:
  constexpr PluginSet() = default;
  constexpr explicit PluginSet(uint64_t bits) : bits_(bits) {}
  static constexpr PluginSet Of(PluginId plugin) { return PluginSet(uint64_t{1} << plugin); }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr uint64_t bits() const { return bits_; }
  constexpr bool Has(PluginId plugin) const { return (bits_ >> plugin) & 1; }
  constexpr void Insert(PluginId plugin) { bits_ |= uint64_t{1} << plugin; }

  // Calls `visit(PluginId)` for each member, in ascending order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
      visit(static_cast<PluginId>(std::countr_zero(rest)));
    }
  }

  friend constexpr PluginSet operator|(PluginSet a, PluginSet b) {
    return PluginSet(a.bits_ | b.bits_);
  }
  friend constexpr PluginSet operator&(PluginSet a, PluginSet b) {
    return PluginSet(a.bits_ & b.bits_);
  }
  friend constexpr bool operator==(PluginSet, PluginSet) = default;

 private:
  uint64_t bits_ = 0;
};

}  // namespace schedq
