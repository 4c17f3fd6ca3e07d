/* An out-of-tree plugin in C: a pod may enter when it does not carry the label `hold`, and a pod
 * that it rejected is worth another attempt when a node of its own zone comes.
 *
 * Load it as examples/plugin.cc says. */
#include <schedq/schedq.h>
#include <string.h>

static int32_t may_enter(void* state, const schedq_pod_view* pod, schedq_message* message) {
  (void)state;
  if (strcmp(schedq_pod_label(pod, "hold"), "") == 0) return 1;
  message->functions->write(message, "the label hold is set");
  return 0;
}

static schedq_hint node_hint(void* state, const schedq_pod_view* pod, const schedq_change* change) {
  (void)state;
  const schedq_object_view* node = schedq_change_latest(change);
  if (node == NULL) return SCHEDQ_HINT_QUEUE;
  const int is_same_zone =
      strcmp(schedq_object_label(node, "zone"), schedq_pod_label(pod, "zone")) == 0;
  return is_same_zone ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

const schedq_plugin_library* schedq_plugin_library_v1(void) {
  static const schedq_registration on_node = {
      .size = sizeof(schedq_registration),
      .resource = "Node",
      .actions = "Add,UpdateNodeLabel",
      .hint = node_hint,
  };
  static const schedq_registration* const registrations[] = {&on_node};
  static const schedq_plugin plugin = {
      .size = sizeof(schedq_plugin),
      .name = "Zone",
      .rejection_message = "no node of the pod's zone",
      .pre_enqueue = may_enter,
      .registrations = registrations,
      .registration_count = 1,
  };
  static const schedq_plugin* const plugins[] = {&plugin};
  static const schedq_plugin_library library = {
      .size = sizeof(schedq_plugin_library),
      .abi_version = SCHEDQ_ABI_VERSION,
      .plugin_count = 1,
      .plugins = plugins,
  };
  return &library;
}
