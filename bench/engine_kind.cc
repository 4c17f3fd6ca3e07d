#include "bench/engine_kind.h"

#include "engine/classic/classic_queue.h"

namespace schedq {

std::vector<EngineKind> AllEngines() { return {EngineKind::kClassic}; }

std::string_view EngineName(EngineKind kind) {
  switch (kind) {
    case EngineKind::kClassic:
      return "classic";
  }
  return "";
}

Result<EngineKind> ParseEngine(std::string_view name) {
  if (name == EngineName(EngineKind::kClassic)) return EngineKind::kClassic;
  return Error("--engine: unknown engine " + std::string(name) + ", expected classic");
}

std::unique_ptr<SchedulingQueue> MakeQueue(EngineKind kind, QueueOptions options) {
  switch (kind) {
    case EngineKind::kClassic:
      return std::make_unique<ClassicQueue>(std::move(options));
  }
  return nullptr;
}

}  // namespace schedq
