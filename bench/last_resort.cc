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

// Written by the main thread. Any thread may read it when it ends the process.
std::atomic<LastResort*> current{nullptr};

}  // namespace

LastResort::LastResort(std::function<void(EarlyEnd)> finish)
    : finish_(std::move(finish)), reserve_(new char[kReserveBytes]) {
  // Signals are for the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { Wait(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  current.store(this);
}

LastResort::~LastResort() {
  Disarm();
  current.store(nullptr);
  EndAwaiting();
  thread_.join();
}

bool LastResort::Decide(State state) {
  State armed = State::kArmed;
  return state_.compare_exchange_strong(armed, state);
}

void LastResort::Disarm() {
  if (Decide(State::kDisarmed) || state_.load() != State::kFinishing) return;
  // The thread that finishes ends the process.
  for (;;) pause();
}

void LastResort::Finish() {
  if (!Decide(State::kFinishing)) return;
  reserve_.reset();
  // However it ends: its owner's Disarm would wait for ever.
  struct Finished {
    ~Finished() { state->store(State::kFinished); }
    std::atomic<State>* state;
  } finished{&state_};
  try {
    finish_(EarlyEnd::kShortage);
  } catch (const std::bad_alloc&) {
    // The caller says that memory ran out. What was shown until here stands.
  }
  std::fflush(stdout);
}

void LastResort::FinishAny() {
  LastResort* const last_resort = current.load();
  if (last_resort != nullptr) last_resort->Finish();
}

void LastResort::Wait() {
  AwaitInterrupt();
  if (!Interrupted() || !SleepUntilDeadline()) return;
  finish_(EarlyEnd::kSignal);
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
