// What calls wait for ([API-WAIT]), and what follows for others.
#include "cases.h"

#include <cuda_runtime.h>

#include <cstdlib>

using Flag = SystemAtomic<int>;

__device__ void spin(Flag* flag) {
  while (flag->load(memory_order_acquire) == 0) {
  }
}
__global__ void await(Flag* flag) { spin(flag); }
__global__ void set(Flag* flag) { flag->store(1, memory_order_release); }
__global__ void look(Flag* words) {
  if (words[1].load() == 1 && words[0].load() == 0) {
    spin(words + 2);
  }
}

static cudaStream_t stream() {
  cudaStream_t s = nullptr;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  return s;
}
static Flag* flags(int count) {
  Flag* p = nullptr;
  cudaMalloc(&p, count * sizeof(Flag));
  cudaMemset(p, 0, count * sizeof(Flag));
  cudaDeviceSynchronize();
  return p;
}
static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

// A copy from pageable memory returns when the source is staged. A kernel that nothing orders with the rest of it may
// keep a device from carrying that out.
//@ case: staged-copy
//@ verdict: may-hang
//@ finding: starvation API
//@ case: staged-copy-and-blocking-stream
//@ verdict: terminates
//@ case: copy-from-pinned-memory
//@ verdict: terminates
enum class Source { Pageable, Blocking, Pinned };
template <Source From> static int copy(Setup) {
  Flag* flag = flags(1);
  int local = 1;
  int* one = &local;
  if (From == Source::Pinned) {
    cudaMallocHost(&one, sizeof *one);
    *one = 1;
  }
  cudaStream_t s = stream();
  if (From == Source::Blocking) {
    cudaStreamCreate(&s);
  }
  cudaMemcpy(flag, one, sizeof *one, cudaMemcpyHostToDevice);
  await<<<1, 1, 0, s>>>(flag);
  return finish();
}

// cudaFree may wait for the device, and may not: the verdict says that the other way has not been tried.
//@ case: free-with-work-left
//@ verdict: unknown
//@ incomplete: cudaFree need not wait
//@ coverage: bounded
//@ case: free-without-work-left
//@ verdict: terminates
template <bool Left> static int free_with_work(Setup) {
  Flag* flag = flags(1);
  int* other = nullptr;
  cudaMalloc(&other, sizeof *other);
  set<<<1, 1>>>(flag);
  if (!Left) {
    cudaDeviceSynchronize();
  }
  cudaFree(other);
  return finish();
}

// The words of one copy come in no order; two copies of one stream come one after the other.
//@ case: words-of-one-copy
//@ verdict: defect
//@ finding: data-race RACE-COMMAND
//@ case: words-of-two-copies
//@ verdict: terminates
template <bool One> static int words(Setup) {
  Flag* words = flags(3);
  int* host = nullptr;
  cudaMallocHost(&host, 2 * sizeof *host);
  host[0] = host[1] = 1;
  cudaStream_t s = stream(), t = stream();
  if (One) {
    cudaMemcpyAsync(words, host, 2 * sizeof *host, cudaMemcpyHostToDevice, s);
  } else {
    cudaMemcpyAsync(words, host, sizeof *host, cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(words + 1, host + 1, sizeof *host, cudaMemcpyHostToDevice, s);
  }
  look<<<1, 1, 0, t>>>(words);
  return finish();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"staged-copy", copy<Source::Pageable>},
      {"staged-copy-and-blocking-stream", copy<Source::Blocking>},
      {"copy-from-pinned-memory", copy<Source::Pinned>},
      {"free-with-work-left", free_with_work<true>},
      {"free-without-work-left", free_with_work<false>},
      {"words-of-one-copy", words<true>},
      {"words-of-two-copies", words<false>},
  });
}
