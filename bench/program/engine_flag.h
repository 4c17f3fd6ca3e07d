// The flag --engine of commands that run on one engine or on both.
// Threads: pure functions.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "schedq/engine_kind.h"

namespace schedq {

// "--engine lockfree|classic|both", bound to `engine`, which holds the default.
void AddEngineFlag(CLI::App* app, std::string* engine);

// The product first.
Result<std::vector<EngineKind>> ParseEngines(const std::string& name);

}  // namespace schedq
