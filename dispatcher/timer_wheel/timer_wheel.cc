#include "dispatcher/timer_wheel/timer_wheel.h"

namespace schedq {

template class TimerWheel<std::atomic>;

}  // namespace schedq
