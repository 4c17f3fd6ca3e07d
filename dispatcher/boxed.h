// A value that is mostly absent, and is on the heap when it is present: eight bytes in its owner.
// Threads: those of the value.
#pragma once

#include <memory>
#include <utility>

namespace schedq {

template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(const Boxed& other) : value_(Copy(other)) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) value_ = Copy(other);
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  bool has_value() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  // Makes the value if there is none.
  T& Mutable() {
    if (value_ == nullptr) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  static std::unique_ptr<T> Copy(const Boxed& other) {
    return other.has_value() ? std::make_unique<T>(*other.value_) : nullptr;
  }
  std::unique_ptr<T> value_;
};

}  // namespace schedq
