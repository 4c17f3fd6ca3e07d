// A vector with room for a few elements inside itself.
//
// Purpose: what mostly holds one to four elements costs no allocation and lies in its owner's cache
// line.
// When not to use it: where there are mostly more elements than there is room; std::vector moves
// faster. Why it is written by hand: public headers use it, so it may need no library (folly's
// small vectors would make every embedder install folly), and its size is part of Pod's layout.
// Threads: as std::vector.
// Invariant: elements lie inside as long as capacity() is kInside, else on the heap.
// Memory: the elements inside, or twice as many as there were at most; clear() keeps the room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace schedq {

template <typename T, uint32_t kInside>
class InlineVector {
  static_assert(kInside > 0, "one without room inside is a std::vector");
  static_assert(std::is_nothrow_move_constructible_v<T>, "elements move when the vector grows");

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() noexcept {}
  InlineVector(std::initializer_list<T> elements)
      : InlineVector(elements.begin(), elements.end()) {}
  template <std::forward_iterator Iterator>
  InlineVector(Iterator first, Iterator last) : InlineVector() {
    reserve(static_cast<size_t>(std::distance(first, last)));
    std::uninitialized_copy(first, last, data());
    size_ = static_cast<uint32_t>(std::distance(first, last));
  }
  InlineVector(const InlineVector& other) : InlineVector(other.begin(), other.end()) {}
  InlineVector(InlineVector&& other) noexcept { TakeFrom(&other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) *this = InlineVector(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    DestroyAll();
    TakeFrom(&other);
    return *this;
  }
  ~InlineVector() { DestroyAll(); }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

  T* data() { return capacity_ == kInside ? Inside() : room_.outside; }
  const T* data() const { return const_cast<InlineVector*>(this)->data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  // `element` may be one of this vector's own.
  void push_back(const T& element) {
    if (size_ == capacity_) return push_back(T(element));
    std::construct_at(end(), element);
    ++size_;
  }
  void push_back(T&& element) { emplace_back(std::move(element)); }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ == capacity_) {
      T element(std::forward<Arguments>(arguments)...);
      Grow(size_ + 1);
      std::construct_at(end(), std::move(element));
    } else {
      std::construct_at(end(), std::forward<Arguments>(arguments)...);
    }
    return data()[size_++];
  }

  void reserve(size_t capacity) {
    if (capacity > capacity_) Grow(capacity);
  }
  void resize(size_t size) {
    if (size > size_) {
      reserve(size);
      std::uninitialized_value_construct_n(end(), size - size_);
    } else {
      std::destroy(begin() + size, end());
    }
    size_ = static_cast<uint32_t>(size);
  }
  void clear() {
    std::destroy_n(data(), size_);
    size_ = 0;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  union Room {
    T* outside;
    alignas(T) unsigned char inside[kInside * sizeof(T)];
  };

  T* Inside() { return std::launder(reinterpret_cast<T*>(room_.inside)); }

  // To at least `capacity`, and to twice what there was.
  void Grow(size_t capacity) {
    const size_t grown = std::max<size_t>(capacity, size_t{capacity_} * 2);
    T* const outside = std::allocator<T>().allocate(grown);
    std::uninitialized_move_n(data(), size_, outside);
    std::destroy_n(data(), size_);
    FreeOutside();
    room_.outside = outside;
    capacity_ = static_cast<uint32_t>(grown);
  }

  // This one holds nothing; the other one holds nothing afterwards.
  void TakeFrom(InlineVector* other) noexcept {
    size_ = std::exchange(other->size_, 0);
    capacity_ = std::exchange(other->capacity_, kInside);
    if (capacity_ != kInside) {
      room_.outside = other->room_.outside;
    } else {
      std::uninitialized_move_n(other->Inside(), size_, Inside());
      std::destroy_n(other->Inside(), size_);
    }
  }

  void DestroyAll() {
    std::destroy_n(data(), size_);
    FreeOutside();
  }
  void FreeOutside() {
    if (capacity_ != kInside) std::allocator<T>().deallocate(room_.outside, capacity_);
  }

  Room room_;  // `outside` once the capacity is another than kInside.
  uint32_t size_ = 0;
  uint32_t capacity_ = kInside;
};

}  // namespace schedq
