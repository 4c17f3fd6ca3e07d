// A link of the interner's list, packed into one word. See interner.h.
#pragma once

#include <cstdint>

namespace schedq {

// Bits 0-28 the index of what it leads to, 29-30 its kind, 31 marked (the slot that holds this link
// is dead), 32 open (a walk may start from the bucket that holds this link), 33-63 the tag.
class NameLink {
 public:
  enum class Kind : uint8_t {
    kNone,  // A bucket that was never opened; with a tag, one that is being opened.
    kSlot,
    kBucket,
    kEnd,
  };
  static constexpr uint32_t kIndexMax = (uint32_t{1} << 29) - 1;

  NameLink() = default;
  explicit NameLink(uint64_t word) : word_(word) {}

  uint64_t word() const { return word_; }
  uint32_t index() const { return static_cast<uint32_t>(word_) & kIndexMax; }
  Kind kind() const { return static_cast<Kind>((word_ >> kKindShift) & 3); }
  bool marked() const { return (word_ & kMarked) != 0; }
  bool open() const { return (word_ & kOpen) != 0; }
  bool operator==(const NameLink&) const = default;

  // Each of these is a next value for the memory that holds this link: with a new tag, and with the
  // other flags unchanged.
  NameLink To(Kind kind, uint32_t index) const {
    const uint64_t target = uint64_t{static_cast<uint8_t>(kind)} << kKindShift | index;
    return NameLink(((word_ & ~kTargetBits) | target) + kTagUnit);
  }
  NameLink ToSameAs(NameLink other) const { return To(other.kind(), other.index()); }
  NameLink Marked() const { return NameLink((word_ | kMarked) + kTagUnit); }
  NameLink Unmarked() const { return NameLink((word_ & ~kMarked) + kTagUnit); }
  NameLink Opened() const { return NameLink((word_ | kOpen) + kTagUnit); }

 private:
  static constexpr int kKindShift = 29;
  static constexpr uint64_t kTargetBits = (uint64_t{1} << 31) - 1;
  static constexpr uint64_t kMarked = uint64_t{1} << 31;
  static constexpr uint64_t kOpen = uint64_t{1} << 32;
  static constexpr uint64_t kTagUnit = uint64_t{1} << 33;

  uint64_t word_ = 0;
};

}  // namespace schedq
