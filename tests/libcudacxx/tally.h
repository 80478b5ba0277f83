// Counting of checks, the same on host and device.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// What one thread has checked. Threads own theirs; a total is made afterwards.
struct Tally {
  unsigned long long checks = 0;
  unsigned long long failures = 0;
  int first_line = 0;  // of the first failure
  int first_step = -1; // which combination of orders it was

  __host__ __device__ void check(bool holds, int line, int step = -1) {
    ++checks;
    if (!holds) {
      if (failures++ == 0) {
        first_line = line;
        first_step = step;
      }
    }
  }
  __host__ __device__ void add(const Tally& other) {
    if (failures == 0 && other.failures != 0) {
      first_line = other.first_line;
      first_step = other.first_step;
    }
    checks += other.checks;
    failures += other.failures;
  }
};

#define CHECK(...) tally.check((__VA_ARGS__), __LINE__)
#define CHECK_STEP(step, ...) tally.check((__VA_ARGS__), __LINE__, step)

#define CUDA_OK(call)                                                             \
  do {                                                                            \
    cudaError_t status_ = (call);                                                 \
    if (status_ != cudaSuccess) {                                                 \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(status_)); \
      std::exit(10);                                                              \
    }                                                                             \
  } while (0)

/// Prints one line and returns whether anything failed.
inline bool print(const char* name, const Tally& tally) {
  std::printf("%-44s %8llu checks", name, tally.checks);
  if (tally.failures) {
    std::printf(", %llu failed, the first at line %d, step %d", tally.failures, tally.first_line, tally.first_step);
  }
  std::printf("\n");
  return tally.failures != 0;
}

/// Memory that host and device see at once, holding one T built by `make`.
template <class T> class Shared {
public:
  template <class... Args> explicit Shared(Args... arguments) {
    CUDA_OK(cudaMallocManaged(&object_, sizeof(T)));
    new (object_) T(arguments...);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { cudaFree(object_); }
  T* get() { return object_; }
  T* operator->() { return object_; }
  T& operator*() { return *object_; }

private:
  T* object_ = nullptr;
};
