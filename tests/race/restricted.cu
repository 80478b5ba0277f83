// Fences for objects in shared memory only: they order nothing else (spec/races.md: [RACE-SYNC]).
#include "cases.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum class Fence { None, Shared, All };

template <Fence kind> __device__ void release() {
  if (kind == Fence::Shared) {
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
  } else if (kind == Fence::All) {
    asm volatile("fence.release.cluster;" ::: "memory");
  }
}
template <Fence kind> __device__ void acquire() {
  if (kind == Fence::Shared) {
    asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
  } else if (kind == Fence::All) {
    asm volatile("fence.acquire.cluster;" ::: "memory");
  }
}
__device__ void set(int* flag) {
  asm volatile("st.relaxed.cluster.global.b32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ void wait(int* flag) {
  int set = 0;
  while (set == 0) {
    asm volatile("ld.relaxed.cluster.global.b32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
  }
}

// Block 0 of a cluster leaves data in global memory, block 1 takes them.
template <Fence releases, Fence acquires>
__global__ void __cluster_dims__(2, 1, 1) global(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 1;
    release<releases>();
    set(flag);
  } else {
    wait(flag);
    acquire<acquires>();
    data[1] = data[0];
  }
}
CASE(restricted_release_of_global, "data-race") {
  global<right ? Fence::All : Fence::Shared, Fence::All>
      <<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(restricted_acquire_of_global, "data-race") {
  global<Fence::All, right ? Fence::All : Fence::Shared>
      <<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}

// The same through shared memory of block 0; all threads of block 1 take them, behind a barrier.
template <Fence releases, Fence acquires>
__global__ void __cluster_dims__(2, 1, 1) shared(int* out, int* flag) {
  __shared__ int data[64];
  auto cluster = cg::this_cluster();
  int* const of_first = cluster.map_shared_rank(data, 0);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      release<releases>();
      set(flag);
    }
  } else {
    if (threadIdx.x == 0) {
      wait(flag);
      acquire<acquires>();
    }
    __syncthreads();
    out[threadIdx.x] = of_first[threadIdx.x];
  }
  cluster.sync();
}
CASE(restricted_release_of_shared, "shared memory") {
  shared<right ? Fence::Shared : Fence::None, Fence::All>
      <<<2, 64>>>(device_memory<int>(64), device_memory<int>(1));
}
CASE(restricted_acquire_of_shared, "shared memory") {
  shared<Fence::All, right ? Fence::Shared : Fence::None>
      <<<2, 64>>>(device_memory<int>(64), device_memory<int>(1));
}
CASE(restricted_fences_of_shared, "shared memory") {
  shared<right ? Fence::Shared : Fence::None, Fence::Shared>
      <<<2, 64>>>(device_memory<int>(64), device_memory<int>(1));
}

// A whole fence before a restricted one keeps its effect, and so does one behind it.
template <bool right> __global__ void __cluster_dims__(2, 1, 1) both(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 1;
    if (right) {
      release<Fence::All>();
    }
    release<Fence::Shared>();
    set(flag);
  } else {
    wait(flag);
    acquire<Fence::Shared>();
    acquire<Fence::All>();
    data[1] = data[0];
  }
}
CASE(restricted_beside_whole_fences, "data-race") {
  both<right><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}

// An mbarrier's initial value is told of by a fence of its own.
template <bool right> __global__ void __cluster_dims__(2, 1, 1) initial(int* data) {
  if (blockIdx.x == 0) {
    data[0] = 1;
  }
  if (right) {
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  } else {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (blockIdx.x == 1) {
    data[1] = data[0];
  }
}
CASE(fence_of_initial_values, "data-race") { initial<right><<<2, 1>>>(device_memory<int>(2)); }
