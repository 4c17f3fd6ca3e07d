# The documents: what they show is what the program prints, and figures are what their script draws.

# Not under the sanitizers, like all tests of what the program shows.
if(NOT SCHEDQ_SANITIZE)
  add_test(NAME unit.Documents
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/tutorial_test.py"
                   --program $<TARGET_FILE:schedq> "${PROJECT_SOURCE_DIR}/docs/tutorial.md"
                   "${PROJECT_SOURCE_DIR}/README.md")
  add_test(NAME unit.ContinuousIntegration
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/ci_test.py"
                   $<TARGET_FILE:schedq> "${PROJECT_SOURCE_DIR}/docs")
  set_tests_properties(unit.Documents unit.ContinuousIntegration
                       PROPERTIES LABELS unit TIMEOUT 600)
  add_dependencies(tests_unit schedq)
endif()

add_test(NAME lint.documents_canary
         COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/tutorial_test.py" --canary)
add_test(NAME lint.figures
         COMMAND "${SCHEDQ_PYTHON}" -B "${PROJECT_SOURCE_DIR}/docs/figures/draw.py" --check)
set_tests_properties(lint.documents_canary lint.figures PROPERTIES LABELS lint TIMEOUT 60)
