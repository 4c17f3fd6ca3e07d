# One library a folder, dependencies one way.
#
# A target compiles against a *view*: a directory of links under the build tree that holds the
# folders that it may include and nothing else. An include that points upwards does not resolve, so
# the build fails. ci/lint names the offending line; this file makes it impossible to merge one.

# Build directories beside each other under build/ share the views: these depend on the tree only,
# and equal include paths let ccache serve one build directory with what another one compiled.
cmake_path(GET CMAKE_BINARY_DIR PARENT_PATH SCHEDQ_VIEWS)
if(NOT SCHEDQ_VIEWS STREQUAL "${PROJECT_SOURCE_DIR}/build")
  set(SCHEDQ_VIEWS "${CMAKE_BINARY_DIR}")
endif()

# schedq_view(<target> [VIEW name] FOLDERS folder...)
# Lets <target> include "<folder>/..." for each folder given, but not that folder's subfolders
# unless they are given too. A folder that ends with a slash stands for its subfolders as well.
# Targets that name one VIEW share it; they must name the same folders.
function(schedq_view target)
  cmake_parse_arguments(VIEW "" "VIEW" "FOLDERS" ${ARGN})
  if(NOT VIEW_VIEW)
    set(VIEW_VIEW ${target})
  endif()
  set(view "${SCHEDQ_VIEWS}/view/${VIEW_VIEW}")
  target_include_directories(${target} PRIVATE "${view}")
  get_property(made GLOBAL PROPERTY SCHEDQ_VIEW_${VIEW_VIEW})
  if(made STREQUAL "${VIEW_FOLDERS}")
    return()
  elseif(made)
    message(FATAL_ERROR "view ${VIEW_VIEW}: ${target} names other folders than the target before")
  endif()
  set_property(GLOBAL PROPERTY SCHEDQ_VIEW_${VIEW_VIEW} "${VIEW_FOLDERS}")
  set(headers)
  foreach(folder IN LISTS VIEW_FOLDERS)
    set(search GLOB)
    if(folder MATCHES "/$")
      set(search GLOB_RECURSE)
    endif()
    string(REGEX REPLACE "/$" "" folder "${folder}")
    file(${search} found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
         "${PROJECT_SOURCE_DIR}/${folder}/*.h")
    list(APPEND headers ${found})
  endforeach()

  # Only what differs is touched: another build directory may be compiling with this view.
  file(GLOB_RECURSE stale RELATIVE "${view}" "${view}/*")
  list(REMOVE_ITEM stale ${headers})
  foreach(header IN LISTS stale)
    file(REMOVE "${view}/${header}")
  endforeach()
  foreach(header IN LISTS headers)
    if(NOT EXISTS "${view}/${header}")
      cmake_path(GET header PARENT_PATH folder)
      file(MAKE_DIRECTORY "${view}/${folder}")
      file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${header}" "${view}/${header}" SYMBOLIC)
    endif()
  endforeach()
endfunction()

option(SCHEDQ_BATCHES "Compile a target's sources in batches: half the time of a first build" OFF)
find_program(SCHEDQ_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(SCHEDQ_PYTHON NAMES python3 REQUIRED)

# schedq_batches(<out> <target> file...)
# What <target> compiles in place of these files: see batches.py. Only a build of each file by
# itself tells whether it includes what it uses, so the presets for people have no batches.
function(schedq_batches out target)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  list(LENGTH sources count)
  if(NOT SCHEDQ_BATCHES OR count LESS 2)
    set(${out} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/cmake/batches.py")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}" ${sources})
  execute_process(
    COMMAND "${SCHEDQ_PYTHON}" -B "${script}" "${PROJECT_SOURCE_DIR}"
            "${CMAKE_BINARY_DIR}/batches" ${target} ${sources}
    OUTPUT_VARIABLE batches OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" batches "${batches}")
  set(${out} ${batches} PARENT_SCOPE)
endfunction()

# Builds every library.
add_custom_target(schedq_libraries)

# schedq_library(<name> FOLDER folder SOURCES file... [SEES folder...] [LINKS target...])
# The library of one folder. SEES names every other folder whose headers it may include.
function(schedq_library name)
  cmake_parse_arguments(LIB "" "FOLDER" "SOURCES;SEES;LINKS" ${ARGN})
  schedq_batches(sources ${name} ${LIB_SOURCES})
  add_library(${name} STATIC ${sources})
  schedq_view(${name} FOLDERS ${LIB_FOLDER} ${LIB_SEES})
  target_link_libraries(${name} PUBLIC schedq_flags ${LIB_LINKS} PRIVATE schedq_warnings)
  add_dependencies(schedq_libraries ${name})
endfunction()

# schedq_program(<name> SOURCES file... [VIEW name] [SEES folder...] [LINKS target...])
function(schedq_program name)
  cmake_parse_arguments(PROGRAM "" "VIEW" "SOURCES;SEES;LINKS" ${ARGN})
  schedq_batches(sources ${name} ${PROGRAM_SOURCES})
  add_executable(${name} ${sources})
  schedq_view(${name} VIEW ${PROGRAM_VIEW} FOLDERS ${PROGRAM_SEES})
  target_link_libraries(${name} PRIVATE schedq_flags schedq_warnings ${PROGRAM_LINKS})
endfunction()
