// What executes calls. The embedded server is one; a client of a real API server is another.
//
// Threads: Execute is called by the thread that dispatches, and must not block: it starts the call.
#pragma once

#include <functional>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"

namespace schedq {

class ApiSink {
 public:
  virtual ~ApiSink() = default;

  // Starts `call`, which stays as it is until done(status) is called, once, from any thread.
  virtual void Execute(const ApiCall& call, std::function<void(const Status&)> done) = 0;
};

}  // namespace schedq
