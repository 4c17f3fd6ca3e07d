#include "bench/interrupt.h"

#include <semaphore.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "engine/base/result.h"
#include "perf/files/leftovers.h"

namespace schedq {
namespace {

// Written by the signal handler only; a stale read delays the stop by one poll.
std::atomic<int> first_signal{0};
// Written by the main thread; a handler reads it.
std::atomic<pid_t> child_group{0};
// Written by EndWithin before it sets the timer, whose handler reads it.
std::atomic<int> code_at_deadline{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not take a lock");

sem_t woken;
// For a handler that runs because the stack is full.
alignas(16) std::array<char, 1 << 16> handler_stack;

// Lets the signal have its own effect as soon as the handler returns.
void EndBy(int signal) {
  CleanUpBeforeEnd();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void OnSignal(int signal) {
  const int saved_errno = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed)) {
    EndWithin(kEndingMax, kSignalBase + signal);
    sem_post(&woken);
  } else if (signal != SIGPIPE) {
    EndBy(signal);
  }
  errno = saved_errno;
}

extern "C" void OnDeadline(int) {
  CleanUpBeforeEnd();
  _exit(code_at_deadline.load());
}

extern "C" void OnCrash(int signal) { EndBy(signal); }

void Catch(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// A handler that is there already is a sanitizer's, which says more; what is ignored stays so.
bool HasDefaultEffect(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

void CatchInterrupts() {
  SCHEDQ_CHECK(sem_init(&woken, 0, 0) == 0, "no semaphore for signals");
  // RESTART keeps output whole.
  Catch(SIGPIPE, OnSignal, SA_RESTART);
  // nohup ignores SIGHUP on purpose, and so does a shell SIGINT for what it starts with &.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (HasDefaultEffect(signal)) Catch(signal, OnSignal, SA_RESTART);
  }
  Catch(SIGALRM, OnDeadline, SA_RESTART);
  // A file beyond the limit of the user is an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  const bool has_stack = HasDefaultEffect(SIGSEGV) && sigaltstack(&stack, nullptr) == 0;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGQUIT}) {
    if (HasDefaultEffect(signal)) Catch(signal, OnCrash, has_stack ? SA_ONSTACK : 0);
  }
}

// Relaxed suffices, because the flag guards no other data.
int InterruptSignal() { return first_signal.load(std::memory_order_relaxed); }
bool Interrupted() { return InterruptSignal() != 0; }

void AwaitInterrupt() {
  while (sem_wait(&woken) != 0 && errno == EINTR) {
  }
}

void EndAwaiting() { sem_post(&woken); }

void EndWithin(std::chrono::milliseconds time, int exit_code) {
  code_at_deadline.store(exit_code);
  itimerval timer{};
  timer.it_value.tv_sec = time.count() / 1000;
  timer.it_value.tv_usec = time.count() % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void CleanUpBeforeEnd() {
  const pid_t group = child_group.load();
  if (group > 0) kill(-group, SIGKILL);
  ForbidMaking();
  RemoveLeftovers();
}

void SetChildGroup(pid_t group) { child_group.store(group); }

}  // namespace schedq
