#include "tests/support/driver/driver.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "bench/format/trace/expectation.h"
#include "bench/format/trace/replayer.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queueing_fields.h"
#include "engine/told.h"
#include "schedq/engine_kind.h"
#include "tests/support/driver/operation_generator.h"
#include "tests/support/driver/random_header.h"
#include "tests/support/driver/state_judge.h"

namespace schedq {
namespace {

// Of queued pods; what engines must agree on and no account knows.
std::vector<std::string> DifferentFields(const StateJudge::Seen& first,
                                         const StateJudge::Seen& other) {
  std::vector<std::string> differences;
  for (const auto& [name, where] : first) {
    if (where.place == Place::kAbsent || where.place == Place::kInFlight) continue;
    const QueueingFields& a = where.fields;
    const QueueingFields& b = other.at(name).fields;
    const auto compare = [&, pod = name](bool are_equal, const char* what) {
      if (!are_equal) differences.push_back(what + (" of " + pod));
    };
    compare(a.unschedulable_plugins == b.unschedulable_plugins, "unschedulable plugins");
    compare(a.pending_plugins == b.pending_plugins, "pending plugins");
    compare(a.gating_plugin == b.gating_plugin, "gating plugin");
    compare(a.was_flushed == b.was_flushed, "was-flushed flag");
    compare(a.first_attempt == b.first_attempt, "first attempt");
    compare(a.flush_timestamp == b.flush_timestamp, "flush timestamp");
  }
  return differences;
}

// What is told of one pod, in its order; between pods there is none. Numbers of moves are an
// engine's own.
using ToldOfPods = std::map<std::string, std::vector<std::string>>;

std::string TextOf(const Told& told) {
  switch (told.what) {
    case Told::What::kGated:
      return "gated by plugin " + std::to_string(told.plugin);
    case Told::What::kPassed:
      return "passed";
    case Told::What::kMoved:
      return "moved from " + std::string(PlaceName(told.from)) + " to " +
             std::string(PlaceName(told.to)) + " for " +
             (told.label == kNoLabel ? "nothing" : std::string(LabelText(told.label)));
    case Told::What::kPopped:
      return "popped for attempt " + std::to_string(told.attempts);
    case Told::What::kDeleted:
      return "deleted";
  }
  return "";
}

ToldOfPods TextsOf(const std::vector<Told>& all) {
  ToldOfPods texts;
  for (const Told& told : all) {
    texts[FullName(*told.pod) + " (" + told.pod->uid + ")"].push_back(TextOf(told));
  }
  return texts;
}

bool IsToldAlike(const Told& a, const Told& b) {
  return a.what == b.what && a.pod == b.pod && a.plugin == b.plugin && a.from == b.from &&
         a.to == b.to && a.label == b.label && a.attempts == b.attempts;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined.empty() ? "nothing" : joined;
}

// Empty: observers were told the same of each pod.
std::string ToldDifferently(const std::vector<Told>& first, const std::vector<Told>& other) {
  if (std::equal(first.begin(), first.end(), other.begin(), other.end(), IsToldAlike)) return "";
  ToldOfPods expected = TextsOf(first);
  ToldOfPods told = TextsOf(other);
  for (const auto& [pod, texts] : told) expected.try_emplace(pod);
  for (const auto& [pod, texts] : expected) {
    if (told[pod] == texts) continue;
    return "observers were told of " + pod + ": " + Joined(told[pod]) +
           "; by the first: " + Joined(texts);
  }
  return "";
}

// Moves of a name are numbered in their order. Empty: these are, after those that `last` has.
std::string NumberedBackwards(const std::vector<Told>& all, std::map<PodId, PodMove>* last) {
  for (const Told& told : all) {
    const bool is_numbered = told.what == Told::What::kGated || told.what == Told::What::kPassed ||
                             told.what == Told::What::kDeleted;
    if (!is_numbered) continue;
    const auto [before, is_first] = last->try_emplace(told.move.pod.id, told.move);
    if (told.move.IsOlderThan(before->second)) {
      return "observers were told of " + FullName(*told.pod) + " (" + told.pod->uid + ") " +
             TextOf(told) + " by number " + std::to_string(told.move.number) + " after number " +
             std::to_string(before->second.number);
    }
    before->second = told.move;
  }
  return "";
}

// The engines of one run, each with its StateJudge.
class SideBySide {
 public:
  enum class Answer { kGood, kRefused, kFailed };

