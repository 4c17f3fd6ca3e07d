// Many threads that live at one time, to meet limits that count threads.
//
// Threads: the caller's, which waits for all others.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/sanitizers.h"

namespace schedq {

// More than any table had once; a sanitizer's threads cost too much for so many.
#if defined(SCHEDQ_ADDRESS_SANITIZER) || defined(SCHEDQ_THREAD_SANITIZER)
inline constexpr uint32_t kManyThreads = 129;
#else
inline constexpr uint32_t kManyThreads = 4'097;
#endif

// Calls `body(number)` in `count` threads, none of which ends before all have returned from it. The
// calls overlap, unless they go `one_after_another`.
template <typename Body>
void RunAtOnce(uint32_t count, bool one_after_another, const Body& body) {
  struct Started {
    const Body& body;
    std::latch& all_done;
    std::latch own_done{1};
    uint32_t number = 0;
    pthread_t thread{};
  };
  constexpr size_t kStackBytes = size_t{512} << 10;
  pthread_attr_t attributes;
  SCHEDQ_CHECK(pthread_attr_init(&attributes) == 0 &&
                   pthread_attr_setstacksize(&attributes, kStackBytes) == 0,
               "threads have small stacks");
  std::latch all_done(count);
  std::vector<Started*> threads;
  for (uint32_t number = 0; number < count; ++number) {
    auto* const started = new Started{body, all_done, std::latch(1), number, {}};
    const auto run = [](void* argument) -> void* {
      auto& own = *static_cast<Started*>(argument);
      own.body(own.number);
      own.own_done.count_down();
      own.all_done.arrive_and_wait();
      return nullptr;
    };
    SCHEDQ_CHECK(pthread_create(&started->thread, &attributes, run, started) == 0,
                 "the machine has room for the test's threads");
    threads.push_back(started);
    if (one_after_another) started->own_done.wait();
  }
  for (Started* const started : threads) {
    pthread_join(started->thread, nullptr);
    delete started;
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace schedq
