// The figures to beat: bench/anchors.json, which the build puts into the program.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace schedq {

const nlohmann::json& Anchors();

// Nanoseconds per push+pop pair of a strict priority queue, measured on a reference machine.
// nullopt where that queue, size or number of threads was not measured.
std::optional<double> PriorityQueueAnchor(int64_t entries, int threads, const std::string& queue);

}  // namespace schedq
