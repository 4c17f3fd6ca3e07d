#include "bench/profile/time_sampler.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <set>

#include "bench/profile/symbols.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

// Prime, so that it does not beat with anything periodic in the work.
constexpr long kSampleIntervalNs = 499'979;
// The handler and the frame through which the kernel calls it.
constexpr int kFramesOfHandler = 3;

TimeSampler* active_sampler = nullptr;

}  // namespace

// Not inlined, so that the number of frames above is that of the caller.
[[gnu::noinline]] TimeSampler::TimeSampler() : stacks_(kSamplesMax) {
  SCHEDQ_CHECK(active_sampler == nullptr, "one time sampler at a time");
  // The first call loads the unwinder, which the handler must not do.
  std::array<void*, kDepthMax> frames;
  frames_above_ = backtrace(frames.data(), kDepthMax) - 1;
  active_sampler = this;

  struct sigaction action {};
  action.sa_handler = &TimeSampler::OnTimer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;
  is_running_ = true;
  itimerspec interval{};
  interval.it_interval.tv_nsec = kSampleIntervalNs;
  interval.it_value.tv_nsec = kSampleIntervalNs;
  timer_settime(timer_, 0, &interval, nullptr);
}

TimeSampler::~TimeSampler() { Stop(); }

void TimeSampler::Stop() {
  if (is_running_) timer_delete(timer_);
  is_running_ = false;
  // A signal that is still pending finds nobody.
  active_sampler = nullptr;
}

void TimeSampler::OnTimer(int) {
  const int saved_errno = errno;
  if (active_sampler != nullptr) active_sampler->TakeSample();
  errno = saved_errno;
}

[[gnu::noinline]] void TimeSampler::TakeSample() {
  if (count_ == stacks_.size()) return;
  Stack& stack = stacks_[count_];
  stack.depth = backtrace(stack.frames.data(), kDepthMax);
  if (stack.depth > kFramesOfHandler + frames_above_) ++count_;
}

HotSpots TimeSampler::Finish() {
  Stop();
  HotSpots spots;
  spots.method = "timer";
  spots.samples = count_;
  const SymbolTable symbols;
  std::map<void*, std::string> names;
  std::map<std::string, uint64_t> self;
  std::map<std::string, uint64_t> inclusive;
  for (size_t i = 0; i < count_; ++i) {
    const Stack& stack = stacks_[i];
    std::set<std::string> functions;
    for (int frame = kFramesOfHandler; frame < stack.depth - frames_above_; ++frame) {
      void* const address = stack.frames[static_cast<size_t>(frame)];
      std::string& name = names[address];
      // Callers are return addresses, which may lie behind the end of the function.
      const uintptr_t inside =
          reinterpret_cast<uintptr_t>(address) - (frame == kFramesOfHandler ? 0 : 1);
      if (name.empty()) name = symbols.FunctionAt(inside);
      if (frame == kFramesOfHandler) ++self[name];
      functions.insert(name);
    }
    for (const std::string& name : functions) ++inclusive[name];
  }
  spots.functions = RankHotSpots(self, inclusive, spots.samples);
  return spots;
}

std::vector<HotSpot> RankHotSpots(const std::map<std::string, uint64_t>& self,
                                  const std::map<std::string, uint64_t>& inclusive, uint64_t total,
                                  size_t limit) {
  std::vector<HotSpot> spots;
  if (total == 0) return spots;
  const auto share = [total](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(total);
  };
  for (const auto& [name, count] : self) {
    const auto found = inclusive.find(name);
    spots.push_back({name, share(count), share(found == inclusive.end() ? count : found->second)});
  }
  std::stable_sort(spots.begin(), spots.end(),
                   [](const HotSpot& a, const HotSpot& b) { return a.self_share > b.self_share; });
  if (spots.size() > limit) spots.resize(limit);
  return spots;
}

}  // namespace schedq
