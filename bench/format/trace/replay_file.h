// Replays a whole trace file and reports every mismatch with its line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct ReplayTotals {
  uint64_t operations = 0;
  uint64_t mismatches = 0;
  std::vector<std::string> gates_not_modelled;  // Of the header; they changed nothing.
};

// Calls `report("FILE:LINE: op: ...")` for each mismatch. Returns an error where the trace is
// malformed, cannot be read, wants nothing, or lacks its last operation, end: one line with file,
// line and reason.
// The path "-" stands for standard input. An interrupt ends the replay early, without an error. A
// further plugin takes the place of the trace's plugin of its name, or stands behind the trace's
// plugins.
Result<ReplayTotals> ReplayFile(const std::string& path, EngineKind engine,
                                const std::function<void(const std::string&)>& report,
                                const std::vector<PluginSource>& further_plugins = {});

}  // namespace schedq