  SideBySide(const TraceHeader& header, const std::vector<DrivenEngine>& engines) {
    for (const DrivenEngine& engine : engines) {
      auto replayer = Replayer::Create(header, engine.make);
      SCHEDQ_CHECK(replayer.ok(), "a random header is well-formed");
      auto judge = std::make_unique<StateJudge>(header, replayer->get(), engine.events_let_go_max);
      players_.push_back({engine.name, std::move(*replayer), std::move(judge), {}});
    }
  }

  const StateJudge& judge() const { return *players_.front().judge; }
  const Replayer& replayer() const { return *players_.front().replayer; }
  const std::string& wrong() const { return wrong_; }

  Answer Apply(const TraceOperation& operation) {
    if (judge().Forbids(operation)) return Answer::kRefused;
    std::optional<TraceOutcome> first;
    for (Player& player : players_) {
      player.judge->Before(operation);
      const Result<TraceOutcome> outcome = player.replayer->Apply(operation);
      if (!outcome && !first) return Answer::kRefused;
      if (!outcome) return Wrong(player, operation, "refused: " + outcome.error().message());
      const std::string wrong = player.judge->After(operation, *outcome);
      if (!wrong.empty()) return Wrong(player, operation, wrong);
      const std::string backwards = NumberedBackwards(player.replayer->told(), &player.numbered);
      if (!backwards.empty()) return Wrong(player, operation, backwards);
      if (!first) {
        first = *outcome;
        continue;
      }
      auto differences = Differences(operation.op, *first, *outcome);
      if (differences.empty()) differences = DifferentFields(judge().seen(), player.judge->seen());
      if (differences.empty()) {
        const std::string kept = player.judge->log().Against(judge().log());
        if (!kept.empty()) differences.push_back(kept);
      }
      if (differences.empty()) {
        const std::string told = ToldDifferently(replayer().told(), player.replayer->told());
        if (!told.empty()) differences.push_back(told);
      }
      if (!differences.empty()) {
        return Wrong(player, operation,
                     "differs from " + players_.front().name + ": " + differences.front());
      }
    }
    return Answer::kGood;
  }

 private:
  struct Player {
    std::string name;
    std::unique_ptr<Replayer> replayer;
    std::unique_ptr<StateJudge> judge;
    std::map<PodId, PodMove> numbered;  // The last move of each name that had a number.
  };

  Answer Wrong(const Player& player, const TraceOperation& operation, const std::string& what) {
    wrong_ = player.name + ", after " + std::string(TraceOpName(operation.op)) + " at " +
             std::to_string(operation.time_ms) + " ms: " + what;
    return Answer::kFailed;
  }

