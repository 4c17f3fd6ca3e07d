// Whether this build is watched by ThreadSanitizer.
//
// Purpose: ThreadSanitizer does not see how a library that was compiled without it hands work from
// thread to thread, and would report races that are none. Such a build uses plain threads instead.
// Threads: a constant.
#pragma once

#if defined(__has_feature)
#define SCHEDQ_HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define SCHEDQ_HAS_THREAD_SANITIZER 1
#else
#define SCHEDQ_HAS_THREAD_SANITIZER 0
#endif

namespace schedq {

inline constexpr bool kUnderThreadSanitizer = SCHEDQ_HAS_THREAD_SANITIZER != 0;

}  // namespace schedq
