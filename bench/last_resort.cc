#include "bench/last_resort.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "bench/interrupt.h"

namespace schedq {
namespace {

constexpr std::chrono::milliseconds kPoll{10};

}  // namespace

LastResort::LastResort(std::function<void()> finish) : finish_(std::move(finish)) {
  // Signals are for the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { Wait(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LastResort::~LastResort() {
  Disarm();
  EndAwaiting();
  thread_.join();
}

bool LastResort::Decide(State state) {
  State armed = State::kArmed;
  return state_.compare_exchange_strong(armed, state);
}

void LastResort::Disarm() {
  if (Decide(State::kDisarmed) || state_.load() == State::kDisarmed) return;
  // The thread ends the process.
  for (;;) pause();
}

void LastResort::Wait() {
  AwaitInterrupt();
  if (!Interrupted() || !SleepUntilDeadline()) return;
  finish_();
  std::fflush(stdout);
  CleanUpBeforeEnd();
  _exit(kSignalBase + InterruptSignal());
}

// False: the work ended before.
bool LastResort::SleepUntilDeadline() {
  const auto deadline = std::chrono::steady_clock::now() + kPollingMax;
  while (std::chrono::steady_clock::now() < deadline) {
    if (state_.load() == State::kDisarmed) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return Decide(State::kFinishing);
}

}  // namespace schedq