  std::vector<Player> players_;
  std::string wrong_;
};

// Counts the places of the pods that an operation meets; `before` holds the places before it.
void CountReached(const TraceOperation& operation, const StateJudge::Seen& before,
                  const std::vector<std::string>& popped, const Gates& gates, Coverage* reached) {
  const auto count = [&](const std::string& name) {
    const auto found = before.find(name);
    const Place place = found == before.end() ? Place::kAbsent : found->second.place;
    reached->Count(operation.op, place, gates);
  };
  switch (operation.op) {
    case TraceOp::kAdd:
    case TraceOp::kUpdate:
      return count(FullName(*operation.pod));
    case TraceOp::kDelete:
    case TraceOp::kBind:
    case TraceOp::kFail:
    case TraceOp::kNominate:
      return count(operation.pod_name);
    case TraceOp::kActivate:
      return count(operation.pod_names.front());
    case TraceOp::kPop:
      for (const std::string& name : popped) count(name);
      if (popped.empty()) reached->Count(operation.op, Place::kAbsent, gates);
      return;
    default:
      break;
  }
  std::array<bool, kPlaceCount> met{};
  for (const auto& [name, where] : before) met[static_cast<int>(where.place)] = true;
  for (int place = 0; place < kPlaceCount; ++place) {
    if (met[place]) reached->Count(operation.op, static_cast<Place>(place), gates);
  }
}

Gates GatesOf(const DriverOptions& options) {
  GateRequest request;
  request.Set(Gate::kSchedulerPopFromBackoffQ, options.pops_from_backoff);
  request.Set(Gate::kSchedulerPreQueueingHints, options.narrows);
  request.Set(Gate::kGenericWorkload, options.has_groups);
  request.Set(Gate::kCompositePodGroup, options.has_composites);
  return *Gates::Resolve(request);
}

// Removes answers about pods that no operation named before.
TraceOperation WithoutUnknownPods(TraceOperation operation, const Replayer& replayer) {
  const auto unknown = [&](const RecordedAnswer& answer) {
    const bool own = operation.pod != nullptr && operation.pod->name == answer.pod;
    return !own && !replayer.pods().entries().contains(answer.pod);
  };
  std::erase_if(operation.rejected, unknown);
  std::erase_if(operation.verdicts, unknown);
  return operation;
}

}  // namespace

std::vector<DrivenEngine> ProductEngines() {
  std::vector<DrivenEngine> engines;
  for (const EngineKind kind : AllEngines()) {
    DrivenEngine engine{
        .name = std::string(EngineName(kind)),
        .make = [kind](QueueOptions options) { return MakeQueue(kind, std::move(options)); }};
    if (kind == EngineKind::kLockfree) engine.events_let_go_max = 64;
    engines.push_back(std::move(engine));
  }
  return engines;
}

std::optional<DriverFailure> Drive(const DriverOptions& options,
                                   const std::vector<DrivenEngine>& engines, Coverage* reached) {
  Random random(options.seed);
  DriverFailure run;
  run.header = RandomHeader(random, GatesOf(options));
  SideBySide engines_running(run.header, engines);
  OperationGenerator generator(run.header, random.Fork(1));
  Coverage here(
      options.has_groups);  // Only of this run, so that operations depend on nothing but the seed.
  for (int i = 0; i < options.operations; ++i) {
    const StateJudge& judge = engines_running.judge();
    run.operations.push_back(generator.Next(judge, engines_running.replayer(), here));
    const TraceOperation& operation = run.operations.back();
    switch (engines_running.Apply(operation)) {
      case SideBySide::Answer::kGood:
        here.CountOperation();
        CountReached(operation, judge.before(), judge.popped(), run.header.gates, &here);
        break;
      case SideBySide::Answer::kRefused:
        run.operations.pop_back();
        break;
      case SideBySide::Answer::kFailed:
        run.what = engines_running.wrong();
        return run;
    }
  }
  reached->Add(here);
  return std::nullopt;
}

std::optional<DriverFailure> Play(const TraceHeader& header,
                                  const std::vector<TraceOperation>& operations,
                                  const std::vector<DrivenEngine>& engines) {
  SideBySide engines_running(header, engines);
  DriverFailure played{.what = {}, .header = header, .operations = {}};
  for (const TraceOperation& drawn : operations) {
    const TraceOperation operation = WithoutUnknownPods(drawn, engines_running.replayer());
    const SideBySide::Answer answer = engines_running.Apply(operation);
    if (answer == SideBySide::Answer::kRefused) continue;
    played.operations.push_back(operation);
    if (answer == SideBySide::Answer::kGood) continue;
    played.what = engines_running.wrong();
    return played;
  }
  return std::nullopt;
}

}  // namespace schedq
