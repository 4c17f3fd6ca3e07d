#include "bench/format/trace/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace schedq {
namespace {

// Appends a line for each key that only one of two maps has, or whose values differ.
template <typename Value>
void CompareMaps(const std::string& what, const std::map<std::string, Value>& want,
                 const std::map<std::string, Value>& got, std::vector<std::string>* lines) {
  for (const auto& [key, value] : want) {
    const auto found = got.find(key);
    if (found == got.end()) {
      lines->push_back(fmt::format("{} {}: wanted {}, got nothing", what, key, value));
    } else if (found->second != value) {
      lines->push_back(fmt::format("{} {}: wanted {}, got {}", what, key, value, found->second));
    }
  }
  for (const auto& [key, value] : got) {
    if (!want.contains(key)) {
      lines->push_back(fmt::format("{} {}: wanted nothing, got {}", what, key, value));
    }
  }
}

template <typename Value>
void Compare(const std::string& what, const Value& want, const Value& got,
             std::vector<std::string>* lines) {
  if (want != got) lines->push_back(fmt::format("{}: wanted {}, got {}", what, want, got));
}

}  // namespace

std::vector<std::string> Differences(TraceOp op, const TraceWant& want,
                                     const TraceOutcome& outcome) {
  std::vector<std::string> lines;
  CompareMaps("changed", want.changed, outcome.changed, &lines);
  if (op == TraceOp::kPop) {
    Compare("pod", want.popped.value_or("null"), outcome.popped.value_or("null"), &lines);
    Compare("group", want.popped_group.value_or("null"), outcome.popped_group.value_or("null"),
            &lines);
    Compare("pods", want.members, outcome.members, &lines);
    Compare("member_attempts", want.member_attempts, outcome.member_attempts, &lines);
    Compare("attempts", want.attempts, outcome.attempts, &lines);
    Compare("cycle", want.cycle, outcome.cycle, &lines);
  } else if (op == TraceOp::kNominated) {
    Compare("pods", want.nominated, outcome.nominated, &lines);
  } else if (op == TraceOp::kEnd) {
    Compare("scheduling_cycle", want.scheduling_cycle, outcome.scheduling_cycle, &lines);
    CompareMaps("queue_incoming_pods_total", want.incoming, outcome.incoming, &lines);
    // An engine keeps them only where it knows of groups.
    if (want.incoming_entities && outcome.incoming_entities) {
      CompareMaps("queue_incoming_entities_total", *want.incoming_entities,
                  *outcome.incoming_entities, &lines);
    }
  }
  return lines;
}

}  // namespace schedq
