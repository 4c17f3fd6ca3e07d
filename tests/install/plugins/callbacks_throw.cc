// Whose hints throw, through the C interface and without its wrapper: they count as errors.
#include <schedq/schedq.h>

#include <stdexcept>

namespace {

schedq_hint Hint(void*, const schedq_pod_view*, const schedq_change*) {
  throw std::runtime_error("hint");
}
schedq_pre_hint PreHint(void*, const schedq_change*, schedq_pods*) { throw 1; }

}  // namespace

const schedq_plugin_library* schedq_plugin_library_v1() {
  static const schedq_registration registration = {sizeof(schedq_registration), "ResourceClaim",
                                                   "Update", Hint, PreHint};
  static const schedq_registration* const registrations[] = {&registration};
  static schedq_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "Thrower";
  plugin.registrations = registrations;
  plugin.registration_count = 1;
  static const schedq_plugin* const plugins[] = {&plugin};
  static const schedq_plugin_library library = {sizeof(schedq_plugin_library), SCHEDQ_ABI_VERSION,
                                                1, plugins};
  return &library;
}
