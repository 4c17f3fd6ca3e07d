// The sanitizer of the build, for the code that must announce fibers to it.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCHEDQ_MODEL_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SCHEDQ_MODEL_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SCHEDQ_MODEL_ASAN)
#define SCHEDQ_MODEL_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(SCHEDQ_MODEL_TSAN)
#define SCHEDQ_MODEL_TSAN 1
#endif
