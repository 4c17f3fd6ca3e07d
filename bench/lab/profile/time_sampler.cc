#include "bench/lab/profile/time_sampler.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <set>

#include "bench/lab/profile/symbols.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

// The interval is prime, so that it matches no period in the work.
constexpr long kSampleIntervalNs = 499'979;

// The number of frames before the one at `address`; all if there is none. It must be searched,
// because sanitizers put frames of their own around backtrace.
int FramesBefore(const void* address, void* const* frames, int depth) {
  return static_cast<int>(std::find(frames, frames + depth, address) - frames);
}

TimeSampler* active_sampler = nullptr;

// The word at the top of the interrupted code's stack: where a function that has just been entered
// returns to. To AddressSanitizer that word may lie between two variables, where only its own code
// may read.
[[gnu::no_sanitize_address, gnu::noinline]] const void* TopOfStack(greg_t stack_pointer) {
  return *reinterpret_cast<const void* const*>(stack_pointer);
}

}  // namespace

// Must not be inlined, because the return address must lie in the caller.
[[gnu::noinline]] TimeSampler::TimeSampler() : stacks_(kSamplesMax) {
  SCHEDQ_CHECK(active_sampler == nullptr, "one time sampler at a time");
  // The first call of backtrace loads the unwinder, which the handler must not do.
  std::array<void*, kDepthMax> frames;
  const int depth = backtrace(frames.data(), kDepthMax);
  frames_above_ = depth - FramesBefore(__builtin_return_address(0), frames.data(), depth);
  unwinder_ = CodeWith(reinterpret_cast<const void*>(&_Unwind_Backtrace));
  // It is part of this program: its code cannot be told from that which is sampled.
  if (unwinder_.Contains(__builtin_return_address(0))) unwinder_ = {};
  active_sampler = this;

  struct sigaction action {};
  action.sa_sigaction = &TimeSampler::OnTimer;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
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
  // A signal that is still pending then finds no sampler.
  active_sampler = nullptr;
}

// The code of the loaded file that has this address.
TimeSampler::AddressRange TimeSampler::CodeWith(const void* address) {
  struct Search {
    const void* address;
    AddressRange found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* file, size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < file->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = file->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          const uintptr_t begin = file->dlpi_addr + part.p_vaddr;
          const AddressRange code{begin, begin + part.p_memsz};
          if (code.Contains(wanted.address)) wanted.found = code;
        }
        return 0;
      },
      &search);
  return search.found;
}

void TimeSampler::OnTimer(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if (active_sampler != nullptr) {
    active_sampler->TakeSample(reinterpret_cast<const void*>(registers[REG_RIP]),
                               TopOfStack(registers[REG_RSP]));
  }
  errno = saved_errno;
}

[[gnu::noinline]] void TimeSampler::TakeSample(const void* interrupted, const void* caller) {
  if (count_ == stacks_.size()) return;
  Stack& stack = stacks_[count_];
  if (unwinder_.Contains(interrupted) || unwinder_.Contains(caller)) {
    stack.first = 0;
    stack.end = 1;
    stack.frames[0] = const_cast<void*>(interrupted);
  } else {
    const int depth = backtrace(stack.frames.data(), kDepthMax);
    stack.first = FramesBefore(interrupted, stack.frames.data(), depth);
    stack.end = depth - frames_above_;
  }
  if (stack.end > stack.first) ++count_;
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
    for (int frame = stack.first; frame < stack.end; ++frame) {
      void* const address = stack.frames[static_cast<size_t>(frame)];
      std::string& name = names[address];
      // A caller's frame is a return address, which may lie behind the end of the function.
      const uintptr_t inside =
          reinterpret_cast<uintptr_t>(address) - (frame == stack.first ? 0 : 1);
      if (name.empty()) name = symbols.FunctionAt(inside);
      if (frame == stack.first) ++self[name];
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
