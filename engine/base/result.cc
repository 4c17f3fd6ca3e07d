#include "engine/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace schedq {

void Fatal(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "schedq: bug at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

void FatalFailure(const Error& error) {
  std::fprintf(stderr, "schedq: bug: an operation must not fail here: %s\n",
               error.message().c_str());
  std::abort();
}

}  // namespace schedq
