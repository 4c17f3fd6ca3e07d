#include "bench/program/gate/trace_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "bench/format/trace/trace.h"
#include "engine/event.h"
#include "perf/text/table.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kStepsBefore = 8;  // Of a pod's history.
constexpr size_t kStepsAfter = 3;
constexpr size_t kLineWidthMax = 96;

// A trace's lines behind the header, read as they are asked for.
class TraceLines {
 public:
  // The header: its version.
  Status Begin(std::string_view text) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      lines_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    if (lines_.empty()) return Error("the trace is empty");
    const Result<TraceHeader> header = ParseTraceHeader(lines_[0]);
    if (!header) return header.error();
    version_ = header->version;
    return Status::Ok();
  }

  size_t size() const { return lines_.size(); }
  std::string_view line(size_t number) const { return lines_[number]; }
  Result<TraceOperation> Read(size_t number) const {
    Result<TraceOperation> operation = ParseTraceOperation(lines_[number], version_);
    if (operation) return operation;
    return Error(fmt::format("line {} of the trace: {}", number + 1, operation.error().message()));
  }

 private:
  std::vector<std::string_view> lines_;
  int version_ = 1;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string PodOf(const TraceOperation& operation) {
  if (operation.pod) return operation.pod->name;
  if (!operation.pod_name.empty()) return operation.pod_name;
  return operation.want && operation.want->popped ? *operation.want->popped : "";
}

// "1.250 s: pop of pod-3, attempt 2" and what became of pods.
std::string WordsOf(const TraceOperation& operation, const std::string& only_pod) {
  std::string text = fmt::format("{:.3f} s: {}", static_cast<double>(operation.time_ms) / 1000,
                                 TraceOpName(operation.op));
  if (operation.op == TraceOp::kEvent) text += " " + std::string(LabelText(operation.event.label));
  if (const std::string pod = PodOf(operation); !pod.empty()) text += " " + pod;
  if (operation.op == TraceOp::kPop && operation.want && !operation.want->popped &&
      !operation.want->popped_group) {
    text += " gives nothing";
  }
  if (!operation.unschedulable.empty()) text += ", rejected by " + Joined(operation.unschedulable);
  if (!operation.pending.empty()) text += ", pending by " + Joined(operation.pending);
  if (!operation.want) return text;
  if (operation.op == TraceOp::kPop && operation.want->popped) {
    text += fmt::format(", attempt {}", operation.want->attempts);
  }
  for (const auto& [pod, place] : operation.want->changed) {
    if (only_pod.empty() || pod == only_pod) text += fmt::format("; {} is {}", pod, place);
  }
  return text;
}

bool Concerns(const TraceOperation& operation, const std::string& pod) {
  if (PodOf(operation) == pod) return true;
  if (std::find(operation.pod_names.begin(), operation.pod_names.end(), pod) !=
      operation.pod_names.end()) {
    return true;
  }
  if (!operation.want) return false;
  const std::vector<std::string>& members = operation.want->members;
  return operation.want->changed.contains(pod) ||
         std::find(members.begin(), members.end(), pod) != members.end();
}

// The first pod of which the two say something else.
std::string PodThatDiffers(const TraceOperation& base, const TraceOperation& next) {
  using Places = std::map<std::string, std::string>;
  const Places none;
  const Places& before = base.want ? base.want->changed : none;
  const Places& after = next.want ? next.want->changed : none;
  for (const Places* side : {&before, &after}) {
    for (const auto& [pod, place] : *side) {
      const auto one = before.find(pod);
      const auto other = after.find(pod);
      if (one == before.end() || other == after.end() || one->second != other->second) return pod;
    }
  }
  return PodOf(base) != PodOf(next) ? (PodOf(base).empty() ? PodOf(next) : PodOf(base)) : "";
}

Result<std::vector<std::string>> HistoryOf(const TraceLines& lines, const std::string& pod,
                                           size_t difference) {
  std::vector<std::string> history;
  size_t after = 0;
  for (size_t i = 1; i < lines.size() && after < kStepsAfter; ++i) {
    // Reading is dear; a line that does not hold the name is not about the pod.
    if (lines.line(i).find(pod) == std::string_view::npos) continue;
    const Result<TraceOperation> operation = lines.Read(i);
    if (!operation) return operation.error();
    if (!Concerns(*operation, pod)) continue;
    if (i >= difference) ++after;
    history.push_back((i >= difference ? "> " : "  ") + WordsOf(*operation, pod));
    if (i < difference && history.size() > kStepsBefore) history.erase(history.begin());
  }
  return history;
}

Result<std::string> WordsAt(const TraceLines& lines, size_t number) {
  if (number >= lines.size()) return std::string();
  const Result<TraceOperation> operation = lines.Read(number);
  if (!operation) return operation.error();
  return WordsOf(*operation, "");
}

}  // namespace

Result<std::optional<TraceDifference>> FindTraceDifference(std::string_view base,
                                                           std::string_view next) {
  TraceLines before;
  TraceLines after;
  if (Status status = before.Begin(base); !status) return status.error();
  if (Status status = after.Begin(next); !status) return status.error();
  const size_t both = std::min(before.size(), after.size());
  size_t at = 1;
  while (at < both && before.line(at) == after.line(at)) ++at;
  if (at == both && before.size() == after.size()) return std::optional<TraceDifference>();
  TraceDifference difference;
  difference.line = at + 1;
  const Result<std::string> base_words = WordsAt(before, at);
  const Result<std::string> next_words = WordsAt(after, at);
  if (!base_words) return base_words.error();
  if (!next_words) return next_words.error();
  difference.base = *base_words;
  difference.next = *next_words;
  // Lines may differ before a pod does: a hint that was asked changes no place.
  for (size_t i = at; i < both && difference.pod.empty(); ++i) {
    if (before.line(i) == after.line(i)) continue;
    const Result<TraceOperation> one = before.Read(i);
    const Result<TraceOperation> other = after.Read(i);
    if (!one) return one.error();
    if (!other) return other.error();
    difference.pod = PodThatDiffers(*one, *other);
  }
  if (difference.pod.empty()) return std::optional(std::move(difference));
  Result<std::vector<std::string>> base_history = HistoryOf(before, difference.pod, at);
  Result<std::vector<std::string>> next_history = HistoryOf(after, difference.pod, at);
  if (!base_history) return base_history.error();
  if (!next_history) return next_history.error();
  difference.base_history = std::move(*base_history);
  difference.next_history = std::move(*next_history);
  return std::optional(std::move(difference));
}

std::string TraceDifferenceText(const TraceDifference& difference) {
  const auto line = [](const std::string& text) {
    return Shortened(VisibleText(text), kLineWidthMax) + '\n';
  };
  const auto words = [](const std::string& text) { return text.empty() ? "has ended" : text; };
  std::string text = fmt::format("the runs part at line {} of their traces\n", difference.line);
  text += line("  base: " + words(difference.base));
  text += line("  new:  " + words(difference.next));
  if (difference.pod.empty()) return text + "no pod went another way\n";
  text += line("the first pod that went another way: " + difference.pod);
  for (const auto& [side, history] :
       {std::pair("base", &difference.base_history), std::pair("new", &difference.next_history)}) {
    text += fmt::format("  {}:\n", side);
    for (const std::string& step : *history) text += line("    " + step);
    if (history->empty()) text += "    nothing\n";
  }
  return text;
}

}  // namespace schedq
