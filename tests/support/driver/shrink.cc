// Shrinks a failing sequence, and writes it to a file.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/format/trace/trace_writer.h"
#include "engine/base/result.h"
#include "tests/support/driver/driver.h"

namespace schedq {
namespace {

constexpr int kPlaysMax = 5000;

std::vector<TraceOperation> Without(const std::vector<TraceOperation>& operations, size_t from,
                                    size_t count) {
  std::vector<TraceOperation> rest(operations.begin(),
                                   operations.begin() + static_cast<ptrdiff_t>(from));
  const size_t end = std::min(from + count, operations.size());
  rest.insert(rest.end(), operations.begin() + static_cast<ptrdiff_t>(end), operations.end());
  return rest;
}

// Removes the answers of operations one by one, as long as the rest still fails.
void DropAnswers(DriverFailure* failure, const std::vector<DrivenEngine>& engines) {
  for (size_t i = 0; i < failure->operations.size(); ++i) {
    std::vector<TraceOperation> simpler = failure->operations;
    if (simpler[i].rejected.empty() && simpler[i].verdicts.empty()) continue;
    simpler[i].rejected.clear();
    simpler[i].verdicts.clear();
    if (auto smaller = Play(failure->header, simpler, engines)) *failure = std::move(*smaller);
  }
}

}  // namespace

// Delta debugging: removes runs of operations, and halves their length when none can be removed.
DriverFailure Shrink(DriverFailure failure, const std::vector<DrivenEngine>& engines) {
  int plays = 0;
  size_t length = failure.operations.size() / 2;
  while (length >= 1 && plays < kPlaysMax) {
    bool shrunk = false;
    // The search starts at the end, because later operations are needed by fewer others.
    for (size_t from = failure.operations.size(); from > 0 && plays < kPlaysMax;) {
      from = from > length ? from - length : 0;
      ++plays;
      auto smaller = Play(failure.header, Without(failure.operations, from, length), engines);
      if (!smaller) continue;
      failure = std::move(*smaller);
      from = std::min(from, failure.operations.size());
      shrunk = true;
    }
    if (length == 1) DropAnswers(&failure, engines);
    if (!shrunk || length > failure.operations.size()) length /= 2;
  }
  return failure;
}

std::string WriteFailure(const DriverFailure& failure, const DriverOptions& options,
                         const std::vector<DrivenEngine>& engines, const std::string& folder) {
  const auto path =
      std::filesystem::path(folder) / ("driver-seed-" + std::to_string(options.seed) + ".jsonl");
  std::ofstream file(path);
  file << FormatTraceHeader(failure.header) << '\n';
  const auto replayer = Replayer::Create(failure.header, engines.front().make);
  std::vector<TraceOperation> operations = failure.operations;
  // Shrinking drops it, and a trace without it is taken for one that was cut.
  if (operations.empty() || operations.back().op != TraceOp::kEnd) {
    TraceOperation end;
    end.time_ms = operations.empty() ? 0 : operations.back().time_ms;
    operations.push_back(std::move(end));
  }
  for (TraceOperation& operation : operations) {
    const Result<TraceOutcome> outcome = (*replayer)->Apply(operation);
    if (outcome) operation.want = *outcome;
    file << FormatTraceOperation(operation, VersionOf(failure.header)) << '\n';
  }
  std::string text = failure.what + "\nseed " + std::to_string(options.seed) + ", " +
                     std::to_string(failure.operations.size()) + " operations: " + path.string();
  for (const DrivenEngine& engine : engines) {
    text += "\nreplay: schedq replay --engine " + engine.name + " " + path.string();
  }
  return text + "\nrepeat: SCHEDQ_SEED=" + std::to_string(options.seed) + " random_driver\n";
}

}  // namespace schedq
