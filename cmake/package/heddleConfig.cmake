# find_package(heddle): heddle_add_check, and the programs HEDDLE_EXECUTABLE and HEDDLE_CC_EXECUTABLE.
#
#   heddle_add_check(NAME scan.check SOURCES scan.cu main.cu [ARGS 4 128] [NVCC_FLAGS -O2 -Iinclude]
#                    [CHECK_FLAGS --progress=obe] [EXPECT terminates|may-hang] [EXPECT_EXIT 3])
#   heddle_add_check(NAME app.check TARGET app …)        # a target compiled through heddle-cc
#
# registers a CTest test: `heddle check` on the program. EXPECT terminates (the default) passes if every
# schedule ends and no other defect is found; a search that ends at its limit does not pass. EXPECT may-hang
# passes if a hang is found, for programs that are known to hang. The program's own exit status counts: it
# must be 0, or what EXPECT_EXIT names, under every schedule.
get_filename_component(HEDDLE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(HEDDLE_EXECUTABLE "${HEDDLE_PREFIX}/bin/heddle")
set(HEDDLE_CC_EXECUTABLE "${HEDDLE_PREFIX}/bin/heddle-cc")

function(heddle_add_check)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;TARGET;EXPECT;EXPECT_EXIT" "SOURCES;ARGS;NVCC_FLAGS;CHECK_FLAGS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME)
    message(FATAL_ERROR "heddle_add_check(NAME … SOURCES …): unexpected '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(ARG_TARGET AND NOT ARG_SOURCES)
    set(program $<TARGET_FILE:${ARG_TARGET}>)
    set(flags "")
  elseif(ARG_SOURCES AND NOT ARG_TARGET)
    # The first .cu file is the program that heddle compiles, the others go along with it.
    set(program "")
    set(words ${ARG_NVCC_FLAGS})
    foreach(source IN LISTS ARG_SOURCES)
      get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      if(NOT program AND source MATCHES "\\.cu$")
        set(program "${source}")
      else()
        list(APPEND words "${source}")
      endif()
    endforeach()
    if(NOT program)
      message(FATAL_ERROR "heddle_add_check(${ARG_NAME}): no .cu file among '${ARG_SOURCES}'")
    endif()
    set(flags "")
    foreach(word IN LISTS words)
      string(REPLACE "'" "'\\''" word "${word}")
      string(APPEND flags "'${word}' ")
    endforeach()
    if(flags)
      set(flags --nvcc "${flags}")
    endif()
  else()
    message(FATAL_ERROR "heddle_add_check(${ARG_NAME}): either SOURCES or TARGET")
  endif()
  if(DEFINED ARG_EXPECT_EXIT)
    list(APPEND ARG_CHECK_FLAGS --expect-exit=${ARG_EXPECT_EXIT})
  endif()
  set(arguments "")
  if(ARG_ARGS)
    set(arguments -- ${ARG_ARGS})
  endif()
  add_test(NAME ${ARG_NAME}
    COMMAND "${HEDDLE_EXECUTABLE}" check ${flags} ${ARG_CHECK_FLAGS} "${program}" ${arguments})
  if(NOT ARG_EXPECT OR ARG_EXPECT STREQUAL "terminates")
    # The exit code decides.
  elseif(ARG_EXPECT STREQUAL "may-hang")
    set_tests_properties(${ARG_NAME} PROPERTIES PASS_REGULAR_EXPRESSION ": may hang: [0-9]+ finding")
  else()
    message(FATAL_ERROR "heddle_add_check(${ARG_NAME}): EXPECT terminates or EXPECT may-hang")
  endif()
endfunction()
