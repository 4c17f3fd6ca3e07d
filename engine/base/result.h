// Expected failures are return values: a Result holds a value or one line that says what, where and
// what was expected. Bugs abort through SCHEDQ_CHECK.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace schedq {

class [[nodiscard]] Error {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that a function can return its value or its error directly.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { return std::get<0>(content_); }
  const T& value() const { return std::get<0>(content_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

// Success, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as in Result.
  Status(Error error) : error_(std::move(error)) {}

  static Status Ok() { return {}; }
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

// Prints the error and aborts.
[[noreturn]] void FatalFailure(const Error& error);
// For a caller that has argued why an operation does not fail.
inline void MustSucceed(const Status& status) {
  if (!status.ok()) [[unlikely]]
    FatalFailure(status.error());
}

// Prints the message with its place and aborts.
[[noreturn]] void Fatal(const char* file, int line, const char* condition, const char* message);

}  // namespace schedq

// A condition that only a bug can break. Always on.
#define SCHEDQ_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0) : ::schedq::Fatal(__FILE__, __LINE__, #condition, message))
