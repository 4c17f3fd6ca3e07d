// What stands behind the handles of the C interface, and how its functions refuse arguments.
//
// Threads: as the functions of schedq/schedq.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "schedq/assembled_queue.h"
#include "schedq/attempt.h"
#include "schedq/c_interface/failure.h"
#include "schedq/c_interface/views.h"
#include "schedq/schedq.h"

struct schedq_queue {
  std::unique_ptr<schedq::AssembledQueue> assembled;
};

struct schedq_attempt {
  explicit schedq_attempt(schedq::Attempt given)
      : attempt(std::move(given)),
        pod(attempt.is_group() ? schedq_pod_view{} : schedq::ViewOf(attempt.pod())),
        members(attempt.TakeMembers()) {}

  schedq::Attempt attempt;
  const schedq_pod_view pod;
  // Of a group; one that was given to the caller counts as ended here. They go before the attempt
  // of their group, so that they fail before its cycle ends.
  std::vector<schedq::Attempt> members;
};

namespace schedq {

inline schedq_status Invalid(const Error& error) { return Fail(SCHEDQ_INVALID, error.message()); }
inline schedq_status IsNull(const char* what) {
  return Fail(SCHEDQ_INVALID, std::string(what) + " is null");
}

}  // namespace schedq
