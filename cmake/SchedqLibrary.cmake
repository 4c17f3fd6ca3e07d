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

# schedq_view(<target> FOLDERS folder...)
# Lets <target> include "<folder>/..." for each folder given, but not that folder's subfolders
# unless they are given too.
function(schedq_view target)
  cmake_parse_arguments(VIEW "" "" "FOLDERS" ${ARGN})
  set(view "${SCHEDQ_VIEWS}/view/${target}")
  set(headers)
  foreach(folder IN LISTS VIEW_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
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
  target_include_directories(${target} PRIVATE "${view}")
endfunction()

# Builds every library.
add_custom_target(schedq_libraries)

# schedq_library(<name> FOLDER folder SOURCES file... [SEES folder...] [LINKS target...])
# The library of one folder. SEES names every other folder whose headers it may include.
function(schedq_library name)
  cmake_parse_arguments(LIB "" "FOLDER" "SOURCES;SEES;LINKS" ${ARGN})
  add_library(${name} STATIC ${LIB_SOURCES})
  schedq_view(${name} FOLDERS ${LIB_FOLDER} ${LIB_SEES})
  target_link_libraries(${name} PUBLIC schedq_flags ${LIB_LINKS})
  add_dependencies(schedq_libraries ${name})
endfunction()

# schedq_program(<name> SOURCES file... [SEES folder...] [LINKS target...])
function(schedq_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;SEES;LINKS" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  schedq_view(${name} FOLDERS ${PROGRAM_SEES})
  target_link_libraries(${name} PRIVATE schedq_flags ${PROGRAM_LINKS})
endfunction()
