// Error codes of the driver API: their names, and what the runtime's codes are among them.
#include "runtime/error.h"

#include "runtime/driver/driver.h"

namespace heddle::runtime {

CUresult driver_error(cudaError_t error) {
  switch (error) {
  // Codes that only the runtime has.
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidHostPointer:
  case cudaErrorInvalidDevicePointer:
  case cudaErrorInvalidTexture:
  case cudaErrorInvalidTextureBinding:
  case cudaErrorInvalidChannelDescriptor:
  case cudaErrorInvalidMemcpyDirection:
  case cudaErrorInvalidFilterSetting:
  case cudaErrorInvalidNormSetting:
  case cudaErrorInvalidSurface:
    return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol:
    return CUDA_ERROR_NOT_FOUND;
  case cudaErrorInvalidDeviceFunction:
    return CUDA_ERROR_INVALID_HANDLE;
  default:
    return static_cast<CUresult>(error);
  }
}

const char* driver_error_name(CUresult code) {
  switch (static_cast<int>(code)) {
#define HEDDLE_DRIVER_ERROR(number, name)                                                          \
  case number:                                                                                     \
    return #name;
#include "runtime/driver/error.def"
#undef HEDDLE_DRIVER_ERROR
  default:
    return nullptr;
  }
}

} // namespace heddle::runtime

using namespace heddle::runtime;

#pragma GCC visibility push(default)
extern "C" {

CUresult cuGetErrorName(CUresult code, const char** name) {
  if (name == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *name = driver_error_name(code);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  if (text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool known = driver_error_name(code) != nullptr;
  *text = known ? error_text(static_cast<cudaError_t>(code)) : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // extern "C"
#pragma GCC visibility pop
