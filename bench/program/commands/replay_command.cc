#include "bench/program/commands/replay_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "bench/format/trace/replay_file.h"
#include "bench/interrupt.h"
#include "bench/program/engine_flag.h"
#include "perf/text/visible_text.h"
#include "schedq/plugin_library.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(30, [] { return std::make_unique<ReplayCommand>(); });

// A state that has gone wrong makes every later line differ; the first lines say where it began.
constexpr uint64_t kMismatchesShownMax = 20;

}  // namespace

CommandText ReplayCommand::Text() const {
  CommandText text;
  text.name = "replay";
  text.purpose = "Replay recorded traces on an engine and check every outcome";
  text.examples = {{"schedq replay run.jsonl", "Check what `schedq run --record run.jsonl` wrote"},
                   {"schedq replay --engine both *.jsonl", "On both engines"}};
  text.no = "an outcome differs from what the trace wants";
  return text;
}

void ReplayCommand::Declare(CLI::App& app) {
  app.add_option("FILE", paths_, "Traces, JSON lines; - is standard input")
      ->required()
      ->type_name("FILE.jsonl...");
  AddEngineFlag(&app, &engine_);
  app.add_option("--plugin", plugins_,
                 "Plugins of a shared library; each takes the place of the trace's of its name")
      ->type_name("FILE.so");
}

Result<ExitCode> ReplayCommand::Run() {
  const Result<std::vector<EngineKind>> engines = ParseEngines(engine_);
  if (!engines) return engines.error();
  const Result<std::vector<PluginSource>> plugins = LoadFurtherPlugins(plugins_);
  if (!plugins) return Error("--plugin " + plugins.error().message());
  const auto is_stdin = [](const std::string& path) { return path == "-"; };
  if (std::count_if(paths_.begin(), paths_.end(), is_stdin) > (engines->size() > 1 ? 0 : 1)) {
    return Error("-: standard input can be read once, expected it once and one engine");
  }
  ExitCode code = ExitCode::kGood;
  for (const EngineKind engine : *engines) {
    const Result<uint64_t> mismatches = ReplayAll(
        engine, *plugins, engines->size() > 1 ? std::string(EngineName(engine)) + ": " : "");
    if (!mismatches) {
      return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : mismatches.error();
    }
    if (*mismatches > 0) code = ExitCode::kNo;
  }
  return code;
}

// How many mismatches there are. Every line begins with `prefix`.
Result<uint64_t> ReplayCommand::ReplayAll(EngineKind engine,
                                          const std::vector<PluginSource>& plugins,
                                          const std::string& prefix) const {
  uint64_t traces = 0;
  std::optional<Error> first_error;
  ReplayTotals sum;
  std::map<std::string, uint64_t> without_effect;  // Gates, by the number of traces.
  for (const std::string& path : paths_) {
    if (Interrupted()) break;
    uint64_t shown = 0;
    const auto tell = [&](const std::string& line) {
      if (shown++ < kMismatchesShownMax) fmt::print("{}{}\n", prefix, VisibleText(line));
    };
    const Result<ReplayTotals> totals = ReplayFile(path, engine, tell, plugins);
    // The other traces stand.
    if (!totals) {
      if (first_error) fmt::print(stderr, "schedq replay: {}\n", totals.error().message());
      if (!first_error) first_error = totals.error();
      continue;
    }
    if (shown > kMismatchesShownMax) {
      fmt::print("{}{}: {} more mismatches\n", prefix, VisibleText(path),
                 shown - kMismatchesShownMax);
    }
    ++traces;
    sum.operations += totals->operations;
    sum.mismatches += totals->mismatches;
    for (const std::string& gate : totals->gates_not_modelled) ++without_effect[gate];
  }
  if (first_error && traces == 0) return *first_error;
  for (const auto& [gate, count] : without_effect) {
    fmt::print("{}not modelled, without effect in {} traces: feature gate {}\n", prefix, count,
               VisibleText(gate));
  }
  fmt::print("{}{} traces, {} operations, {} mismatches\n", prefix, traces, sum.operations,
             sum.mismatches);
  if (sum.mismatches > 0) {
    fmt::print(stderr, "schedq replay: {} outcomes differ from what the traces want on {}\n",
               sum.mismatches, EngineName(engine));
  }
  if (first_error) return *first_error;
  return sum.mismatches;
}

}  // namespace schedq
