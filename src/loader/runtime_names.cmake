# Writes OUTPUT: the name of each function of the runtime API that one of LIBRARIES exports, quoted,
# in ascending order, so that it can be searched by bisection.
#   cmake -D NM=nm -D "LIBRARIES=a.so;b.so" -D OUTPUT=runtime_names.inc -P runtime_names.cmake
set(names)
foreach(library IN LISTS LIBRARIES)
  execute_process(COMMAND ${NM} -D --defined-only ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ [TWi] (cuda|__cuda)[A-Za-z0-9_]*" symbols "${symbols}")
  list(TRANSFORM symbols REPLACE "^[0-9a-f]+ [TWi] " "")
  list(APPEND names ${symbols})
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names COMPARE STRING CASE SENSITIVE)
list(TRANSFORM names REPLACE "(.+)" "\"\\1\",")
list(JOIN names "\n" text)
file(WRITE ${OUTPUT} "// Made by runtime_names.cmake.\n${text}\n")
