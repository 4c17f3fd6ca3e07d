// An instant or none, in the eight bytes of an instant.
//
// Purpose: queues keep several of these for each pod; std::optional takes twice the memory.
// When not to use it: where the clock type's earliest instant is a value, because here it means
// none.
// Threads: a value.
#pragma once

#include <compare>
#include <optional>

#include "engine/base/time/time.h"

namespace schedq {

class MaybeInstant {
 public:
  constexpr MaybeInstant() = default;
  // Implicit, as std::optional's are.
  // NOLINTBEGIN(google-explicit-constructor)
  constexpr MaybeInstant(Instant instant) : instant_(instant) {}
  constexpr MaybeInstant(std::optional<Instant> instant) : instant_(instant.value_or(kNone)) {}
  // NOLINTEND(google-explicit-constructor)

  constexpr bool has_value() const { return instant_ != kNone; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr Instant operator*() const { return instant_; }
  constexpr Instant value_or(Instant other) const { return has_value() ? instant_ : other; }
  constexpr void reset() { instant_ = kNone; }

  // None comes before every instant.
  friend constexpr auto operator<=>(MaybeInstant, MaybeInstant) = default;

 private:
  static constexpr Instant kNone = Instant::min();

  Instant instant_ = kNone;
};

}  // namespace schedq
