#include "bench/sim/real/posting_sink.h"

#include <utility>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

void PostingSink::Execute(const ApiCall& call, std::function<void(const Status&)> done) {
  if (call.type == CallType::kBinding) {
    done = [this, number = AsClusterPod(*call.pod).number,
            done = std::move(done)](const Status& status) {
      if (!status.ok()) attempts_.End(number);
      done(status);
    };
  }
  pace_.Post([this, &call, done = std::move(done)]() mutable {
    if (refuses_.load()) return done(Error("the API server is gone"));
    server_.Execute(call, std::move(done));
  });
}

}  // namespace schedq
