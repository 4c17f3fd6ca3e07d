#include "bench/program/engine_flag.h"

namespace schedq {

void AddEngineFlag(CLI::App* app, std::string* engine) {
  app->add_option("--engine", *engine, "The engine")
      ->capture_default_str()
      ->type_name("lockfree|classic|both");
}

Result<std::vector<EngineKind>> ParseEngines(const std::string& name) {
  if (name == "both") return std::vector{EngineKind::kLockfree, EngineKind::kClassic};
  const Result<EngineKind> engine = ParseEngine(name);
  if (engine) return std::vector{*engine};
  return Error("--engine: unknown engine '" + name + "'; expected lockfree, classic or both");
}

}  // namespace schedq
