// A sink executes calls. The embedded server is one; a client of a real API server is another.
//
// Threads: the thread that dispatches calls Execute, which starts the call and must not block.
#pragma once

#include <functional>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"

namespace schedq {

class ApiSink {
 public:
  virtual ~ApiSink() = default;

  // Starts `call`, and brings about one done(status), from any thread. `call` does not change until
  // then. If Execute throws, the call has failed, and no done(status) may come.
  virtual void Execute(const ApiCall& call, std::function<void(const Status&)> done) = 0;
};

}  // namespace schedq
