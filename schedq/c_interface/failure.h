// How a function of the C interface fails: a status, and a message for its thread.
//
// Threads: any; each thread has a message of its own.
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "schedq/schedq.h"

namespace schedq {

// Keeps the message for schedq_last_error and returns `status`.
schedq_status Fail(schedq_status status, std::string_view message) noexcept;

// Runs `body`, which returns a status; what it throws becomes one.
template <typename Body>
schedq_status Guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(SCHEDQ_NO_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return Fail(SCHEDQ_INTERNAL, exception.what());
  } catch (...) {
    return Fail(SCHEDQ_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace schedq
