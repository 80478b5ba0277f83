// Where a map's memory comes from. An allocator has allocate(bytes), deallocate(pointer, bytes) and
// says who may touch the memory; the map refuses at compile time what that rules out. Memory is
// aligned to 128 bytes at least.
#pragma once

#include "configuration.cuh"

#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace heddle {

/// Ordinary memory of the host.
struct host_allocator {
  static constexpr bool host_accessible = true;
  static constexpr bool device_accessible = false;
  void* allocate(std::size_t bytes) const {
    void* memory = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    return memory;
  }
  void deallocate(void* memory, std::size_t) const noexcept { std::free(memory); }
};

#if defined(__CUDACC__)

/// A CUDA call failed. `code()` is what it returned.
class cuda_error : public std::runtime_error {
public:
  cuda_error(cudaError_t code, const char* what)
      : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code)),
        code_(code) {}
  cudaError_t code() const noexcept { return code_; }

private:
  cudaError_t code_;
};

namespace detail {
inline void check(cudaError_t code, const char* what) {
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError(); // it is reported here, and must not surface at the next launch
    throw std::bad_alloc();
  }
  if (code != cudaSuccess) {
    throw cuda_error(code, what);
  }
}
} // namespace detail

/// Memory of the current device.
struct device_allocator {
  static constexpr bool host_accessible = false;
  static constexpr bool device_accessible = true;
  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    detail::check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void deallocate(void* memory, std::size_t) const noexcept { (void)cudaFree(memory); }
};

/// Managed memory. Host and device may use a map in it at the same time where the device has
/// cudaDevAttrConcurrentManagedAccess; elsewhere the host must wait for the device.
struct managed_allocator {
  static constexpr bool host_accessible = true;
  static constexpr bool device_accessible = true;
  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    detail::check(cudaMallocManaged(&memory, bytes), "cudaMallocManaged");
    return memory;
  }
  void deallocate(void* memory, std::size_t) const noexcept { (void)cudaFree(memory); }
};

/// Host memory mapped into the device. Atomic between the two only where the device has
/// cudaDevAttrHostNativeAtomicSupported (NVLink hosts); elsewhere one side at a time.
struct mapped_allocator {
  static constexpr bool host_accessible = true;
  static constexpr bool device_accessible = true;
  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    detail::check(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), "cudaHostAlloc");
    return memory;
  }
  void deallocate(void* memory, std::size_t) const noexcept { (void)cudaFreeHost(memory); }
};

#endif

} // namespace heddle
