// Whose Permit throws, through the C interface and without its wrapper: that rejects the pod.
#include <schedq/schedq.h>

#include <cstdint>
#include <stdexcept>

namespace {

schedq_permit Permit(void*, const schedq_pod_view*, const char*, schedq_waiting*, int64_t*) {
  throw std::runtime_error("permit");
}
void Unreserve(void*, const schedq_pod_view*) { throw 1; }

}  // namespace

const schedq_plugin_library* schedq_plugin_library_v1() {
  static schedq_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "Thrower";
  plugin.permit = Permit;
  plugin.unreserve = Unreserve;
  static const schedq_plugin* const plugins[] = {&plugin};
  static const schedq_plugin_library library = {sizeof(schedq_plugin_library), SCHEDQ_ABI_VERSION,
                                                1, plugins};
  return &library;
}
