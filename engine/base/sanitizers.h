// The sanitizer of the build, which each compiler says in its own way.
//
// Purpose: what a sanitizer would slow down too much, or answers itself, and code that must
// announce fibers to it. ThreadSanitizer does not see how a library that was compiled without it
// hands work from thread to thread, and would report races that are none.
// Threads: constants.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCHEDQ_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define SCHEDQ_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SCHEDQ_ADDRESS_SANITIZER)
#define SCHEDQ_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(SCHEDQ_THREAD_SANITIZER)
#define SCHEDQ_THREAD_SANITIZER 1
#endif

namespace schedq {

#ifdef SCHEDQ_ADDRESS_SANITIZER
inline constexpr bool kUnderAddressSanitizer = true;
#else
inline constexpr bool kUnderAddressSanitizer = false;
#endif
#ifdef SCHEDQ_THREAD_SANITIZER
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

}  // namespace schedq
