# What `cmake --install` gives to others: headers, libschedq.a, libschedq.so, the CMake package, two
# pkg-config files and the program.
#
#   schedq::schedq         libschedq.a: the C++ interface and the C interface
#   schedq::schedq_shared  libschedq.so: the C interface only, whose structs carry their versions.
#                          The C++ one has standard types in its signatures, so that a shared
#                          library of it would have to be rebuilt with each of its users anyway.
#
# Headers stand under include/schedq/, which is what users put on their include path: nothing of
# ours but that folder lands in include/. Nobody has to compile with our -march or our warnings:
# no public type's layout depends on them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Folders find these for themselves only.
find_package(fmt REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(TBB REQUIRED)

set(SCHEDQ_INSTALLED_HEADERS
    dispatcher/api_call.h
    dispatcher/api_sink.h
    dispatcher/boxed.h
    dispatcher/report/pre_flight.h
    dispatcher/report/status_model.h
    engine/backoff.h
    engine/base/inline_vector.h
    engine/base/names/interner_forward.h
    engine/base/result.h
    engine/base/time/clock.h
    engine/base/time/maybe_instant.h
    engine/base/time/time.h
    engine/event.h
    engine/gates.h
    engine/label_selector.h
    engine/object.h
    engine/place.h
    engine/plugin.h
    engine/pod.h
    engine/pod_key.h
    engine/pod_rules.h
    engine/ports.h
    engine/pod_group.h
    engine/queue_answers.h
    engine/queueing_fields.h
    hints/plugin.h
    schedq/assembled_queue.h
    schedq/assembly_options.h
    schedq/attempt.h
    schedq/engine_kind.h
    schedq/plugin.h
    schedq/plugin_library.h
    schedq/schedq.h)

set(SCHEDQ_INSTALL_RECIPE "${PROJECT_SOURCE_DIR}/cmake/install")

# schedq_install_product(target...): these libraries are what is installed. Sanitized builds have
# nothing to install.
function(schedq_install_product)
  if(SCHEDQ_SANITIZE)
    return()
  endif()
  # Hidden, so that position independent code costs the program nothing.
  set_target_properties(${ARGN} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                           VISIBILITY_INLINES_HIDDEN ON)
  if(SCHEDQ_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Users link with whatever compiler they have.
    foreach(library IN LISTS ARGN)
      target_compile_options(${library} PRIVATE -ffat-lto-objects)
    endforeach()
  endif()

  set(objects)
  foreach(library IN LISTS ARGN)
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endforeach()
  set(dependencies fmt::fmt prometheus-cpp::core TBB::tbb Threads::Threads)

  add_library(schedq_static STATIC ${objects})
  set_target_properties(schedq_static PROPERTIES OUTPUT_NAME schedq EXPORT_NAME schedq
                                                 LINKER_LANGUAGE CXX)
  target_link_libraries(schedq_static INTERFACE "$<INSTALL_INTERFACE:schedq::installed_folly>"
                                                "$<INSTALL_INTERFACE:${dependencies}>")

  add_library(schedq_shared SHARED ${objects})
  set_target_properties(
    schedq_shared
    PROPERTIES OUTPUT_NAME schedq VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
               LINKER_LANGUAGE CXX LINK_DEPENDS "${SCHEDQ_INSTALL_RECIPE}/exported_symbols.map")
  target_link_options(
    schedq_shared PRIVATE "-Wl,--version-script=${SCHEDQ_INSTALL_RECIPE}/exported_symbols.map"
    -Wl,--no-undefined -Wl,--gc-sections)
  target_link_libraries(schedq_shared PRIVATE schedq_flags schedq_folly ${dependencies}
                                              ${CMAKE_DL_LIBS})

  foreach(library schedq_static schedq_shared)
    target_compile_features(${library} INTERFACE cxx_std_20)
    target_include_directories(
      ${library} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/schedq>")
  endforeach()
  # All that `cmake --install` needs.
  add_custom_target(schedq_installed DEPENDS schedq_static schedq_shared schedq)
  if(NOT CMAKE_CROSSCOMPILING)
    add_dependencies(schedq_installed schedq_manual)
  endif()
  schedq_install_files()
endfunction()

# schedq_install_program(<name>)
function(schedq_install_program name)
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()

# The archive of folly beside ours, under a name of ours; an installed folly is found again.
function(schedq_install_folly)
  if(TARGET schedq_folly_archive)
    get_target_property(archive schedq_folly_archive IMPORTED_LOCATION)
    install(FILES "${archive}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    set(SCHEDQ_FOLLY_INSTALLED FALSE PARENT_SCOPE)
  else()
    set(SCHEDQ_FOLLY_INSTALLED TRUE PARENT_SCOPE)
  endif()
endfunction()

function(schedq_install_files)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/schedq")
  foreach(header IN LISTS SCHEDQ_INSTALLED_HEADERS)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/schedq/${folder}")
  endforeach()
  install(TARGETS schedq_static EXPORT schedqStaticTargets)
  install(TARGETS schedq_shared EXPORT schedqSharedTargets)
  install(EXPORT schedqStaticTargets NAMESPACE schedq:: DESTINATION "${package}")
  install(EXPORT schedqSharedTargets NAMESPACE schedq:: DESTINATION "${package}")
  schedq_install_folly()

  configure_package_config_file(
    "${SCHEDQ_INSTALL_RECIPE}/schedqConfig.cmake.in" "${PROJECT_BINARY_DIR}/schedqConfig.cmake"
    INSTALL_DESTINATION "${package}" PATH_VARS CMAKE_INSTALL_LIBDIR)
  # Before 1.0 the C++ interface may change with each minor version.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/schedqConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/schedqConfig.cmake"
                "${PROJECT_BINARY_DIR}/schedqConfigVersion.cmake" DESTINATION "${package}")

  # The folder of these files says where everything stands, so that the prefix may be moved.
  file(RELATIVE_PATH SCHEDQ_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" SCHEDQ_PC_PREFIX "${SCHEDQ_PC_PREFIX}")
  set(SCHEDQ_PC_FOLLY "-lschedq_folly")
  if(SCHEDQ_FOLLY_INSTALLED)
    set(SCHEDQ_PC_FOLLY "-lfolly")
  endif()
  foreach(file schedq.pc schedq-static.pc)
    configure_file("${SCHEDQ_INSTALL_RECIPE}/${file}.in" "${PROJECT_BINARY_DIR}/${file}" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${file}"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endforeach()
endfunction()
