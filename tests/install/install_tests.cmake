# What is installed, as its users find it. Sanitized builds have nothing to install.

find_program(SCHEDQ_GCC NAMES g++)
find_program(SCHEDQ_CLANG NAMES clang++)
set(compilers)
foreach(compiler SCHEDQ_GCC SCHEDQ_CLANG)
  if(${compiler})
    list(APPEND compilers "${${compiler}}")
  endif()
endforeach()
list(JOIN compilers "," compilers)
add_test(NAME lint.installed_headers
         COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/headers_test.py"
                 "${PROJECT_SOURCE_DIR}" "${compilers}" ${SCHEDQ_INSTALLED_HEADERS})
set_tests_properties(lint.installed_headers PROPERTIES LABELS lint TIMEOUT 300)

if(NOT SCHEDQ_SANITIZE)
  add_dependencies(tests_unit schedq_installed)
  add_test(NAME unit.install
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/install_test.py"
                   "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/examples" "${CMAKE_COMMAND}"
                   "${CMAKE_CXX_COMPILER}")
  set_tests_properties(unit.install PROPERTIES LABELS unit TIMEOUT 600)
endif()
