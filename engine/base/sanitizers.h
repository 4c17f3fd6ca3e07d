// The sanitizer of the build, which each compiler says in its own way: for tests that it would slow
// down too much or whose faults it answers itself, and for code that must announce fibers to it.
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

}  // namespace schedq
