#include "hints/pre_enqueue.h"

namespace schedq {

PluginPreEnqueue::PluginPreEnqueue(const PluginRegistry& registry, const PreEnqueueOptions& options)
    : registry_(registry), metrics_(registry, options.metrics, options.now) {
  for (int id = 0; id < registry.size(); ++id) {
    const auto plugin = static_cast<PluginId>(id);
    if (registry.plugin(plugin).pre_enqueue) plugins_.push_back(plugin);
  }
}

PluginId PluginPreEnqueue::Check(const Pod& pod, PluginId first) const {
  const bool is_timed = metrics_.TimesNext();
  const bool ask_first = first < registry_.size() && registry_.plugin(first).pre_enqueue;
  if (ask_first && !Passes(pod, first, is_timed)) return first;
  for (const PluginId plugin : plugins_) {
    if (plugin != first && !Passes(pod, plugin, is_timed)) return plugin;
  }
  return kNoPlugin;
}

bool PluginPreEnqueue::Passes(const Pod& pod, PluginId plugin, bool is_timed) const {
  const auto ask = [&] { return registry_.plugin(plugin).pre_enqueue(pod, nullptr); };
  return metrics_.enabled() ? metrics_.Count(plugin, is_timed, ask) : ask();
}

std::string PluginPreEnqueue::Explain(const Pod& pod, PluginId plugin) const {
  SCHEDQ_CHECK(plugin < registry_.size(), "only a registered plugin rejects");
  const Plugin& rejecting = registry_.plugin(plugin);
  std::string message;
  if (rejecting.pre_enqueue && !rejecting.pre_enqueue(pod, &message)) return message;
  return rejecting.rejection_message;
}

}  // namespace schedq
