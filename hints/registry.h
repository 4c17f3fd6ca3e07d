// The plugins of one scheduler, and which of their registrations each event matches.
//
// Purpose: numbers the plugins in order of registration (PluginId) and works out once, for every
// pair of resource and action, the matching registrations. Looking an event up is one index.
// Threads: immutable after Build, so any thread may read.
// Invariants:
//  1. Bit i of a RegistrationMask for an event stands for EventMatches::registrations[i].
//  2. A plugin is in EventMatches::plugins exactly if one of these registrations is its own.
// Memory: one small record a combination of resource and action, plus one pointer and one word a
// match; a few tens of kilobytes for the built-in plugins.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/plugin.h"
#include "engine/ports.h"
#include "hints/plugin.h"

namespace schedq {

// At most this many registrations may match one event: they are bits of one word.
inline constexpr int kMatchCountMax = 64;

struct MatchingRegistration {
  PluginId plugin = kNoPlugin;
  const EventRegistration* registration = nullptr;
};

// What an event matches.
struct EventMatches {
  std::vector<MatchingRegistration> registrations;  // In order of registration.
  PluginSet plugins;

  // The registrations of the plugins in `rejectors`.
  RegistrationMask Of(PluginSet rejectors) const {
    RegistrationMask mask = 0;
    (rejectors & plugins).ForEach([&](PluginId plugin) { mask |= by_plugin[plugin]; });
    return mask;
  }

  std::vector<RegistrationMask> by_plugin;  // By PluginId; empty when nothing matches.
};

class PluginRegistry {
 public:
  // An error for a 65th plugin, a name given twice or not at all, a registration that no event can
  // match (no action, or a part of the general Update), and more than 64 matches for one event.
  static Result<PluginRegistry> Build(std::vector<Plugin> plugins);

  const EventMatches& Matching(const ClusterEvent& event) const;
  // Calls visit(label, matches) for every event that has a resource and an action.
  template <typename Visit>
  void ForEachEvent(Visit visit) const {
    for (size_t label = 0; label < content_->matches.size(); ++label) {
      visit(static_cast<EventLabel>(label), content_->matches[label]);
    }
  }

  int size() const { return static_cast<int>(content_->plugins.size()); }
  const Plugin& plugin(PluginId id) const { return content_->plugins[id]; }
  std::vector<std::string> Names() const;  // By PluginId.
  // nullopt: no plugin of this name.
  std::optional<PluginId> Find(std::string_view name) const;

 private:
  // It is on the heap, so that registrations keep their addresses when a registry is moved.
  struct Content {
    std::vector<Plugin> plugins;
    std::vector<EventMatches> matches;  // By the label of the resource and action.
  };

  explicit PluginRegistry(std::unique_ptr<const Content> content) : content_(std::move(content)) {}

  static Status BuildMatches(Content* content);

  std::unique_ptr<const Content> content_;
};

}  // namespace schedq
