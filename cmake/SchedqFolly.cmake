# The target schedq_folly: the parts of folly that schedq uses, from (in this order)
#   1. an installed folly, if it was built for our instruction set and no sanitizer is on;
#   2. SCHEDQ_FOLLY_SOURCE (variable or environment), the directory that holds folly/;
#   3. the pinned source that ci/setup downloads, verifies and unpacks into the cache.
#
# Sources are compiled once for each compiler and set of flags, into the same cache, so another
# build directory or clone only links. Nothing here touches the network.

include(CheckCXXSourceCompiles)

set(SCHEDQ_FOLLY_SOURCE "$ENV{SCHEDQ_FOLLY_SOURCE}" CACHE PATH "Directory that holds folly/")

# schedq_cache_directory(<out>)
function(schedq_cache_directory out)
  if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(${out} "$ENV{XDG_CACHE_HOME}/schedq" PARENT_SCOPE)
  else()
    set(${out} "$ENV{HOME}/.cache/schedq" PARENT_SCOPE)
  endif()
endfunction()

# schedq_find_installed_folly(<out>)
# True when an installed folly links with our flags: F14 refuses other instruction sets.
function(schedq_find_installed_folly out)
  set(${out} FALSE PARENT_SCOPE)
  if(SCHEDQ_SANITIZE)
    return()
  endif()
  find_package(folly CONFIG QUIET)
  if(NOT TARGET Folly::folly)
    return()
  endif()
  set(CMAKE_REQUIRED_FLAGS "${SCHEDQ_ARCH_FLAGS}")
  set(CMAKE_REQUIRED_LIBRARIES Folly::folly)
  check_cxx_source_compiles(
    "#include <folly/container/F14Map.h>
     int main() { return static_cast<int>(folly::F14FastMap<int, int>{{1, 0}}.at(1)); }"
    SCHEDQ_INSTALLED_FOLLY_LINKS)
  set(${out} ${SCHEDQ_INSTALLED_FOLLY_LINKS} PARENT_SCOPE)
endfunction()

# schedq_find_folly_source(<root> <identity>)
# The directory that holds folly/ and a hash that stands for its content.
function(schedq_find_folly_source root identity)
  if(SCHEDQ_FOLLY_SOURCE)
    if(NOT EXISTS "${SCHEDQ_FOLLY_SOURCE}/folly/synchronization/Hazptr.h")
      message(FATAL_ERROR "SCHEDQ_FOLLY_SOURCE=${SCHEDQ_FOLLY_SOURCE} has no "
                          "folly/synchronization/Hazptr.h; expected what holds folly/")
    endif()
    file(GLOB_RECURSE files "${SCHEDQ_FOLLY_SOURCE}/folly/*.h"
         "${SCHEDQ_FOLLY_SOURCE}/folly/*.cpp")
    set(hashes "${SCHEDQ_FOLLY_SOURCE}")
    foreach(file IN LISTS files)
      file(SHA256 "${file}" hash)
      string(APPEND hashes "${hash}")
    endforeach()
    string(SHA256 hash "${hashes}")
    set(${root} "${SCHEDQ_FOLLY_SOURCE}" PARENT_SCOPE)
    set(${identity} "${hash}" PARENT_SCOPE)
    return()
  endif()

  schedq_cache_directory(cache)
  file(READ "${PROJECT_SOURCE_DIR}/cmake/folly/checksum" checksum)
  string(STRIP "${checksum}" checksum)
  string(SUBSTRING "${checksum}" 0 12 short)
  set(source "${cache}/folly/source-${short}")
  if(NOT EXISTS "${source}/folly/synchronization/Hazptr.h")
    message(FATAL_ERROR "folly is missing: run ci/setup (it downloads the pinned source), or set "
                        "SCHEDQ_FOLLY_SOURCE to the directory that holds folly/")
  endif()
  set(${root} "${source}" PARENT_SCOPE)
  set(${identity} "${checksum}" PARENT_SCOPE)
endfunction()

