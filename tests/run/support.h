// What every program of this folder shares: error checks, a device buffer, a digest for results.
//
// Programs print results that are the same on every conforming machine and under every schedule (a
// program that cannot says so in its header). Large results are printed as a 64-bit FNV-1a digest of
// their bytes, next to a few plain values that help when the digest differs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the program with the failing call's text when a CUDA call does not succeed.
#define CUDA_OK(call)                                                                    \
  do {                                                                                   \
    cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                        \
      std::printf("%s:%d: %s: %s\n", "program", __LINE__, #call, cudaGetErrorName(status_)); \
      std::exit(10);                                                                     \
    }                                                                                    \
  } while (0)

/// Launch check and wait in one: a launch error and an asynchronous error both end the program.
#define SYNC_OK()                          \
  do {                                     \
    CUDA_OK(cudaGetLastError());           \
    CUDA_OK(cudaDeviceSynchronize());      \
  } while (0)

/// For facts that must hold whatever the schedule is; prints the place when one does not.
#define EXPECT(condition)                                                   \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::printf("line %d: expectation failed: %s\n", __LINE__, #condition); \
      std::exit(11);                                                        \
    }                                                                       \
  } while (0)

inline std::uint64_t digest(const void* data, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  auto bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

template <class T> std::uint64_t digest(const std::vector<T>& values) {
  return digest(values.data(), values.size() * sizeof(T));
}

/// `count` objects in device memory.
template <class T> class Buffer {
public:
  explicit Buffer(std::size_t count) : count_(count) {
    CUDA_OK(cudaMalloc(&data_, count * sizeof(T)));
    CUDA_OK(cudaMemset(data_, 0, count * sizeof(T)));
  }
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    CUDA_OK(cudaMalloc(&data_, count_ * sizeof(T)));
    put(values);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  T* data() { return data_; }
  operator T*() { return data_; }
  std::size_t size() const { return count_; }

  void put(const std::vector<T>& values) {
    CUDA_OK(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> values(count_);
    CUDA_OK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  void clear() { CUDA_OK(cudaMemset(data_, 0, count_ * sizeof(T))); }

private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// A small generator with the same stream on host and device.
struct Lcg {
  std::uint64_t state;
  __host__ __device__ std::uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  }
};
