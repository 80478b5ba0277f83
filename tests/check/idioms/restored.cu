// A word that has its first value again when a thread is done with it: whoever comes in between sees another one. Who
// does the same from the same values need not be executed again, and accesses the word all the same.
//
//@ case: trylock blocks
//@ verdict: defect
//@ finding: trap
//@ case: trylock threads
//@ verdict: defect
//@ finding: trap
//@ case: trylock shared
//@ verdict: defect
//@ finding: trap
//@ case: trylock cluster
//@ verdict: defect
//@ finding: trap
//@ case: count blocks
//@ verdict: defect
//@ finding: trap
//@ case: count shared
//@ verdict: defect
//@ finding: trap
//@ case: store blocks
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: twice blocks
//@ verdict: defect
//@ finding: trap
//
// Another value than those that the word ever has:
//@ case: trylock-right blocks
//@ verdict: terminates
//@ case: trylock-right threads
//@ verdict: terminates
//@ case: trylock-right shared
//@ verdict: terminates
//@ case: count-right blocks
//@ verdict: terminates
#include <cstdio>
#include <cstring>

__device__ unsigned word;

__device__ void trylock(unsigned* p, unsigned bad) {
  const unsigned before = atomicExch(p, 1U);
  atomicExch(p, 0U);
  if (before == bad) {
    __trap();
  }
}
__device__ void count(unsigned* p, unsigned bad) {
  const unsigned before = atomicAdd(p, 1U);
  atomicSub(p, 1U);
  if (before == bad) {
    __trap();
  }
}

__global__ void trylock_global(unsigned bad) { trylock(&word, bad); }
__global__ void count_global(unsigned bad) { count(&word, bad); }
__global__ void trylock_shared(unsigned bad) {
  __shared__ unsigned own;
  if (threadIdx.x == 0) {
    own = 0;
  }
  __syncthreads();
  trylock(&own, bad);
}
__global__ void count_shared(unsigned bad) {
  __shared__ unsigned own;
  if (threadIdx.x == 0) {
    own = 0;
  }
  __syncthreads();
  count(&own, bad);
}
__global__ void store_global() {
  const unsigned before = atomicExch(&word, 1U);
  *static_cast<volatile unsigned*>(&word) = 0;
  if (before == 1) {
    while (atomicAdd(&word, 0U) != 77) {
    }
  }
}
// The first one to come back sees what the other one has made of it.
__global__ void twice_global() {
  atomicExch(&word, 1U);
  atomicExch(&word, 0U);
  const unsigned before = atomicExch(&word, 1U);
  atomicExch(&word, 0U);
  if (before == 1) {
    __trap();
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const bool right = std::strstr(argv[1], "-right") != nullptr;
  const unsigned bad = right ? 2 : 1;
  const bool threads = std::strcmp(argv[2], "threads") == 0 || std::strcmp(argv[2], "shared") == 0;
  const int blocks = threads ? 1 : 2, in_block = threads ? 2 : 1;
  if (std::strcmp(argv[1], "twice") == 0) {
    twice_global<<<2, 1>>>();
  } else if (std::strcmp(argv[1], "store") == 0) {
    store_global<<<2, 1>>>();
  } else if (std::strncmp(argv[1], "count", 5) == 0) {
    if (std::strcmp(argv[2], "shared") == 0) {
      count_shared<<<1, 2>>>(bad);
    } else {
      count_global<<<blocks, in_block>>>(bad);
    }
  } else if (std::strcmp(argv[2], "shared") == 0) {
    trylock_shared<<<1, 2>>>(bad);
  } else if (std::strcmp(argv[2], "cluster") == 0) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(1);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, trylock_global, bad);
  } else {
    trylock_global<<<blocks, in_block>>>(bad);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
