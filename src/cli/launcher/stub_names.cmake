# Writes OUTPUT: one `heddle_cc_name` for each function that LIBRARIES export to programs.
#   cmake -D NM=nm -D "LIBRARIES=a.so;b.so" -D OUTPUT=stub_names.inc -P stub_names.cmake
set(text "/* Made by stub_names.cmake. */\n")
foreach(library IN LISTS LIBRARIES)
  execute_process(COMMAND ${NM} -D --defined-only ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ [TWi] (cuda|__cuda|__tsan)[A-Za-z0-9_]*" symbols "${symbols}")
  list(TRANSFORM symbols REPLACE "^[0-9a-f]+ [TWi] " "")
  list(APPEND names ${symbols})
endforeach()
list(REMOVE_DUPLICATES names)
foreach(name IN LISTS names)
  string(APPEND text "__asm__(\"heddle_cc_name ${name}\\n\");\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
