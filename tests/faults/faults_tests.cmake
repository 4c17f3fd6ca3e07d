# Faults of the system under every command that reads or writes. A short sweep each time, the whole
# one by hand: tests/faults/README.md. Sanitizers have an allocator of their own, and take longer
# than a signal leaves.

if(NOT SCHEDQ_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_library(fault_injector SHARED "${CMAKE_CURRENT_LIST_DIR}/fault_injector.cc")
  target_compile_features(fault_injector PRIVATE cxx_std_20)
  # It must not be inlined into what calls the functions that it replaces.
  target_compile_options(fault_injector PRIVATE -fno-builtin -fno-lto)
  target_link_libraries(fault_injector PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(tests_unit fault_injector schedq)
  add_test(NAME unit.Faults
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/fault_sweep.py" --short
                   "$<TARGET_FILE:schedq>" "$<TARGET_FILE:fault_injector>")
  set_tests_properties(unit.Faults PROPERTIES LABELS unit TIMEOUT 300)
  add_test(NAME unit.Moments
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/moments_test.py" --trials 2
                   "$<TARGET_FILE:schedq>")
  set_tests_properties(unit.Moments PROPERTIES LABELS unit TIMEOUT 300)
endif()

# Not under the thread sanitizer: the program's own tests are not, either.
if(NOT SCHEDQ_SANITIZE MATCHES "thread")
  add_test(NAME unit.RootFiles
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/root_files_test.py"
                   "$<TARGET_FILE:schedq>")
  set_tests_properties(unit.RootFiles PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)
  add_dependencies(tests_unit schedq)
endif()
