# The toolchain of the preset aarch64: Debian's cross compiler, the libraries that ci/setup_aarch64
# unpacks into the cache, and an emulator that runs what was built.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

if("$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(CMAKE_SYSROOT "$ENV{HOME}/.cache/schedq/aarch64/root")
else()
  set(CMAKE_SYSROOT "$ENV{XDG_CACHE_HOME}/schedq/aarch64/root")
endif()
if(NOT EXISTS "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "no libraries for aarch64 in ${CMAKE_SYSROOT}: run ci/setup_aarch64")
endif()
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${CMAKE_SYSROOT}")
