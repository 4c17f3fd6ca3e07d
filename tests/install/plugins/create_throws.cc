// Whose plugin's constructor throws: the wrapper answers for it.
#include <schedq/plugin.h>

#include <stdexcept>

class Thrower {
 public:
  Thrower() { throw std::runtime_error("no"); }
};

SCHEDQ_PLUGIN_LIBRARY(schedq::outside::Describe<Thrower>("Thrower"));
