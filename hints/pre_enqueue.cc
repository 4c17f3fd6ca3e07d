#include "hints/pre_enqueue.h"

namespace schedq {

PluginPreEnqueue::PluginPreEnqueue(const PluginRegistry& registry) : registry_(registry) {
  for (int id = 0; id < registry.size(); ++id) {
    const auto plugin = static_cast<PluginId>(id);
    if (registry.plugin(plugin).pre_enqueue) plugins_.push_back(plugin);
  }
}

PluginId PluginPreEnqueue::Check(const Pod& pod, PluginId first) const {
  const bool ask_first = first < registry_.size() && registry_.plugin(first).pre_enqueue;
  if (ask_first && !registry_.plugin(first).pre_enqueue(pod, nullptr)) return first;
  for (const PluginId plugin : plugins_) {
    if (plugin != first && !registry_.plugin(plugin).pre_enqueue(pod, nullptr)) return plugin;
  }
  return kNoPlugin;
}

std::string PluginPreEnqueue::Explain(const Pod& pod, PluginId plugin) const {
  SCHEDQ_CHECK(plugin < registry_.size(), "only a registered plugin rejects");
  const Plugin& rejecting = registry_.plugin(plugin);
  std::string message;
  if (rejecting.pre_enqueue && !rejecting.pre_enqueue(pod, &message)) return message;
  return rejecting.rejection_message;
}

}  // namespace schedq
