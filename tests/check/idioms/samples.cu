// What samples and lessons consist of: the device's heap, objects by value, recursion, the block that comes last.
#include "cases.h"

#include <unistd.h>

#define CHECK(call)                                                                                \
  if (call != cudaSuccess) {                                                                       \
    return 1;                                                                                      \
  }

// --- The device's heap ---------------------------------------------------------------------------

__device__ int* kept[8];

__global__ void allocate() {
  int* const p = static_cast<int*>(malloc(sizeof(int)));
  *p = me();
  kept[me()] = p;
}
// A pointer is read, then it is freed: a search that takes the first back takes the second back, too.
__global__ void release_all() { free(kept[me()]); }

//@ case: heap block 1
//@ verdict: terminates
//@ case: heap block 2
//@ verdict: terminates
int heap(Setup setup) {
  return run_kernel(setup, allocate) + run_kernel(setup, release_all);
}
//@ case: heap-twice block 1
//@ verdict: defect
//@ finding: invalid-free MEM-FREE
int heap_twice(Setup setup) {
  return heap(setup) + run_kernel(setup, release_all);
}

// --- Objects by value: what is between their members is whatever the host's stack held -------------

struct Part {
  int* target;
  int value; // and four bytes that nobody writes
};
__global__ void store(Part part) { part.target[threadIdx.x] = part.value; }

// Such a byte, for once by intent: where the environment lies depends on how long it is.
Part make_part(int* target, int value) {
  char bytes[sizeof(Part)];
  std::memset(bytes, static_cast<int>(reinterpret_cast<std::uintptr_t>(environ) >> 3), sizeof bytes);
  std::memcpy(bytes, &target, sizeof target);
  std::memcpy(bytes + sizeof target, &value, sizeof value);
  Part part;
  std::memcpy(&part, bytes, sizeof part);
  return part;
}
//@ case: by-value 2
//@ verdict: terminates
int by_value(Setup setup) {
  int* target = nullptr;
  CHECK(cudaMalloc(&target, setup.n * sizeof(int)));
  store<<<1, setup.n>>>(make_part(target, 7));
  return cudaDeviceSynchronize();
}

// --- Recursion, deeper than what calls usually are ---------------------------------------------------

__device__ volatile int seen;
__device__ __noinline__ int depth_of(int n) {
  const int below = n == 0 ? 0 : depth_of(n - 1) + 1;
  seen = n; // it is no loop
  return below;
}
//@ case: recursion block 1
//@ verdict: terminates
__global__ void recursion() {
  if (depth_of(100) != 100) {
    __trap();
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"heap", heap},
      {"heap-twice", heap_twice},
      {"by-value", by_value},
      {"recursion", [](Setup setup) { return run_kernel(setup, recursion); }},
  });
}
