#include "hints/pre_enqueue.h"

namespace schedq {

PluginPreEnqueue::PluginPreEnqueue(const PluginRegistry& registry, const PreEnqueueOptions& options)
    : registry_(registry), metrics_(registry, options.metrics, options.now) {
  for (int id = 0; id < registry.size(); ++id) {
    const auto plugin = static_cast<PluginId>(id);
    const PreEnqueueFunction& ask = registry.plugin(plugin).pre_enqueue;
    if (ask) doors_.push_back({plugin, &ask});
  }
}

PluginId PluginPreEnqueue::Check(const Pod& pod, PluginId first) const {
  const bool is_timed = metrics_.TimesNext();
  if (first < registry_.size()) {
    const Door door{first, &registry_.plugin(first).pre_enqueue};
    if (*door.ask && !Passes(pod, door, is_timed)) return first;
  }
  for (const Door& door : doors_) {
    if (door.plugin != first && !Passes(pod, door, is_timed)) return door.plugin;
  }
  return kNoPlugin;
}

bool PluginPreEnqueue::Passes(const Pod& pod, const Door& door, bool is_timed) const {
  const auto ask = [&] { return (*door.ask)(pod, nullptr); };
  return metrics_.enabled() ? metrics_.Count(door.plugin, is_timed, ask) : ask();
}

std::string PluginPreEnqueue::Explain(const Pod& pod, PluginId plugin) const {
  SCHEDQ_CHECK(plugin < registry_.size(), "only a registered plugin rejects");
  const Plugin& rejecting = registry_.plugin(plugin);
  std::string message;
  if (rejecting.pre_enqueue && !rejecting.pre_enqueue(pod, &message)) return message;
  return rejecting.rejection_message;
}

std::string PluginPreEnqueue::UserMessage(const Pod& pod, PluginId plugin,
                                          std::string_view message) const {
  const UserMessageFunction& words_of = registry_.plugin(plugin).user_message;
  return words_of ? words_of(pod, message) : std::string(message);
}

}  // namespace schedq
