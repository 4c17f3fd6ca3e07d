#include "bench/program/reports/words.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "perf/text/table.h"

namespace schedq {
namespace {

constexpr Word kWords[] = {
    {"pods/s", "pods bound a second, on the run's clock"},
    {"time", "of the measured section, on the run's clock"},
    {"p99 wait", "99 of 100 pods were bound within this time after their creation"},
    {"spread", "half the distance from the slowest to the fastest repetition, of the median"},
    {"to classic", "times the classic engine's, of the same interleaved run"},
    {"p99 to pop",
     "99 of 100 pods were popped first within this time after they were meant to be created"},
    {"p99 to bound",
     "99 of 100 pods were bound within this time after they were meant to be created"},
    {"conflicts", "decisions that another scheduling thread was ahead of"},
    {"add", "the call that adds a pod to the queue, on the informer's thread"},
    {"create to popped",
     "from the instant at which the pod was meant to be created to its first pop"},
    {"create to bound", "from there to the informers' report that the pod is bound"},
    {"event to requeued",
     "from the delivery of a change to each pod that it moved to active or to backoff"},
    {"queue's share", "of the processor time: queue and events"},
    {"allocations", "calls that allocated, of all threads, a pod"},
    {"bytes", "that were allocated, freed since or not, a pod"},
    {"events", "telling the queue of what happened in the cluster, with the hints that it asks"},
    {"placing", "filtering and scoring nodes"},
    {"cache", "the scheduler's knowledge of the cluster, and assuming"},
    {"server", "API server, informers, claim controller and the workload's client, on one thread"},
    {"others", "the threads of the dispatcher and of the queue's clock"},
    {"attempts", "how often a pod was popped and tried"},
    {"hints asked", "how often a plugin was asked whether an event helps a pod"},
    {"judged an event", "pods whose plugins were asked whether the event helps, on average"},
    {"pods judged", "pods that plugins were asked about, on average"},
    {"after flush", "pods bound only since the queue retries all pods that wait for 5 minutes"},
    {"idle", "time in which nothing could be popped while pods were in backoff"},
    {"inversions", "pods placed while one of higher priority waited"},
    {"longest wait", "of a pod in the active queue or in backoff"},
    {"coalesced", "patches that a newer patch took the place of"},
    {"cancelled", "patches that would have changed nothing any more"},
    {"stale pod-s", "seconds, summed over pods, in which a pod showed a reason that was not true"},
    {"blind pod-s", "seconds, summed over pods, in which a rejected pod showed no reason at all"},
    {"flickers", "messages that were set and cleared within 5 s"},
    {"wrong at end", "pods that show a wrong reason when all is quiet"},
    {"moved", "pods whose volume was begun on one node and then on another"},
    {"lost volume s", "seconds of work on volumes that was in vain"},
    {"nominations saved", "bindings that needed no nomination of their own"},
    {"wrongly", "removed nodes on which the scheduler had placed a pod"},
    {"equal",
     "counters of the whole run beside those of the real scheduler, measured: how many are equal, "
     "within 1 %, within 10 %, within a factor of two (x2), and farther (worse)"},
    {"ratio", "pods/s here, divided by those of the real scheduler"},
    {"to bar", "reached over asked; 1 and more holds the bar"},
    {"to rival", "times better than the best rival of the same run"},
    {"to upstream", "times better than the published figure of the real queue"},
    {"of floor", "times the least that this machine needs for such an operation"},
    {"to best rival", "of the best rival's time; below 1 is faster"},
    {"to anchor", "of the published figure; below 1 is faster"},
    {"contended at 8",
     "atomic updates an operation of a line that another one at that time writes, on 8 virtual "
     "threads"},
    {"lines touched", "different cache lines an operation, counted on 8 virtual threads"},
    {"quartiles", "how far apart the middle half of the repetitions lies"},
    {"interval", "in which the exponent lies with 95 % confidence"},
};

// A title stands alone between two blanks, or at an end of its line.
bool HasTitle(std::string_view line, std::string_view title) {
  for (size_t at = line.find(title); at != std::string_view::npos; at = line.find(title, at + 1)) {
    const size_t end = at + title.size();
    const bool begins = at >= 2 && line.compare(at - 2, 2, "  ") == 0;
    const bool ends = end == line.size() || line.compare(end, 2, "  ") == 0;
    if (begins && ends) return true;
  }
  return false;
}

// Colour is no part of a title.
std::string WithoutEscapes(const std::string& text) {
  std::string plain;
  bool is_escape = false;
  for (const char letter : text) {
    if (letter == '\x1b') is_escape = true;
    if (!is_escape) plain += letter;
    if (letter == 'm') is_escape = false;
  }
  return plain;
}

}  // namespace

std::string WordsOf(const std::string& tables, size_t width, std::span<const Word> own) {
  std::string text;
  const std::string plain = WithoutEscapes(tables);
  const auto explain = [&](const Word& word) {
    std::string_view rest = plain;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (!HasTitle(line, word.title)) continue;
      text += Wrapped(std::string(word.title) + ": " + std::string(word.meaning), width, 2) + '\n';
      break;
    }
  };
  for (const Word& word : own) explain(word);
  for (const Word& word : kWords) {
    const bool is_own = std::any_of(
        own.begin(), own.end(), [&word](const Word& other) { return other.title == word.title; });
    if (!is_own) explain(word);
  }
  return text.empty() ? "" : "\n" + text + "Other words: docs/glossary.md\n";
}

}  // namespace schedq
