// Names of enumerators in documents. An enum specialises EnumText with kNames in its own order.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace schedq {

template <typename Enum>
struct EnumText;

template <typename Enum>
std::string_view TextOf(Enum value) {
  return EnumText<Enum>::kNames[static_cast<size_t>(value)];
}

template <typename Enum>
std::optional<Enum> EnumFromText(std::string_view text) {
  const auto& names = EnumText<Enum>::kNames;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace schedq
