// Plugins as a trace describes them: by the kinds of PreEnqueue, hint and PreQueueingHint.
//
// Kinds, as docs/formats.md lists them:
//   pre_enqueue  no-gates | claims-known | gang | recorded
//   hint         queue (or empty) | skip | error | same-zone | references-object | same-group |
//                min-count-lowered | recorded
//   pre_hint     referencing-pods | all | error | recorded
// How to use it: fill a TracePluginSpec for each plugin of the trace's first line, in its order,
// and hand the plugins to PluginRegistry::Build. Tell the World of each change before the queue.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "hints/plugin.h"
#include "hints/recorded/recorded_answers.h"
#include "hints/world.h"

namespace schedq {

struct TraceEventSpec {
  Resource on = Resource::kWildcard;
  Action actions = Action::kNone;  // Or-ed.
  std::string hint;                // A kind; empty: Queue.
  std::string pre_hint;            // A kind; empty: none.
};

struct TracePluginSpec {
  std::string name;
  std::string pre_enqueue;  // A kind; empty: none.
  std::vector<TraceEventSpec> events;
};

// Whether only a trace of version 2 has a kind of this name.
bool IsKindOfGroups(std::string_view kind);

// An error names the plugin, the unknown kind and the known ones. `world` and `answers` must
// outlive the plugins.
Result<std::vector<Plugin>> MakeTracePlugins(const std::vector<TracePluginSpec>& specs,
                                             const World* world, const RecordedAnswers* answers);

}  // namespace schedq
