# Compiler flags shared by every target, and by folly: F14 checks at link time that its users were
# compiled for the same instruction set.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(SCHEDQ_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them; empty for none")

option(SCHEDQ_LTO "Optimize across libraries when linking" OFF)
if(SCHEDQ_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT SCHEDQ_LTO_WORKS OUTPUT SCHEDQ_LTO_PROBLEM LANGUAGES CXX)
  if(SCHEDQ_LTO_WORKS)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    # Two types of one name: only this link sees both, and each build may take the wrong one.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_link_options(-Werror=odr)
    endif()
  else()
    message(STATUS "No optimization across libraries: this toolchain cannot do it")
  endif()
endif()

find_program(SCHEDQ_CCACHE ccache)
if(SCHEDQ_CCACHE)
  # Paths below the checkout count relative to it, so that every clone finds what one compiled. The
  # compiler's own list of headers tells what a file depends on, so that a first build preprocesses
  # each file once.
  set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=true
                                  CCACHE_DEPEND=true "${SCHEDQ_CCACHE}")
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Never native: callgrind stops at AVX-512, and results must be comparable between machines.
  set(SCHEDQ_ARCH_FLAGS -march=x86-64-v3)
else()
  set(SCHEDQ_ARCH_FLAGS "")
endif()

set(SCHEDQ_CODE_FLAGS ${SCHEDQ_ARCH_FLAGS})
if(SCHEDQ_SANITIZE)
  list(APPEND SCHEDQ_CODE_FLAGS -fsanitize=${SCHEDQ_SANITIZE} -fno-omit-frame-pointer
       -fno-sanitize-recover=all)
endif()

find_package(Threads REQUIRED)

add_library(schedq_flags INTERFACE)
target_compile_options(schedq_flags INTERFACE ${SCHEDQ_CODE_FLAGS})

# For our own files only: whoever links our libraries chooses warnings for theirs.
add_library(schedq_warnings INTERFACE)
target_compile_options(schedq_warnings INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns falsely about std::string's operator+ at -O3 (its bug 105651).
  target_compile_options(schedq_warnings INTERFACE -Wno-restrict)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # There it warns falsely that an atomic lies beyond its array.
    target_compile_options(schedq_warnings INTERFACE -Wno-stringop-overflow)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND SCHEDQ_SANITIZE)
  # GCC says itself that sanitizers make it warn falsely here (std::regex is such a place).
  target_compile_options(schedq_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
# Without its own code instrumented libFuzzer searches blindly.
option(SCHEDQ_FUZZ "Build the programs that search for inputs with libFuzzer (clang only)" OFF)
if(SCHEDQ_FUZZ)
  target_compile_options(schedq_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_link_libraries(schedq_flags INTERFACE Threads::Threads)
if(SCHEDQ_SANITIZE)
  target_link_options(schedq_flags INTERFACE -fsanitize=${SCHEDQ_SANITIZE})
endif()

# schedq_builds_quickly(): for a folder whose code the optimizer takes long over and tests run
# little of. Under the address sanitizer it is compiled without the optimizer, in half the time.
macro(schedq_builds_quickly)
  if(SCHEDQ_SANITIZE MATCHES "address" AND NOT SCHEDQ_FUZZ)
    add_compile_options(-O0)
  endif()
endmacro()

# schedq_runs_much(target): one that tests run much of, in a folder that is compiled without the
# optimizer. Not where the quickest build is wanted (preset mutants), nor where all is optimized
# more.
function(schedq_runs_much target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT SCHEDQ_FUZZ)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# schedq_reads_input(): for a folder of readers, which the fuzzers run. What libFuzzer would learn
# of each comparison takes 40 % of their time; the words that readers compare with are in the
# dictionaries of tests/fuzz.
macro(schedq_reads_input)
  if(SCHEDQ_FUZZ)
    add_compile_options(-fno-sanitize-coverage=trace-cmp)
  endif()
endmacro()
