#include "bench/sim/real/posting_sink.h"

#include <utility>

namespace schedq {

void PostingSink::Execute(const ApiCall& call, std::function<void(const Status&)> done) {
  pace_.Post([this, &call, done = std::move(done)]() mutable {
    if (refuses_.load()) return done(Error("the API server is gone"));
    server_.Execute(call, std::move(done));
  });
}

}  // namespace schedq
