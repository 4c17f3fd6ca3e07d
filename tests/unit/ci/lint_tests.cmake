# Canaries: what the build, ci/lint and the sanitizers promise to catch.

foreach(canary upward_include relative_include missing_standard_include missing_include
        include_in_vain long_file long_function unformatted_line machine_path missing_readme
        unquoted_variable missing_file missing_name missing_link missing_heading missing_flag
        idle_foreign_name)
  add_test(NAME lint.${canary} COMMAND "${CMAKE_CURRENT_LIST_DIR}/lint_canaries.sh"
                                       "${PROJECT_SOURCE_DIR}/ci/lint" ${canary})
  set_tests_properties(lint.${canary} PROPERTIES LABELS lint TIMEOUT 60)
endforeach()

# schedq_view_canary(<name> <upward>): builds a tree of two folders.
function(schedq_view_canary name upward)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  add_test(NAME lint.${name}
           COMMAND "${CMAKE_CTEST_COMMAND}" --build-and-test
                   "${CMAKE_CURRENT_LIST_DIR}/view_canary" "${directory}" --build-generator Ninja
                   --build-options "-DSCHEDQ_CMAKE=${PROJECT_SOURCE_DIR}/cmake" -DUPWARD=${upward}
                                   "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
  set_tests_properties(lint.${name} PROPERTIES LABELS lint TIMEOUT 60)
endfunction()
schedq_view_canary(view_without_upward_include OFF)
schedq_view_canary(view_with_upward_include ON)
set_tests_properties(
  lint.view_with_upward_include
  PROPERTIES PASS_REGULAR_EXPRESSION "upper/upper.h: No such file|'upper/upper.h' file not found")

if(SCHEDQ_SANITIZE MATCHES "thread")
  schedq_program(race_canary SOURCES ci/race_canary.cc)
  add_dependencies(tests_unit race_canary)
  add_test(NAME unit.race_canary COMMAND race_canary)
  set_tests_properties(unit.race_canary PROPERTIES LABELS unit PASS_REGULAR_EXPRESSION
                                                   "WARNING: ThreadSanitizer: data race")
endif()
