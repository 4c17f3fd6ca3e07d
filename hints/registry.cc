#include "hints/registry.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "engine/event.h"

namespace schedq {
namespace {

// Labels below this number are those of a resource and an action, which MakeEvent numbers densely.
constexpr int kCombinationCount = kResourceCount * kActionCount;

// The incoming events of one resource: single actions, the general Update, and All.
std::vector<Action> IncomingActions() {
  std::vector<Action> actions;
  for (uint32_t bit = 1; bit < static_cast<uint32_t>(Action::kUpdateOther); bit <<= 1) {
    actions.push_back(static_cast<Action>(bit));
  }
  actions.push_back(Action::kUpdate);
  actions.push_back(Action::kAll);
  return actions;
}

Status CheckRegistration(const Plugin& plugin, const EventRegistration& registration) {
  const std::string where = "plugin " + plugin.name + ", event on " +
                            std::string(ResourceName(registration.resource)) + ": ";
  if (registration.actions == Action::kNone) {
    return Error(where + "no action given, expected at least one");
  }
  if (!Contains(Action::kAll, registration.actions)) {
    return Error(where + "unknown action bits, expected a union of schedq::Action values");
  }
  if (Contains(registration.actions, Action::kUpdateOther) &&
      !Contains(registration.actions, Action::kUpdate)) {
    return Error(where + "UpdateOther is no action of its own, expected Update");
  }
  return Status::Ok();
}

Status CheckPlugins(const std::vector<Plugin>& plugins) {
  if (plugins.size() > kPluginCountMax) {
    return Error("plugin " + plugins[kPluginCountMax].name + " is one too many, expected at most " +
                 std::to_string(kPluginCountMax) + " plugins");
  }
  std::unordered_set<std::string_view> names;
  for (const Plugin& plugin : plugins) {
    if (plugin.name.empty()) return Error("a plugin without a name, expected one");
    if (!names.insert(plugin.name).second) {
      return Error("plugin " + plugin.name + " is registered twice, expected unique names");
    }
    for (const EventRegistration& registration : plugin.events) {
      Status status = CheckRegistration(plugin, registration);
      if (!status.ok()) return status;
    }
  }
  return Status::Ok();
}

EventMatches FindMatches(const std::vector<Plugin>& plugins, const ClusterEvent& event) {
  EventMatches matches;
  for (size_t id = 0; id < plugins.size(); ++id) {
    for (const EventRegistration& registration : plugins[id].events) {
      if (!Matches(registration.resource, registration.actions, event)) continue;
      const auto plugin = static_cast<PluginId>(id);
      matches.registrations.push_back({plugin, &registration});
      matches.plugins.Insert(plugin);
    }
  }
  if (matches.registrations.size() > kMatchCountMax) return matches;  // The caller refuses it.
  if (!matches.registrations.empty()) matches.by_plugin.resize(plugins.size(), 0);
  for (size_t i = 0; i < matches.registrations.size(); ++i) {
    matches.by_plugin[matches.registrations[i].plugin] |= RegistrationMask{1} << i;
  }
  return matches;
}

}  // namespace

Result<PluginRegistry> PluginRegistry::Build(std::vector<Plugin> plugins) {
  if (Status status = CheckPlugins(plugins); !status.ok()) return status.error();
  auto content = std::make_unique<Content>();
  content->plugins = std::move(plugins);
  if (Status status = BuildMatches(content.get()); !status.ok()) return status.error();
  return PluginRegistry(std::move(content));
}

Status PluginRegistry::BuildMatches(Content* content) {
  const std::vector<Action> actions = IncomingActions();
  content->matches.resize(kCombinationCount);
  for (int resource = 0; resource < kResourceCount; ++resource) {
    for (const Action action : actions) {
      const ClusterEvent event = MakeEvent(static_cast<Resource>(resource), action);
      EventMatches matches = FindMatches(content->plugins, event);
      if (matches.registrations.size() > kMatchCountMax) {
        return Error(std::to_string(matches.registrations.size()) + " registrations match event " +
                     std::string(LabelText(event.label)) + ", expected at most " +
                     std::to_string(kMatchCountMax));
      }
      content->matches[event.label] = std::move(matches);
    }
  }
  return Status::Ok();
}

const EventMatches& PluginRegistry::Matching(const ClusterEvent& event) const {
  if (event.label < kCombinationCount) return content_->matches[event.label];
  // Only wildcard events have a special label.
  return content_->matches[MakeEvent(event.resource, event.action).label];
}

std::vector<std::string> PluginRegistry::Names() const {
  std::vector<std::string> names;
  for (const Plugin& plugin : content_->plugins) names.push_back(plugin.name);
  return names;
}

std::optional<PluginId> PluginRegistry::Find(std::string_view name) const {
  const auto found = std::find_if(content_->plugins.begin(), content_->plugins.end(),
                                  [&](const Plugin& plugin) { return plugin.name == name; });
  if (found == content_->plugins.end()) return std::nullopt;
  return static_cast<PluginId>(found - content_->plugins.begin());
}

}  // namespace schedq
