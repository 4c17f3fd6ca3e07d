#include "hints/pre_enqueue.h"

#include "engine/base/result.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "hints/plugin.h"

namespace schedq {

PluginPreEnqueue::PluginPreEnqueue(const PluginRegistry& registry, const PreEnqueueOptions& options)
    : registry_(registry), metrics_(registry, options.metrics, options.now) {
  for (int id = 0; id < registry.size(); ++id) {
    const auto plugin = static_cast<PluginId>(id);
    const PreEnqueueFunction& ask = registry.plugin(plugin).pre_enqueue;
    if (ask) checks_.push_back({plugin, &ask});
  }
}

PluginId PluginPreEnqueue::Check(const Pod& pod, PluginId first) const {
  const bool is_measured = metrics_.MeasuresNext();
  if (first < registry_.size()) {
    const PluginCheck check{first, &registry_.plugin(first).pre_enqueue};
    if (*check.ask && !Passes(pod, check, is_measured)) return first;
  }
  for (const PluginCheck& check : checks_) {
    if (check.plugin != first && !Passes(pod, check, is_measured)) return check.plugin;
  }
  return kNoPlugin;
}

bool PluginPreEnqueue::Passes(const Pod& pod, const PluginCheck& check, bool is_measured) const {
  const auto ask = [&] { return (*check.ask)(pod, nullptr); };
  return metrics_.enabled() ? metrics_.Count(check.plugin, is_measured, ask) : ask();
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
