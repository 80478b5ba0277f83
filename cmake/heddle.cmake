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
if(HEDDLE_TESTS)
  heddle_precompiled(test <gtest/gtest.h> <gmock/gmock.h>)
  # Executables are compiled with -fPIE, and so must be what they read.
  set_target_properties(heddle_precompiled_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(heddle_precompiled_test PRIVATE -fPIE)
  target_link_libraries(heddle_precompiled_test PRIVATE GTest::gtest GTest::gmock)
endif()

# Who builds once, from nothing, need not compile one file at a time: ten as one take half of the time. Who changes
# a file would wait for ten.
if(HEDDLE_TESTS)
  option(HEDDLE_TOGETHER "Compile ten files of a library as one: less work from nothing, more after a change" OFF)
else()
  option(HEDDLE_TOGETHER "Compile ten files of a library as one: less work from nothing, more after a change" ON)
endif()
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
    target_compile_options(heddle_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# heddle_unit_test(folder DEPENDS … SOURCES …): GoogleTest binary unit_<folder>.
include(GoogleTest)
function(heddle_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(unit_${name} ${ARG_SOURCES})
  target_link_libraries(unit_${name} PRIVATE heddle_options GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(unit_${name} REUSE_FROM heddle_precompiled_test)
  target_compile_definitions(unit_${name} PRIVATE HEDDLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HEDDLE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(unit_${name} PRIVATE heddle_${dep})
  endforeach()
  add_test(NAME unit.${name} COMMAND unit_${name})
endfunction()
