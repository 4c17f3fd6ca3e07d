# spin_test(<model> <fault>...): the model in <model>.pml holds, and with each fault it does not.
function(spin_test model)
  add_test(NAME lint.spin_${model}
           COMMAND "${SCHEDQ_PYTHON}" -B "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_model.py"
                   "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${model}.pml" ${ARGN})
  set_tests_properties(lint.spin_${model} PROPERTIES LABELS lint TIMEOUT 300)
endfunction()

spin_test(two_sided_rule READS_ONCE ENTERS_LAST SCANS_FIRST)
spin_test(owed_ticket
          ANNOUNCES_LATE CLEARS_EARLY SEES_WITHOUT_HELP EMPTY_WITHOUT_HELP TAKES_TICKET_FIRST
          CLEARS_BLINDLY CLEARS_TOO_SOON POPS_BLINDLY)
