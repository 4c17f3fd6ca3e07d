#include "tests/support/model/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>

#include "engine/base/sanitizers.h"

#ifdef SCHEDQ_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SCHEDQ_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace schedq::model {

namespace fcontext = boost::context::detail;

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kStackBytes = 512 * 1024;

}  // namespace

struct Fiber::Transfer {
  Fiber* from;
  Fiber* to;
};

// Boost's switch calls this function on a fresh stack.
struct FiberEntry {
  static void Run(fcontext::transfer_t transfer) {
    auto& request = *static_cast<Fiber::Transfer*>(transfer.data);
    request.from->context_ = transfer.fctx;
    Fiber& self = *request.to;
    Fiber::Arrive(request);
    self.entry_(self.argument_);
    std::abort();
  }
};

Fiber::Fiber(Kind kind) {
  if (kind == Kind::kHost) return;
  mapping_ = mmap(nullptr, kStackBytes + kPageBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED || mprotect(mapping_, kPageBytes, PROT_NONE) != 0) std::abort();
  stack_ = static_cast<char*>(mapping_) + kPageBytes;
  stack_bytes_ = kStackBytes;
}

Fiber::~Fiber() {
#ifdef SCHEDQ_THREAD_SANITIZER
  if (mapping_ != nullptr && tsan_fiber_ != nullptr) __tsan_destroy_fiber(tsan_fiber_);
#endif
  if (mapping_ != nullptr) munmap(mapping_, kStackBytes + kPageBytes);
}

void Fiber::Prepare(Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  fake_stack_ = nullptr;
#ifdef SCHEDQ_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(stack_, stack_bytes_);
#endif
#ifdef SCHEDQ_THREAD_SANITIZER
  // Each run needs a new fiber of ThreadSanitizer, because calls that an earlier run left open stay
  // on the old one's shadow stack.
  if (tsan_fiber_ != nullptr) __tsan_destroy_fiber(tsan_fiber_);
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
  context_ = fcontext::make_fcontext(static_cast<char*>(stack_) + stack_bytes_, stack_bytes_,
                                     &FiberEntry::Run);
}

void Fiber::Switch(Fiber& from, Fiber& to) {
  Transfer request{&from, &to};
#ifdef SCHEDQ_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_, to.stack_bytes_);
#endif
#ifdef SCHEDQ_THREAD_SANITIZER
  if (from.tsan_fiber_ == nullptr) from.tsan_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
  const fcontext::transfer_t back = fcontext::jump_fcontext(to.context_, &request);
  auto& arrival = *static_cast<Transfer*>(back.data);
  arrival.from->context_ = back.fctx;
  Arrive(arrival);
}

void Fiber::Arrive([[maybe_unused]] const Transfer& transfer) {
#ifdef SCHEDQ_ADDRESS_SANITIZER
  const void* bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(transfer.to->fake_stack_, &bottom, &bytes);
  // The host's stack is known only once it has been left.
  if (transfer.from->mapping_ == nullptr) {
    transfer.from->stack_ = const_cast<void*>(bottom);
    transfer.from->stack_bytes_ = bytes;
  }
#endif
}

}  // namespace schedq::model
