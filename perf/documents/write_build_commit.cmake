# Writes OUTPUT from TEMPLATE with the commit of SOURCE; leaves it alone when nothing changed.
find_program(git git)
set(SCHEDQ_COMMIT "unknown")
if(git)
  execute_process(
    COMMAND "${git}" -C "${SOURCE}" rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(SCHEDQ_COMMIT "${commit}")
    # Without optional locks, so that a build never disturbs a commit that is being made.
    execute_process(
      COMMAND "${git}" --no-optional-locks -C "${SOURCE}" status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND SCHEDQ_COMMIT "-dirty")
    endif()
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
