# That each piece of the museum applies, and that trials tell right from wrong; trials run by hand.
add_test(NAME lint.museum
         COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/trial.py" --check)
add_test(NAME lint.museum_canary
         COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/trial.py" --canary)
add_test(NAME lint.gate_canary
         COMMAND "${SCHEDQ_PYTHON}" -B "${PROJECT_SOURCE_DIR}/tests/gate/false_alarms.py" --canary)
set_tests_properties(lint.museum lint.museum_canary lint.gate_canary
                     PROPERTIES LABELS lint TIMEOUT 60)
