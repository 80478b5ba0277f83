# One static library per folder of src/, so that the linker sees the layers too: heddle_library, below.
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
if(HEDDLE_TESTS)
  find_package(GTest REQUIRED)
endif()
find_package(Threads REQUIRED)

add_library(heddle_options INTERFACE)
target_include_directories(heddle_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
target_compile_options(heddle_options INTERFACE -Wall -Wextra -fno-strict-aliasing -march=x86-64-v3 -mcx16
  -fvisibility=hidden -fvisibility-inlines-hidden
  # PTX arithmetic is exact: no contraction that the PTX does not ask for, no errno from libm.
  -ffp-contract=off -fno-math-errno
  $<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
target_link_libraries(heddle_options INTERFACE fmt::fmt tl::expected Threads::Threads)

# Where gcc warns without a reason.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(unfounded
    -Wno-array-bounds # of sums of std::string, gcc 12
    -Wno-stringop-overflow # the same
    -Wno-maybe-uninitialized # of the value of a std::optional that is asked first
    -Wno-tautological-compare # of a template's arguments, which are the same for some of them
    -Wno-subobject-linkage) # of a source file that another one includes: HEDDLE_TOGETHER
  list(TRANSFORM unfounded REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_compile_options(heddle_options INTERFACE ${unfounded})
endif()

# What most files include is read once, which saves a quarter of the time of a build. Files still include
# what they use: the preset asan builds without this.
set(HEDDLE_COMMON_HEADERS <algorithm> <array> <bit> <cstddef> <cstdint> <cstring> <deque> <functional> <map> <memory> <optional>
  <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>)
file(WRITE ${CMAKE_BINARY_DIR}/generated/precompiled.cpp "")
function(heddle_precompiled name)
  add_library(heddle_precompiled_${name} OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
  target_link_libraries(heddle_precompiled_${name} PRIVATE heddle_options)
  target_precompile_headers(heddle_precompiled_${name} PRIVATE ${HEDDLE_COMMON_HEADERS} ${ARGN})
endfunction()
heddle_precompiled(library)

# Who builds once, from nothing, need not compile one file at a time: ten as one take half of the time. Who changes
# a file would wait for ten.
if(HEDDLE_TESTS)
  option(HEDDLE_TOGETHER "Compile ten files of a library as one: less work from nothing, more after a change" OFF)
else()
  option(HEDDLE_TOGETHER "Compile ten files of a library as one: less work from nothing, more after a change" ON)
endif()
# What executables that test something read once, compiled with more flags.
function(heddle_precompiled_for_tests name)
  heddle_precompiled(${name} <gtest/gtest.h> <gmock/gmock.h>)
  # Executables are compiled with -fPIE, and so must be what they read.
  set_target_properties(heddle_precompiled_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(heddle_precompiled_${name} PRIVATE -fPIE ${ARGN})
  target_link_libraries(heddle_precompiled_${name} PRIVATE GTest::gtest GTest::gmock)
endfunction()
if(HEDDLE_TESTS)
  heddle_precompiled_for_tests(test)
  if(HEDDLE_TOGETHER)
    heddle_precompiled_for_tests(quick_test -O0)
  endif()
endif()
# A program that tests something without GoogleTest reads the same: gcc wants the same flags for that.
function(heddle_test_program target)
  target_precompile_headers(${target} REUSE_FROM heddle_precompiled_test)
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
endfunction()
# A test itself is not optimised with HEDDLE_TOGETHER: compiling it takes longer than it runs. What it tests is.
function(heddle_quick_test target)
  if(HEDDLE_TOGETHER)
    target_compile_options(${target} PRIVATE -O0)
    target_precompile_headers(${target} REUSE_FROM heddle_precompiled_quick_test)
  else()
    target_precompile_headers(${target} REUSE_FROM heddle_precompiled_test)
  endif()
endfunction()

function(heddle_together target)
  if(HEDDLE_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    if(ARGN)
      set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# heddle_library(name SOURCES … DEPENDS … [ALONE …] [HEADERS …] [QUICK]).
# ALONE: sources that use a name for themselves that another one uses, too, so that they cannot be one file.
# HEADERS: what most files of the layer include is read once, with HEDDLE_TOGETHER.
# QUICK: so is the layer compiled with -O1, because nothing waits for this code. It needs HEADERS of its own.
function(heddle_library name)
  cmake_parse_arguments(ARG "QUICK" "" "SOURCES;DEPENDS;HEADERS;ALONE" ${ARGN})
  add_library(heddle_${name} STATIC ${ARG_SOURCES})
  heddle_together(heddle_${name} ${ARG_ALONE})
  target_link_libraries(heddle_${name} PUBLIC heddle_options)
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(heddle_${name} PUBLIC heddle_${dep})
  endforeach()
  if(NOT HEDDLE_TOGETHER OR NOT ARG_HEADERS)
    target_precompile_headers(heddle_${name} REUSE_FROM heddle_precompiled_library)
  else()
    list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/src/ REGEX "^[^<]")
    target_precompile_headers(heddle_${name} PRIVATE ${HEDDLE_COMMON_HEADERS} ${ARG_HEADERS})
  endif()
  if(ARG_QUICK AND ARG_HEADERS AND HEDDLE_TOGETHER)
    target_compile_options(heddle_${name} PRIVATE -O1)
  endif()
endfunction()

# heddle_unit_test(folder DEPENDS … SOURCES … [ALONE …] [BUSY]): GoogleTest binary unit_<folder>. ALONE: as heddle_library's.
# BUSY: it is optimised always, because it computes for seconds by itself.
include(GoogleTest)
function(heddle_unit_test name)
  cmake_parse_arguments(ARG "BUSY" "" "SOURCES;DEPENDS;ALONE" ${ARGN})
  add_executable(unit_${name} ${ARG_SOURCES})
  heddle_together(unit_${name} ${ARG_ALONE})
  target_link_libraries(unit_${name} PRIVATE heddle_options GTest::gtest GTest::gmock GTest::gtest_main)
  if(ARG_BUSY)
    target_precompile_headers(unit_${name} REUSE_FROM heddle_precompiled_test)
  else()
    heddle_quick_test(unit_${name})
  endif()
  target_compile_definitions(unit_${name} PRIVATE HEDDLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HEDDLE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(unit_${name} PRIVATE heddle_${dep})
  endforeach()
  add_test(NAME unit.${name} COMMAND unit_${name})
endfunction()
