# One library a folder, dependencies one way.
#
# A target compiles against a *view*: a directory of links under the build tree that holds the
# folders that it may include and nothing else. An include that points upwards does not resolve, so
# the build fails. ci/lint names the offending line; this file makes it impossible to merge one.

# schedq_view(<target> FOLDERS folder...)
# Lets <target> include "<folder>/..." for each folder given, but not that folder's subfolders
# unless they are given too.
function(schedq_view target)
  cmake_parse_arguments(VIEW "" "" "FOLDERS" ${ARGN})
  set(view "${CMAKE_BINARY_DIR}/view/${target}")
  file(REMOVE_RECURSE "${view}")
  foreach(folder IN LISTS VIEW_FOLDERS)
    file(MAKE_DIRECTORY "${view}/${folder}")
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
         "${PROJECT_SOURCE_DIR}/${folder}/*.h")
    foreach(header IN LISTS headers)
      file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${header}" "${view}/${header}" SYMBOLIC)
    endforeach()
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
