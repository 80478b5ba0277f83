# What every test has: its cost is noted (tests/support/cost.sh). add_test(NAME … COMMAND …) is as usual.
function(add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;WORKING_DIRECTORY" "COMMAND")
  list(GET arg_COMMAND 0 program)
  if(TARGET ${program}) # as a text: lists lose semicolons that are part of an argument
    string(REGEX REPLACE "^${program}" "$<TARGET_FILE:${program}>" arg_COMMAND "${arg_COMMAND}")
  endif()
  set(where)
  if(arg_WORKING_DIRECTORY)
    set(where WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
  endif()
  _add_test(NAME ${arg_NAME} COMMAND ${CMAKE_SOURCE_DIR}/tests/support/cost.sh ${arg_NAME} ${arg_COMMAND} ${where})
endfunction()
