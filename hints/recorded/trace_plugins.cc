#include "hints/recorded/trace_plugins.h"

#include <utility>

#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "hints/object_name.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/claim_hints.h"
#include "hints/plugins/group_hints.h"

namespace schedq {
namespace {

constexpr char kZoneLabel[] = "zone";

bool AllNamedClaimsKnown(const World& world, const Pod& pod, std::string* message) {
  for (const std::string& claim : pod.claims) {
    if (world.claim_index().Exists(pod.namespace_name, claim)) continue;
    if (message != nullptr) *message = "waiting for claim \"" + claim + "\"";
    return false;
  }
  return true;
}

// What MakeTracePlugins builds from: the kinds of one plugin, by name.
class KindFactory {
 public:
  KindFactory(std::string plugin, const World* world, const RecordedAnswers* answers)
      : plugin_(std::move(plugin)), world_(world), answers_(answers) {}

  Result<PreEnqueueFunction> MakePreEnqueue(const std::string& kind) const {
    if (kind.empty()) return PreEnqueueFunction();
    if (kind == "no-gates") return SchedulingGatesPlugin().pre_enqueue;
    if (kind == "claims-known") {
      return PreEnqueueFunction([world = world_](const Pod& pod, std::string* message) {
        return AllNamedClaimsKnown(*world, pod, message);
      });
    }
    if (kind == "gang") {
      return PreEnqueueFunction([world = world_](const Pod& pod, std::string* message) {
        return GangIsComplete(*world, pod, message);
      });
    }
    if (kind == "recorded") {
      return PreEnqueueFunction(
          [plugin = plugin_, answers = answers_](const Pod& pod, std::string* message) {
            if (!answers->Rejects(plugin, pod)) return true;
            if (message != nullptr) *message = "rejected by " + plugin + " in the recording";
            return false;
          });
    }
    return Unknown("pre_enqueue", kind, "no-gates, claims-known, gang or recorded");
  }

  Result<QueueingHintFunction> MakeHint(const std::string& kind) const {
    if (kind.empty() || kind == "queue") return QueueingHintFunction();
    if (kind == "skip") return Always(Hint::kSkip);
    if (kind == "error") return Always(Hint::kError);
    if (kind == "same-zone") {
      return QueueingHintFunction([](const Pod& pod, const ObjectChange& change) {
        const bool same = ZoneOf(change) == LabelValue(pod.labels, kZoneLabel);
        return same ? Hint::kQueue : Hint::kSkip;
      });
    }
    if (kind == "references-object") {
      return QueueingHintFunction([](const Pod& pod, const ObjectChange& change) {
        const ObjectView* object = change.Latest();
        const bool references = object != nullptr && object->resource == Resource::kResourceClaim &&
                                NamesClaim(pod, *object);
        return references ? Hint::kQueue : Hint::kSkip;
      });
    }
    if (kind == "same-group") return QueueingHintFunction(AfterChangeOfSameGroup);
    if (kind == "min-count-lowered") return QueueingHintFunction(AfterMinCountLowered);
    if (kind == "recorded") {
      return QueueingHintFunction(
          [plugin = plugin_, answers = answers_](const Pod& pod, const ObjectChange& change) {
            return answers->Queues(plugin, pod, change.Latest()) ? Hint::kQueue : Hint::kSkip;
          });
    }
    return Unknown("hint", kind,
                   "queue, skip, error, same-zone, references-object, same-group, "
                   "min-count-lowered or recorded");
  }

  Result<PreQueueingHintFunction> MakePreHint(const std::string& kind) const {
    if (kind.empty()) return PreQueueingHintFunction();
    if (kind == "referencing-pods") return PodsOfClaim(world_);
    if (kind == "all") return AlwaysBefore(PreHint::kAllPods);
    if (kind == "error") return AlwaysBefore(PreHint::kError);
    if (kind == "recorded") {
      return PreQueueingHintFunction([plugin = plugin_, world = world_, answers = answers_](
                                         const ObjectChange& change, PodList* pods) {
        answers->ForEachQueued(plugin, change.Latest(), [&](ObjectNameView name) {
          const std::optional<PodId> pod = world->pod_names().Find(name.namespace_name, name.name);
          if (pod.has_value()) pods->push_back(*pod);
        });
        return PreHint::kListed;
      });
    }
    return Unknown("pre_hint", kind, "referencing-pods, all, error or recorded");
  }

 private:
  static QueueingHintFunction Always(Hint answer) {
    return [answer](const Pod&, const ObjectChange&) { return answer; };
  }
  static PreQueueingHintFunction AlwaysBefore(PreHint answer) {
    return [answer](const ObjectChange&, PodList*) { return answer; };
  }

  static std::string_view ZoneOf(const ObjectChange& change) {
    const ObjectView* object = change.Latest();
    if (object == nullptr) return {};
    return LabelValue(object->pod != nullptr ? object->pod->labels : object->labels, kZoneLabel);
  }

  Error Unknown(const char* field, const std::string& kind, const char* expected) const {
    return Error("plugin " + plugin_ + ": unknown " + field + " kind \"" + kind + "\", expected " +
                 expected);
  }

  const std::string plugin_;
  const World* const world_;
  const RecordedAnswers* const answers_;
};

Result<Plugin> MakeTracePlugin(const TracePluginSpec& spec, const KindFactory& kinds) {
  Plugin plugin;
  plugin.name = spec.name;
  plugin.rejection_message = "rejected by " + spec.name;
  Result<PreEnqueueFunction> pre_enqueue = kinds.MakePreEnqueue(spec.pre_enqueue);
  if (!pre_enqueue.ok()) return pre_enqueue.error();
  plugin.pre_enqueue = std::move(*pre_enqueue);
  for (const TraceEventSpec& event : spec.events) {
    Result<QueueingHintFunction> hint = kinds.MakeHint(event.hint);
    if (!hint.ok()) return hint.error();
    Result<PreQueueingHintFunction> pre_hint = kinds.MakePreHint(event.pre_hint);
    if (!pre_hint.ok()) return pre_hint.error();
    plugin.events.push_back({event.on, event.actions, std::move(*hint), std::move(*pre_hint)});
  }
  return plugin;
}

}  // namespace

bool IsKindOfGroups(std::string_view kind) {
  return kind == "gang" || kind == "same-group" || kind == "min-count-lowered";
}

Result<std::vector<Plugin>> MakeTracePlugins(const std::vector<TracePluginSpec>& specs,
                                             const World* world, const RecordedAnswers* answers) {
  std::vector<Plugin> plugins;
  for (const TracePluginSpec& spec : specs) {
    Result<Plugin> plugin = MakeTracePlugin(spec, KindFactory(spec.name, world, answers));
    if (!plugin.ok()) return plugin.error();
    plugins.push_back(std::move(*plugin));
  }
  return plugins;
}

}  // namespace schedq
