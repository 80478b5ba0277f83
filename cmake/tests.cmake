# What every test has. add_test(NAME … COMMAND …) is as usual; besides,
# - its cost is noted (tests/support/cost.sh),
# - with NIGHTLY PART it belongs to that part of `./dev nightly`, and `./dev test` leaves it out: it is of the
#   configuration "nightly" (`ctest -C nightly`) and has the label "nightly.PART". HEDDLE_NIGHT is set where it runs: a number,
#   from which it chooses what it looks at (tests/support/night.py).
# - Those that take long start first, so that no processor is idle at the end.
set(HEDDLE_LONG_TESTS cli.ranks.heddle_mpi cli.run cli.checkpoint users.project users.everything map.pairs.talk unit.jit check.findings cli.check
  check.idioms/clock_values map.mutants check.axb)
function(add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;WORKING_DIRECTORY;NIGHTLY" "COMMAND")
  list(GET arg_COMMAND 0 program)
  if(TARGET ${program}) # as a text: lists lose semicolons that are part of an argument
    string(REGEX REPLACE "^${program}" "$<TARGET_FILE:${program}>" arg_COMMAND "${arg_COMMAND}")
  endif()
  set(where)
  if(arg_WORKING_DIRECTORY)
    set(where WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
  endif()
  set(when)
  if(arg_NIGHTLY)
    set(when CONFIGURATIONS nightly)
  endif()
  _add_test(NAME ${arg_NAME} COMMAND ${CMAKE_SOURCE_DIR}/tests/support/cost.sh ${arg_NAME} ${arg_COMMAND} ${where} ${when})
  if(arg_NAME IN_LIST HEDDLE_LONG_TESTS)
    set_property(TEST ${arg_NAME} PROPERTY COST 1000)
  elseif(arg_NAME MATCHES "^static\\.") # seconds, and the first to be wrong
    set_property(TEST ${arg_NAME} PROPERTY COST 2000)
  endif()
  if(arg_NIGHTLY)
    set_property(TEST ${arg_NAME} PROPERTY LABELS nightly.${arg_NIGHTLY})
  endif()
endfunction()
