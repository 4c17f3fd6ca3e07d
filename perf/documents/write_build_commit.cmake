# Writes OUTPUT from TEMPLATE with the commit of SOURCE. An unchanged OUTPUT keeps its time.
find_program(git git)
set(SCHEDQ_COMMIT "unknown")
if(git)
  execute_process(
    COMMAND "${git}" -C "${SOURCE}" rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(SCHEDQ_COMMIT "${commit}")
    # --no-optional-locks keeps a build from disturbing a commit that is being made.
    execute_process(
      COMMAND "${git}" --no-optional-locks -C "${SOURCE}" status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND SCHEDQ_COMMIT "-dirty")
    endif()
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
