#include "perf/files/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

namespace schedq {
namespace {

// Folders within folders that are removed; deeper ones stay.
constexpr int kDepthMax = 32;

// How long a removal waits for one system call of another thread.
constexpr int kMakingPollsMax = 200;
constexpr long kMakingPollNanoseconds = 1'000'000;

enum class SlotState : int { kFree, kFilling, kMaking, kReady };

struct Slot {
  // Written by the thread that owns the Leftover. A signal handler reads it: only a slot that is
  // ready has a whole path that exists. One that is being made belongs to another thread than the
  // handler's, for signals are blocked meanwhile.
  std::atomic<SlotState> state{SlotState::kFree};
  pid_t owner = 0;
  std::array<char, kLeftoverPathMax> path;
};
static_assert(std::atomic<SlotState>::is_always_lock_free, "a signal handler may not take a lock");

std::array<Slot, kLeftoversMax> slots;

// Written by ForbidMaking, once. A maker says kMaking before it reads this, and ForbidMaking comes
// before the removal reads the states: one of the two sees the other.
std::atomic<bool> is_making_forbidden{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

bool IsDots(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

// By system calls alone, because opendir allocates.
void RemoveAt(int folder, const char* name, int depth) {
  if (unlinkat(folder, name, 0) == 0 || depth == 0) return;
  if (errno != EISDIR && errno != EPERM) return;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return;
  alignas(dirent64) std::array<char, 2048> block;
  for (;;) {
    const ssize_t count = getdents64(inner, block.data(), block.size());
    if (count <= 0) break;
    for (ssize_t at = 0; at < count;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(block.data() + at);
      if (!IsDots(entry->d_name)) RemoveAt(inner, entry->d_name, depth - 1);
      at += entry->d_reclen;
    }
  }
  close(inner);
  unlinkat(folder, name, AT_REMOVEDIR);
}

// No signal is handled by this thread for as long as it lives.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

void WaitUntilMade(const Slot& slot) {
  const timespec poll{0, kMakingPollNanoseconds};
  for (int i = 0; i < kMakingPollsMax && slot.state.load() == SlotState::kMaking; ++i) {
    nanosleep(&poll, nullptr);
  }
}

}  // namespace

Leftover::Leftover(const std::string& path) {
  Take(path);
  if (slot_ != kNone) slots[slot_].state.store(SlotState::kReady);
}

Leftover::Leftover(const std::string& path, const std::function<int()>& make) {
  Take(path);
  if (slot_ == kNone) {
    made_ = make();
  } else {
    MakeInSlot(make);
  }
}

void Leftover::MakeInSlot(const std::function<int()>& make) {
  int failure = 0;
  {
    const SignalsHeld held;
    slots[slot_].state.store(SlotState::kMaking);
    if (is_making_forbidden.load()) {
      slots[slot_].state.store(SlotState::kFree);
      for (;;) pause();
    }
    made_ = make();
    failure = errno;
    slots[slot_].state.store(made_ < 0 ? SlotState::kFree : SlotState::kReady);
    if (made_ < 0) slot_ = kNone;
  }
  errno = failure;
}

void Leftover::Take(const std::string& path) {
  if (path.size() >= kLeftoverPathMax) return;
  for (size_t i = 0; i < slots.size(); ++i) {
    SlotState expected = SlotState::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, SlotState::kFilling)) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].owner = getpid();
    slot_ = i;
    return;
  }
}

Leftover::Leftover(Leftover&& other) noexcept
    : slot_(std::exchange(other.slot_, kNone)), made_(other.made_) {}

Leftover::~Leftover() {
  if (slot_ != kNone) slots[slot_].state.store(SlotState::kFree);
}

void RemoveTree(const std::string& path) { RemoveAt(AT_FDCWD, path.c_str(), kDepthMax); }

void ForbidMaking() { is_making_forbidden.store(true); }

void RemoveLeftovers() {
  const pid_t self = getpid();
  for (const Slot& slot : slots) {
    WaitUntilMade(slot);
    if (slot.state.load() != SlotState::kReady || slot.owner != self) continue;
    RemoveAt(AT_FDCWD, slot.path.data(), kDepthMax);
  }
}

}  // namespace schedq
