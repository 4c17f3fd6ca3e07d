// The flags of `schedq run` about the scheduler's calls to the API server, and about faults.
//
// Threads: the main thread only.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/format/workload/fault.h"
#include "bench/sim/calls/call_settings.h"
#include "engine/base/result.h"

namespace schedq {

// As the flags say it.
struct CallRequest {
  std::string order;   // Empty: by relevance, or by arrival where another flag asks for that.
  uint64_t limit = 0;  // 0: no bound.
  std::vector<std::string> own_clients;
  bool gates_reentry = false;
  std::string client_rate;  // Empty: the cost model's.
  std::vector<std::string> faults;

  // The first flag that is about calls; null: there is none.
  const char* FirstOfCalls() const;
};

void DeclareCalls(CLI::App& app, CallRequest* request);

Result<CallSettings> ReadCallSettings(const CallRequest& request);
Result<std::vector<Fault>> ReadFaults(const CallRequest& request);

// As FlagsThatDecide has them.
std::vector<std::string> FlagsOf(const CallRequest& request);

}  // namespace schedq
