// What the files of the cuBLAS stand-in share: handles, codes, and how a call becomes work.
//
//   Work work(handle, "cublasSaxpy");
//   const auto a = work.scalar<float>("alpha", alpha);
//   const int x_at = work.vector("x", x, n, incx, sizeof(float), LibraryAccess::Read);
//   return work.submit([=](std::byte* const* at) { … a(at), at[x_at] … });
//
// The meaning of each call is that of NVIDIA's cuBLAS documentation: column-major matrices,
// arguments checked at the call, everything else in the order of the handle's stream.
#pragma once

#include "libraries/element.h"
#include "libraries/link.h"

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::libraries {

enum Status : int { // cublasStatus_t
  Success = 0,
  NotInitialized = 1,
  AllocationFailed = 3,
  InvalidValue = 7,
  ArchitectureMismatch = 8,
  MappingError = 11,
  ExecutionFailed = 13,
  InternalError = 14,
  NotSupported = 15
};

enum class Op : int { // cublasOperation_t
  None = 0,
  Transpose = 1,
  Adjoint = 2
};

struct Handle {
  void* stream = nullptr;
  bool scalars_on_device = false; // CUBLAS_POINTER_MODE_DEVICE
  int math_mode = 0;
  int atomics_mode = 0;
  int device = 0;
};

/// A value that is known at the call or lies in device memory.
template <class T> struct Scalar {
  T value{};
  int at = -1; // which memory of the work
  Computed<T> operator()(std::byte* const* memory) const {
    return at < 0 ? load<T>(&value) : load<T>(memory[at]);
  }
};

/// Elements of a vector, which begins at its end if the step is negative.
template <class T> class Elements {
public:
  Elements(std::byte* at, std::int64_t count, std::int64_t step)
      : at_(at + (step < 0 ? (1 - count) * step : 0) * static_cast<std::int64_t>(sizeof(T))),
        step_(step * static_cast<std::int64_t>(sizeof(T))) {}
  Computed<T> get(std::int64_t i) const { return load<T>(at_ + i * step_); }
  void set(std::int64_t i, Computed<T> value) const { store<T>(at_ + i * step_, value); }

private:
  std::byte* at_;
  std::int64_t step_;
};

class Work {
public:
  Work(const Handle* handle, const char* call) : handle_(*handle), call_(call) {}

  template <class T> Scalar<T> scalar(const char* name, const void* at) {
    Scalar<T> result;
    if (handle_.scalars_on_device) {
      result.at = add(name, at, sizeof(T), 1, 0, runtime::LibraryAccess::Read);
    } else {
      std::memcpy(&result.value, at, sizeof(T));
    }
    return result;
  }
  /// A result; if it lies in the program's own memory the call waits for it.
  int result(const char* name, void* at, std::size_t bytes) {
    waits_ = !handle_.scalars_on_device;
    return add(name, at, bytes, 1, 0, runtime::LibraryAccess::Write, waits_);
  }
  int vector(
      const char* name,
      const void* at,
      std::int64_t count,
      std::int64_t step,
      std::size_t bytes,
      runtime::LibraryAccess access
  ) {
    const std::uint64_t pitch = static_cast<std::uint64_t>(std::llabs(step)) * bytes;
    return step == 1 ? add(name, at, static_cast<std::uint64_t>(count) * bytes, 1, 0, access)
                     : add(name, at, bytes, static_cast<std::uint64_t>(count), pitch, access);
  }
  int matrix(
      const char* name,
      const void* at,
      std::int64_t rows,
      std::int64_t columns,
      std::int64_t leading,
      std::size_t bytes,
      runtime::LibraryAccess access
  ) {
    return add(
        name,
        at,
        static_cast<std::uint64_t>(rows) * bytes,
        static_cast<std::uint64_t>(columns),
        static_cast<std::uint64_t>(leading) * bytes,
        access
    );
  }
  int add(
      const char* name,
      const void* at,
      std::uint64_t width,
      std::uint64_t count,
      std::uint64_t pitch,
      runtime::LibraryAccess access,
      bool on_host = false
  ) {
    memory_.push_back({name, at, width, count, pitch, access, on_host});
    return static_cast<int>(memory_.size()) - 1;
  }

  /// `compute(std::byte* const* at)`: what the work does; `at` as the calls above have counted.
  template <class Compute> int submit(Compute compute) {
    auto owned = std::make_unique<Compute>(std::move(compute));
    const int code = cudart().work(
        handle_.stream,
        call_,
        memory_.data(),
        memory_.size(),
        [](void* data, std::byte* const* at) { (*static_cast<Compute*>(data))(at); },
        owned.release(),
        [](void* data) { delete static_cast<Compute*>(data); }
    );
    if (code != 0 || (waits_ && cudart().synchronize(handle_.stream) != 0)) {
      return ExecutionFailed;
    }
    return Success;
  }

private:
  Handle handle_;
  const char* call_;
  std::vector<runtime::LibraryMemory> memory_;
  bool waits_ = false;
};

} // namespace heddle::libraries
