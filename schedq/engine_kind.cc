#include "schedq/engine_kind.h"

#include <utility>

#include "engine/classic/classic_queue.h"
#include "engine/lockfree/lockfree_queue.h"

namespace schedq {

std::vector<EngineKind> AllEngines() { return {EngineKind::kClassic, EngineKind::kLockfree}; }

std::string_view EngineName(EngineKind kind) {
  return kind == EngineKind::kClassic ? "classic" : "lockfree";
}

Result<EngineKind> ParseEngine(std::string_view name) {
  for (const EngineKind kind : AllEngines()) {
    if (name == EngineName(kind)) return kind;
  }
  return Error("--engine: unknown engine " + std::string(name) + ", expected classic or lockfree");
}

std::unique_ptr<SchedulingQueue> MakeQueue(EngineKind kind, QueueOptions options) {
  if (kind == EngineKind::kClassic) return std::make_unique<ClassicQueue>(std::move(options));
  return std::make_unique<LockfreeQueue>(std::move(options));
}

}  // namespace schedq
