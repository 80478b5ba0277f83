// cuBLAS: handles, modes, versions, names of codes, and copies of vectors and matrices.
#include "libraries/cublas.h"

using namespace heddle::libraries;

namespace {

template <class Use> int with(Handle* handle, Use use) {
  if (handle == nullptr) {
    return NotInitialized;
  }
  return use(*handle);
}

template <class T> int answer(T* place, T value) {
  if (place == nullptr) {
    return InvalidValue;
  }
  *place = value;
  return Success;
}

const char* name_of(int status) {
  switch (status) {
  case Success:
    return "CUBLAS_STATUS_SUCCESS";
  case NotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case AllocationFailed:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case InvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case ArchitectureMismatch:
    return "CUBLAS_STATUS_ARCH_MISMATCH";
  case MappingError:
    return "CUBLAS_STATUS_MAPPING_ERROR";
  case ExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case InternalError:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  case NotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "CUBLAS_STATUS_UNKNOWN";
  }
}

/// Between host and device, on a stream; `wait`: until it is over.
int copy(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t bytes,
    const void* from,
    std::int64_t from_leading,
    void* to,
    std::int64_t to_leading,
    void* stream,
    bool wait
) {
  constexpr int by_address = 4; // cudaMemcpyDefault
  if (rows < 0 || columns < 0 || bytes <= 0 || from_leading <= 0 || to_leading <= 0) {
    return InvalidValue;
  }
  if (rows == 0 || columns == 0) {
    return Success;
  }
  const auto size = [&](std::int64_t n) { return static_cast<std::size_t>(n * bytes); };
  const bool works = cudart().copy_2d(
                         to,
                         size(to_leading),
                         from,
                         size(from_leading),
                         size(rows),
                         static_cast<std::size_t>(columns),
                         by_address,
                         stream
                     ) == 0 &&
                     (!wait || cudart().synchronize(stream) == 0);
  return works ? Success : MappingError;
}

constexpr int version = HEDDLE_CUDA_MAJOR_NUMBER * 10000;

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int cublasCreate_v2(Handle** handle) {
  static_cast<void>(cudart());
  return answer(handle, new Handle);
}
int cublasDestroy_v2(Handle* handle) {
  return with(handle, [](Handle& h) {
    delete &h;
    return Success;
  });
}
int cublasGetVersion_v2(Handle* handle, int* value) {
  return with(handle, [&](Handle&) { return answer(value, version); });
}
int cublasGetProperty(int which, int* value) { // major, minor, patch
  return which < 0 || which > 2 ? InvalidValue
                                : answer(value, which == 0 ? HEDDLE_CUDA_MAJOR_NUMBER : 0);
}
std::size_t cublasGetCudartVersion() {
  return HEDDLE_CUDA_MAJOR_NUMBER * 1000;
}
const char* cublasGetStatusName(int status) {
  return name_of(status);
}
const char* cublasGetStatusString(int status) {
  return name_of(status);
}
int cublasSetStream_v2(Handle* handle, void* stream) {
  return with(handle, [&](Handle& h) {
    h.stream = stream;
    return Success;
  });
}
int cublasGetStream_v2(Handle* handle, void** stream) {
  return with(handle, [&](Handle& h) { return answer(stream, h.stream); });
}
int cublasSetPointerMode_v2(Handle* handle, int mode) {
  return with(handle, [&](Handle& h) {
    h.scalars_on_device = mode == 1;
    return mode == 0 || mode == 1 ? Success : InvalidValue;
  });
}
int cublasGetPointerMode_v2(Handle* handle, int* mode) {
  return with(handle, [&](Handle& h) { return answer(mode, h.scalars_on_device ? 1 : 0); });
}
int cublasSetMathMode(Handle* handle, int mode) {
  return with(handle, [&](Handle& h) {
    h.math_mode = mode;
    return Success;
  });
}
int cublasGetMathMode(Handle* handle, int* mode) {
  return with(handle, [&](Handle& h) { return answer(mode, h.math_mode); });
}
int cublasSetAtomicsMode(Handle* handle, int mode) {
  return with(handle, [&](Handle& h) {
    h.atomics_mode = mode;
    return Success;
  });
}
int cublasGetAtomicsMode(Handle* handle, int* mode) {
  return with(handle, [&](Handle& h) { return answer(mode, h.atomics_mode); });
}
// No call needs memory for itself.
int cublasSetWorkspace_v2(Handle* handle, void* /*memory*/, std::size_t /*bytes*/) {
  return with(handle, [](Handle&) { return Success; });
}
int cublasLoggerConfigure(int /*on*/, int /*out*/, int /*err*/, const char* /*file*/) {
  return Success;
}
int cublasSetLoggerCallback(void* /*callback*/) {
  return Success;
}

// clang-format off
#define HEDDLE_COPIES(I, s)                                                                         \
  int cublasSetVector##s(I n, I bytes, const void* x, I ix, void* y, I iy) {                          \
    return copy(1, n, bytes, x, ix, y, iy, nullptr, true); }                                        \
  int cublasGetVector##s(I n, I bytes, const void* x, I ix, void* y, I iy) {                          \
    return copy(1, n, bytes, x, ix, y, iy, nullptr, true); }                                        \
  int cublasSetVectorAsync##s(I n, I bytes, const void* x, I ix, void* y, I iy, void* stream) {       \
    return copy(1, n, bytes, x, ix, y, iy, stream, false); }                                        \
  int cublasGetVectorAsync##s(I n, I bytes, const void* x, I ix, void* y, I iy, void* stream) {       \
    return copy(1, n, bytes, x, ix, y, iy, stream, false); }                                        \
  int cublasSetMatrix##s(I m, I n, I bytes, const void* a, I lda, void* b, I ldb) {                   \
    return copy(m, n, bytes, a, lda, b, ldb, nullptr, true); }                                      \
  int cublasGetMatrix##s(I m, I n, I bytes, const void* a, I lda, void* b, I ldb) {                   \
    return copy(m, n, bytes, a, lda, b, ldb, nullptr, true); }                                      \
  int cublasSetMatrixAsync##s(I m, I n, I bytes, const void* a, I lda, void* b, I ldb, void* stream) { \
    return copy(m, n, bytes, a, lda, b, ldb, stream, false); }                                      \
  int cublasGetMatrixAsync##s(I m, I n, I bytes, const void* a, I lda, void* b, I ldb, void* stream) { \
    return copy(m, n, bytes, a, lda, b, ldb, stream, false); }
// clang-format on
HEDDLE_COPIES(int, )
HEDDLE_COPIES(std::int64_t, _64)

} // extern "C"
#pragma GCC visibility pop
