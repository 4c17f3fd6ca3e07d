#include "schedq/c_interface/failure.h"

#include <algorithm>
#include <string>

namespace schedq {
namespace {

thread_local std::string last_error;

}  // namespace

schedq_status Fail(schedq_status status, std::string_view message) noexcept {
  try {
    last_error = message;
    std::replace(last_error.begin(), last_error.end(), '\n', ' ');
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

}  // namespace schedq

const char* schedq_last_error(void) { return schedq::last_error.c_str(); }