# schedq_build_folly(<out> <root> <identity>)
# Makes sure that the cache holds the library for this compiler and these flags; <out> is its
# directory. It is built beside its final place and renamed, so a half-built one is never seen.
function(schedq_build_folly out root identity)
  schedq_cache_directory(cache)
  list(JOIN SCHEDQ_CODE_FLAGS " " flags)
  # Sanitizers triple the time that the optimizer takes, and what they check is not measured.
  set(optimization -O2)
  if(SCHEDQ_SANITIZE)
    set(optimization -O1)
  endif()
  set(recipe "${PROJECT_SOURCE_DIR}/cmake/folly")
  set(key "${identity};${optimization};${flags}")
  # Position independent and hidden: our shared library holds it and shows nothing of it.
  set(position -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden
               -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON)
  string(APPEND key ";${position};${CMAKE_CXX_COMPILER_ID};${CMAKE_CXX_COMPILER_VERSION}")
  set(toolchain "")
  if(CMAKE_CROSSCOMPILING)
    set(toolchain "-DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}")
    string(APPEND key ";${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  foreach(file CMakeLists.txt sources.cmake folly-config.h.in)
    file(SHA256 "${recipe}/${file}" hash)
    string(APPEND key ";${hash}")
  endforeach()
  string(SHA256 key "${key}")
  string(SUBSTRING "${key}" 0 12 short)
  set(directory "${cache}/folly/build-${short}")
  set(${out} "${directory}" PARENT_SCOPE)

  file(MAKE_DIRECTORY "${cache}/folly")
  file(LOCK "${cache}/folly/${short}.lock" GUARD FUNCTION)
  if(EXISTS "${directory}/libschedq_folly.a")
    return()
  endif()

  message(STATUS "Building folly for ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} "
                 "${flags} (once, about half a minute)")
  # Another version of folly may not take it.
  set(batches ON)
  if(SCHEDQ_FOLLY_SOURCE)
    set(batches OFF)
  endif()
  set(unfinished "${directory}.unfinished")
  file(REMOVE_RECURSE "${unfinished}" "${directory}")
  set(log "${cache}/folly/build-${short}.log")
  execute_process(
    COMMAND
      "${CMAKE_COMMAND}" -S "${recipe}" -B "${unfinished}" -G "${CMAKE_GENERATOR}"
      "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}"
      "-DCMAKE_CXX_FLAGS_RELEASE=${optimization} -g1 -DNDEBUG"
      "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
      "-DSCHEDQ_FOLLY_ROOT=${root}" "-DSCHEDQ_FOLLY_BATCHES=${batches}" ${position}
      ${toolchain}
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_FILE "${log}" ERROR_FILE "${log}")
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${unfinished}" --parallel
                  RESULT_VARIABLE failed OUTPUT_FILE "${log}" ERROR_FILE "${log}")
  if(failed)
    file(REMOVE_RECURSE "${unfinished}")
    message(FATAL_ERROR "folly from ${root} does not build; see ${log}")
  endif()
  file(REMOVE_RECURSE "${unfinished}/CMakeFiles")
  file(RENAME "${unfinished}" "${directory}")
endfunction()

schedq_find_installed_folly(installed)
add_library(schedq_folly INTERFACE)
add_library(schedq::folly ALIAS schedq_folly)
if(installed)
  message(STATUS "folly: installed, ${folly_DIR}")
  target_link_libraries(schedq_folly INTERFACE Folly::folly)
else()
  schedq_find_folly_source(root identity)
  schedq_build_folly(library "${root}" "${identity}")
  message(STATUS "folly: ${root}, library in ${library}")
  # A rival of the benchmarks needs a further part of it.
  set_property(GLOBAL PROPERTY SCHEDQ_FOLLY_ROOT "${root}")

  find_package(fmt REQUIRED)
  find_package(Threads REQUIRED)
  find_library(SCHEDQ_GLOG glog REQUIRED)
  find_library(SCHEDQ_GFLAGS gflags REQUIRED)
  find_library(SCHEDQ_DOUBLE_CONVERSION double-conversion REQUIRED)
  target_include_directories(schedq_folly SYSTEM INTERFACE "${library}/include" "${root}")
  # A target of its own, so that what the archive needs comes behind it on every link line.
  add_library(schedq_folly_archive STATIC IMPORTED GLOBAL)
  set_target_properties(schedq_folly_archive PROPERTIES IMPORTED_LOCATION
                                                        "${library}/libschedq_folly.a")
  target_link_libraries(
    schedq_folly_archive INTERFACE "${SCHEDQ_GLOG}" "${SCHEDQ_GFLAGS}"
                                   "${SCHEDQ_DOUBLE_CONVERSION}" fmt::fmt Threads::Threads
                                   ${CMAKE_DL_LIBS})
  target_link_libraries(schedq_folly INTERFACE schedq_folly_archive)
endif()

if(SCHEDQ_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # folly's templates use fences, which ThreadSanitizer does not see; that is theirs to answer for.
  target_compile_options(schedq_folly INTERFACE -Wno-tsan)
endif()
