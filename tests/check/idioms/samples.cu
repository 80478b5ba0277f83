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
//@ finding: double-free MEM-FREE
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

// --- Atomics that one thread uses at a time ------------------------------------------------------

// A counter in stages, with barriers in between: set by one, counted up by all, read by all.
//@ case: staged 4
//@ verdict: terminates
//@ case: staged 64
//@ verdict: terminates
//@ large: every order of 64 reads
__global__ void staged() {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> total;
  if (threadIdx.x == 0) {
    total.store(0);
  }
  __syncthreads();
  total.fetch_add(static_cast<int>(threadIdx.x));
  __syncthreads();
  const int all = total.load();
  if (threadIdx.x < 8) {
    kept[threadIdx.x] = reinterpret_cast<int*>(all + threadIdx.x);
  }
}
int staged_block(Setup setup) {
  staged<<<1, setup.n>>>();
  return cudaDeviceSynchronize();
}

// Each announces itself and looks for the other. If both see each other, nobody goes on; who takes the
// accesses of one thread together never meets that.
//@ case: crossing plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: crossing block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__device__ Atomic<int> here[2], go_on;
__global__ void crossing() {
  here[me()].store(1);
  if (here[1 - me()].load() == 0) {
    go_on.store(1);
  }
  while (go_on.load() == 0) {
  }
}

// What is written behind a barrier is not ordered with what others read behind it.
//@ case: one-barrier block 2
//@ verdict: defect
//@ finding: trap EXEC-TRAP
__device__ Atomic<int> round_now;
__global__ void one_barrier() {
  for (int round = 1; round <= 2; ++round) {
    if (me() == 0) {
      round_now.store(round);
    } else if (round_now.load() == 2) {
      __trap();
    }
    if (round == 1) {
      __syncthreads();
    }
  }
}

// A copy is no access of a thread, but a thread may wait for what it brings.
//@ case: copied
//@ verdict: may-hang
//@ finding: starvation API
__device__ volatile int brought;
__global__ void wait_for_copy() {
  while (brought == 0) {
  }
}
int copied(Setup) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* one;
  CHECK(cudaMallocHost(&one, sizeof(int)));
  *one = 1;
  wait_for_copy<<<1, 1>>>();
  CHECK(cudaMemcpyToSymbolAsync(brought, one, sizeof(int), 0, cudaMemcpyHostToDevice, stream));
  return cudaDeviceSynchronize();
}

// --- Several streams ---------------------------------------------------------------------------------

// Each brings its part, works on it and takes it back: whichever order that comes in.
__global__ void halve(int* data) { data[me()] /= 2; }
__global__ void count_odd(const int* data, int* counts) { atomicAdd(&counts[data[me()] & 1], 1); }
//@ case: streams 2
//@ verdict: terminates
//@ case: streams 8
//@ verdict: terminates
//@ large: 4^8 states
int streams(Setup setup) {
  constexpr int part = 64;
  int *host, *data, *counts;
  CHECK(cudaMallocHost(&host, setup.n * part * sizeof(int)));
  CHECK(cudaMalloc(&data, setup.n * part * sizeof(int)));
  CHECK(cudaMalloc(&counts, setup.n * 2 * sizeof(int)));
  CHECK(cudaMemset(counts, 0, setup.n * 2 * sizeof(int)));
  CHECK(cudaDeviceSynchronize()); // the streams below do not wait for it
  for (int i = 0; i < setup.n * part; ++i) {
    host[i] = i;
  }
  cudaStream_t stream[8];
  for (int s = 0; s < setup.n; ++s) {
    int* const mine = data + s * part;
    CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    CHECK(cudaMemcpyAsync(mine, host + s * part, part * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
    halve<<<2, part / 2, 0, stream[s]>>>(mine);
    count_odd<<<2, part / 2, 0, stream[s]>>>(mine, counts + 2 * s);
    CHECK(cudaMemcpyAsync(host + s * part, mine, part * sizeof(int), cudaMemcpyDeviceToHost, stream[s]));
  }
  for (int s = 0; s < setup.n; ++s) {
    CHECK(cudaStreamSynchronize(stream[s]));
  }
  return host[part] == part / 2 ? 0 : 1;
}

// A stream is not waited for, only the other one; what is launched then waits for what the first one
// may still have to do: a copy, or a grid that nobody can keep from ending.
//@ case: copied-later
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: starvation API
//@ case: stored-later
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: starvation API
__global__ void store_one() { brought = 1; }
__global__ void nothing() {}
template <bool Copied> int later(Setup) {
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  int* one;
  CHECK(cudaMallocHost(&one, sizeof(int)));
  *one = 1;
  if (Copied) {
    CHECK(cudaMemcpyToSymbolAsync(brought, one, sizeof(int), 0, cudaMemcpyHostToDevice, first));
  } else {
    store_one<<<1, 1, 0, first>>>();
  }
  nothing<<<1, 1, 0, second>>>();
  CHECK(cudaStreamSynchronize(second));
  wait_for_copy<<<1, 1, 0, second>>>();
  return cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"heap", heap},
      {"heap-twice", heap_twice},
      {"by-value", by_value},
      {"staged", staged_block},
      {"crossing", [](Setup setup) { return run_kernel(setup, crossing); }},
      {"one-barrier", [](Setup setup) { return run_kernel(setup, one_barrier); }},
      {"copied", copied},
      {"streams", streams},
      {"copied-later", later<true>},
      {"stored-later", later<false>},
      {"recursion", [](Setup setup) { return run_kernel(setup, recursion); }},
  });
}
