// Whose entry symbol throws.
#include <schedq/schedq.h>

#include <stdexcept>

const schedq_plugin_library* schedq_plugin_library_v1() {
  throw std::runtime_error("no license\nat all");
}
