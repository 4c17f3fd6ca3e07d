#include "perf/files/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace schedq {
namespace {

// Folders within folders that are removed; deeper ones stay.
constexpr int kDepthMax = 32;

enum class SlotState : int { kFree, kFilling, kReady };

struct Slot {
  // Written by the thread that owns the Leftover. A signal handler reads it: only a slot that is
  // ready has a whole path.
  std::atomic<SlotState> state{SlotState::kFree};
  pid_t owner = 0;
  std::array<char, kLeftoverPathMax> path;
};
static_assert(std::atomic<SlotState>::is_always_lock_free, "a signal handler may not take a lock");

std::array<Slot, kLeftoversMax> slots;

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

}  // namespace

Leftover::Leftover(const std::string& path) {
  if (path.size() >= kLeftoverPathMax) return;
  for (size_t i = 0; i < slots.size(); ++i) {
    SlotState expected = SlotState::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, SlotState::kFilling)) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].owner = getpid();
    slots[i].state.store(SlotState::kReady);
    slot_ = i;
    return;
  }
}

Leftover::Leftover(Leftover&& other) noexcept : slot_(std::exchange(other.slot_, kNone)) {}

Leftover::~Leftover() {
  if (slot_ != kNone) slots[slot_].state.store(SlotState::kFree);
}

void RemoveLeftovers() {
  const pid_t self = getpid();
  for (const Slot& slot : slots) {
    if (slot.state.load() != SlotState::kReady || slot.owner != self) continue;
    RemoveAt(AT_FDCWD, slot.path.data(), kDepthMax);
  }
}

}  // namespace schedq
