# What is used when present: ccache, lld, nvcc, lit, formatter. Nothing here is downloaded.
find_program(HEDDLE_CCACHE ccache)
if(HEDDLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${HEDDLE_CCACHE})
  # As its manual asks for with precompiled headers, which must then hold no times.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${HEDDLE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld HEDDLE_HAVE_LLD)
if(HEDDLE_HAVE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(HEDDLE_SANITIZE)
  # The runtime library is loaded into programs that are not instrumented, so the sanitizer must be a
  # shared library too (`heddle run` then preloads it, see src/cli/run/launch.cpp).
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_link_options(-shared-libsan)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
      OUTPUT_VARIABLE HEDDLE_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(sanitizer_folder "${HEDDLE_SANITIZER_RUNTIME}" DIRECTORY)
    add_link_options(-Wl,-rpath,${sanitizer_folder})
  endif()
endif()

# nvcc compiles test programs and benchmarks, never Heddle itself. `./dev` unpacks one into
# build/cuda where none is installed.
find_program(HEDDLE_NVCC nvcc HINTS /usr/local/cuda/bin ${CMAKE_SOURCE_DIR}/build/cuda/bin)
find_program(HEDDLE_LIT NAMES lit-22 lit)
find_program(HEDDLE_CLANG_FORMAT clang-format-22)
find_program(HEDDLE_CODESPELL codespell)
find_program(HEDDLE_SHELLCHECK shellcheck)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# The interpreter itself: what looks like one may be a script that chooses among several, which takes a tenth of a second each time.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE Python3_EXECUTABLE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
