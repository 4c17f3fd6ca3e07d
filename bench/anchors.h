// The figures to beat: bench/anchors.json, embedded when the program is built.
// Threads: the main thread only.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace schedq {

const nlohmann::json& Anchors();

// Nanoseconds per push+pop pair of a strict priority queue, as measured on a reference machine.
// Nothing when that queue, size or number of threads was not measured there.
std::optional<double> PriorityQueueAnchor(int64_t entries, int threads, const std::string& queue);

}  // namespace schedq
