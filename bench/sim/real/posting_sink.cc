#include "bench/sim/real/posting_sink.h"

#include <utility>

namespace schedq {

void PostingSink::Execute(const ApiCall& call, Done done) {
  pace_.Post([this, &call, done = std::move(done)]() mutable {
    if (refuses_) return done(Error("the API server is gone"));
    if (answers_at_once_) return server_.Execute(call, done);
    const uint64_t number = ++last_call_;
    under_way_.emplace(number, std::move(done));
    server_.Execute(call, [this, number](const Status& status) {
      under_way_.extract(number).mapped()(status);
    });
  });
}

void PostingSink::Refuse() {
  refuses_ = true;
  for (auto& [number, done] : std::exchange(under_way_, {})) done(Error("the API server is gone"));
}

}  // namespace schedq
