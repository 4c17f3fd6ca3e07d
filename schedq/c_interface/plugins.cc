#include "schedq/c_interface/plugins.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/event.h"
#include "engine/object.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/c_interface/objects.h"
#include "schedq/c_interface/versioned.h"
#include "schedq/c_interface/views.h"

namespace schedq {
namespace {

struct Registration {
  Resource resource = Resource::kWildcard;
  Action actions = Action::kNone;
  schedq_hint_function hint = nullptr;
  schedq_pre_hint_function pre_hint = nullptr;
};

struct Description {
  std::string name;
  std::string rejection_message;
  void* user_data = nullptr;
  void* (*create)(void*) = nullptr;
  void (*destroy)(void*) = nullptr;
  schedq_pre_enqueue_function pre_enqueue = nullptr;
  schedq_permit_function permit = nullptr;
  schedq_unreserve_function unreserve = nullptr;
  std::vector<Registration> registrations;
};

// What a plugin has for one queue.
class State {
 public:
  State(std::shared_ptr<const Description> plugin, void* content)
      : plugin_(std::move(plugin)), content_(content) {}
  ~State() {
    if (plugin_->create == nullptr || plugin_->destroy == nullptr) return;
    try {
      plugin_->destroy(content_);
    } catch (...) {
      // There is nobody to tell, and the plugin is gone.
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void* content() const { return content_; }
  const std::string& name() const { return plugin_->name; }

 private:
  const std::shared_ptr<const Description> plugin_;
  void* const content_;
};
using StateRef = std::shared_ptr<const State>;

Result<Action> ActionsOf(std::string_view names) {
  Action actions = Action::kNone;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t comma = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, comma - begin);
    const std::optional<Action> action = ParseAction(name);
    if (!action) {
      return Error("unknown action '" + std::string(name) +
                   "', expected names such as Add,Delete,UpdateNodeLabel,Update,All");
    }
    actions = actions | *action;
    begin = comma + 1;
  }
  return actions;
}

Result<Registration> RegistrationOf(const schedq_registration* given) {
  schedq_registration read;
  if (Status status = ReadVersioned("registration", given, &read); !status) return status.error();
  const std::optional<Resource> resource = ParseResource(TextOf(read.resource));
  if (!resource) {
    return Error(std::string("unknown resource '") + TextOf(read.resource) +
                 "', expected one such as Node, AssignedPod, ResourceClaim or *");
  }
  const Result<Action> actions = ActionsOf(TextOf(read.actions));
  if (!actions) return actions.error();
  return Registration{*resource, *actions, read.hint, read.pre_hint};
}

Hint AnswerOf(schedq_hint answer) {
  if (answer == SCHEDQ_HINT_QUEUE) return Hint::kQueue;
  return answer == SCHEDQ_HINT_SKIP ? Hint::kSkip : Hint::kError;
}

PreHint AnswerOf(schedq_pre_hint answer) {
  if (answer == SCHEDQ_PRE_HINT_ALL_PODS) return PreHint::kAllPods;
  return answer == SCHEDQ_PRE_HINT_LISTED ? PreHint::kListed : PreHint::kError;
}

QueueingHintFunction HintOf(schedq_hint_function hint, const StateRef& state) {
  if (hint == nullptr) return {};
  return [hint, state](const Pod& pod, const ObjectChange& change) {
    const schedq_pod_view pod_view = ViewOf(pod);
    const ChangeView change_view(change);
    try {
      return AnswerOf(hint(state->content(), &pod_view, change_view.change()));
    } catch (...) {
      return Hint::kError;
    }
  };
}

PreQueueingHintFunction PreHintOf(schedq_pre_hint_function pre_hint, const StateRef& state,
                                  const World* world) {
  if (pre_hint == nullptr) return {};
  return [pre_hint, state, world](const ObjectChange& change, PodList* pods) {
    ListedPods listed = {world, pods};
    schedq_pods to = PodsTo(&listed);
    const ChangeView change_view(change);
    try {
      return AnswerOf(pre_hint(state->content(), change_view.change(), &to));
    } catch (...) {
      return PreHint::kError;
    }
  };
}

PreEnqueueFunction PreEnqueueOf(schedq_pre_enqueue_function pre_enqueue, const StateRef& state) {
  if (pre_enqueue == nullptr) return {};
  return [pre_enqueue, state](const Pod& pod, std::string* message) {
    const schedq_pod_view pod_view = ViewOf(pod);
    schedq_message to = MessageTo(message);
    const auto fail = [&](const char* what) {
      if (message != nullptr) *message = "plugin " + state->name() + " failed: " + what;
      return false;
    };
    try {
      return pre_enqueue(state->content(), &pod_view, &to) != 0;
    } catch (const std::exception& exception) {
      return fail(exception.what());
    } catch (...) {
      return fail("an exception of an unknown type");
    }
  };
}

PermitAnswer AnswerOf(schedq_permit answer, int64_t timeout_ms) {
  constexpr int64_t kTimeoutMax = 15 * 60 * 1000;
  const std::chrono::milliseconds timeout(std::clamp<int64_t>(timeout_ms, 0, kTimeoutMax));
  if (answer == SCHEDQ_PERMIT_ALLOW) return {};
  const bool waits = answer == SCHEDQ_PERMIT_WAIT;
  return {waits ? PermitAnswer::Kind::kWait : PermitAnswer::Kind::kReject, timeout};
}

PermitFunction PermitOf(schedq_permit_function permit, const StateRef& state) {
  if (permit == nullptr) return {};
  return [permit, state](const Pod& pod, std::string_view node, WaitingPodsOfPlugin* waiting) {
    const schedq_pod_view pod_view = ViewOf(pod);
    schedq_waiting to = WaitingTo(waiting);
    int64_t timeout_ms = 0;
    try {
      const schedq_permit answer =
          permit(state->content(), &pod_view, std::string(node).c_str(), &to, &timeout_ms);
      return AnswerOf(answer, timeout_ms);
    } catch (...) {
      return AnswerOf(SCHEDQ_PERMIT_REJECT, 0);
    }
  };
}

UnreserveFunction UnreserveOf(schedq_unreserve_function unreserve, const StateRef& state) {
  if (unreserve == nullptr) return {};
  return [unreserve, state](const Pod& pod) {
    const schedq_pod_view pod_view = ViewOf(pod);
    try {
      unreserve(state->content(), &pod_view);
    } catch (...) {
      // There is nobody to tell, and the pod is let go of in any case.
    }
  };
}

Result<void*> Create(const Description& plugin) {
  if (plugin.create == nullptr) return plugin.user_data;
  const auto fail = [&](const std::string& what) {
    return Error("plugin " + plugin.name + ": create " + what + ", expected a state");
  };
  try {
    void* const state = plugin.create(plugin.user_data);
    if (state == nullptr) return fail("returned nothing");
    return state;
  } catch (const std::exception& exception) {
    return fail(std::string("threw '") + exception.what() + "'");
  } catch (...) {
    return fail("threw");
  }
}

Result<std::vector<Plugin>> Make(const std::shared_ptr<const Description>& description,
                                 const World* world) {
  Result<void*> created = Create(*description);
  if (!created) return created.error();
  const auto state = std::make_shared<const State>(description, *created);
  Plugin plugin;
  plugin.name = description->name;
  plugin.rejection_message = description->rejection_message;
  plugin.pre_enqueue = PreEnqueueOf(description->pre_enqueue, state);
  plugin.permit = PermitOf(description->permit, state);
  plugin.unreserve = UnreserveOf(description->unreserve, state);
  for (const Registration& each : description->registrations) {
    plugin.events.push_back({.resource = each.resource,
                             .actions = each.actions,
                             .hint = HintOf(each.hint, state),
                             .pre_hint = PreHintOf(each.pre_hint, state, world)});
  }
  std::vector<Plugin> plugins;
  plugins.push_back(std::move(plugin));
  return plugins;
}

}  // namespace

Result<PluginSource> SourceOf(const schedq_plugin* given) {
  schedq_plugin read;
  if (Status status = ReadVersioned("plugin", given, &read); !status) return status.error();
  auto description = std::make_shared<Description>();
  description->name = TextOf(read.name);
  if (description->name.empty()) return Error("plugin: name is empty");
  const std::string place = "plugin " + description->name;
  description->rejection_message = TextOf(read.rejection_message);
  description->user_data = read.user_data;
  description->create = read.create;
  description->destroy = read.destroy;
  description->pre_enqueue = read.pre_enqueue;
  description->permit = read.permit;
  description->unreserve = read.unreserve;
  const auto registrations = ListOf("registrations", read.registrations, read.registration_count);
  if (!registrations) return Error(place + ": " + registrations.error().message());
  for (size_t i = 0; i < registrations->size(); ++i) {
    const Result<Registration> registration = RegistrationOf((*registrations)[i]);
    if (!registration) {
      return Error(place + ": registration " + std::to_string(i) + ": " +
                   registration.error().message());
    }
    description->registrations.push_back(*registration);
  }
  return PluginSource([description = std::shared_ptr<const Description>(std::move(description))](
                          World* world) { return Make(description, world); });
}

}  // namespace schedq
