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

# Only the runtime sees NVIDIA's headers.
add_library(heddle_cuda_headers INTERFACE)
target_include_directories(heddle_cuda_headers SYSTEM INTERFACE ${HEDDLE_CUDA_ROOT}/include)
