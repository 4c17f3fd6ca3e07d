// Which engine, and how to make one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

class SchedulingQueue;
struct QueueOptions;

enum class EngineKind : uint8_t { kClassic, kLockfree };

std::vector<EngineKind> AllEngines();
std::string_view EngineName(EngineKind kind);
// An error names the known engines.
Result<EngineKind> ParseEngine(std::string_view name);
std::unique_ptr<SchedulingQueue> MakeQueue(EngineKind kind, QueueOptions options);

}  // namespace schedq
