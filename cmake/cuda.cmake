include_guard(GLOBAL)
# HEDDLE_CUDA_ROOT: the CUDA toolkit whose headers give the runtime library its signatures: the one
# that HEDDLE_NVCC belongs to. Nothing of it is linked.
set(HEDDLE_CUDA_ROOT "" CACHE PATH "CUDA toolkit (empty: the one that nvcc belongs to)")

if(NOT HEDDLE_CUDA_ROOT)
  set(candidates "")
  if(HEDDLE_NVCC)
    file(REAL_PATH ${HEDDLE_NVCC} nvcc_real)
    get_filename_component(nvcc_bin ${nvcc_real} DIRECTORY)
    get_filename_component(nvcc_root ${nvcc_bin} DIRECTORY)
    list(APPEND candidates ${nvcc_root})
  endif()
  list(APPEND candidates ${CMAKE_SOURCE_DIR}/build/cuda /usr/local/cuda)
  foreach(root IN LISTS candidates)
    if(EXISTS ${root}/include/cuda_runtime_api.h)
      set(HEDDLE_CUDA_ROOT ${root} CACHE PATH "" FORCE)
      break()
    endif()
  endforeach()
endif()

if(NOT EXISTS ${HEDDLE_CUDA_ROOT}/include/cuda_runtime_api.h)
  message(FATAL_ERROR
    "No CUDA toolkit: put nvcc on PATH, set HEDDLE_CUDA_ROOT, or run ./dev build, which unpacks one "
    "into build/cuda (looked for include/cuda_runtime_api.h in '${HEDDLE_CUDA_ROOT}')")
endif()

# Only the runtime sees the headers of NVIDIA's API.
add_library(heddle_cuda_headers INTERFACE)
target_include_directories(heddle_cuda_headers SYSTEM INTERFACE ${HEDDLE_CUDA_ROOT}/include)

# include/heddle: what it needs of libcu++. Programs of users, tests, and the explorer's set of
# visited states.
find_package(Threads REQUIRED)
add_library(heddle_map_headers INTERFACE)
target_include_directories(heddle_map_headers INTERFACE ${CMAKE_SOURCE_DIR}/include)
if(EXISTS ${HEDDLE_CUDA_ROOT}/include/cccl)
  target_include_directories(heddle_map_headers SYSTEM INTERFACE ${HEDDLE_CUDA_ROOT}/include/cccl)
endif()
target_include_directories(heddle_map_headers SYSTEM INTERFACE ${HEDDLE_CUDA_ROOT}/include)
target_compile_features(heddle_map_headers INTERFACE cxx_std_17)
target_link_libraries(heddle_map_headers INTERFACE Threads::Threads)
