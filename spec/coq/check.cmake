# Checks the proofs in a folder of the build tree, and that none of them rests on an axiom.
foreach(name simt liveness axioms)
  file(COPY ${FROM}/${name}.v DESTINATION ${TO})
  execute_process(COMMAND ${COQC} -q ${name}.v WORKING_DIRECTORY ${TO}
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(failed)
    message(FATAL_ERROR "${name}.v:\n${output}${errors}")
  endif()
endforeach()
string(REGEX MATCHALL "Closed under the global context" closed "${output}")
list(LENGTH closed count)
if(NOT count EQUAL 8)
  message(FATAL_ERROR "a theorem rests on an axiom or on something admitted:\n${output}")
endif()
