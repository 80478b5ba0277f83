// Message passing, and store buffering, by all that CUDA C++ and PTX have besides libcu++'s
// atomics: functions of older CUDA, reductions, compare-and-swaps that fail, volatile, barriers of
// each kind, other sizes. A program that may go wrong does so in the way that users write it: it
// hangs, traps, fails an assertion, or its host sees what should not be.
//@ flags: --memory=ptx
#include "../idioms/cases.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include <cassert>

__device__ int x, y, z, data;
__device__ int result[8];

__device__ int seen_volatile(int& place) {
  return *static_cast<volatile int*>(&place);
}
__device__ void put_volatile(int& place, int value) {
  *static_cast<volatile int*>(&place) = value;
}
__device__ int acquired(int& place) {
  int value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(&place) : "memory");
  return value;
}
__device__ void released(int& place, int value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&place), "r"(value) : "memory");
}
__device__ int relaxed(int& place) {
  int value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(&place) : "memory");
  return value;
}
__device__ void put_relaxed(int& place, int value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(&place), "r"(value) : "memory");
}

/// What a user does who has seen what must not be.
enum class Then {
  Tell,
  Hang,
  Trap,
  Assert
};
template <Then T> __device__ void if_wrong(bool wrong) {
  if (T == Then::Tell) {
    result[7] = wrong ? 1 : 0;
  } else if (T == Then::Assert) {
    assert(!wrong);
  } else if (wrong) {
    while (T == Then::Hang) {
      put_volatile(z, 1); // an empty loop is none to the compiler
    }
    __trap();
  }
}
int run(Setup setup, void (*kernel)()) {
  if (run_kernel(setup, kernel) != 0) {
    return 2;
  }
  int results[8];
  cudaMemcpyFromSymbol(results, result, sizeof results);
  return results[7];
}

// --- Older CUDA: volatile and __threadfence
//@ case: volatile plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: volatile-fenced plain
//@ verdict: terminates
//@ case: volatile-fenced-block block
//@ verdict: terminates
//@ case: volatile-fenced-block plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: volatile-fenced-system plain
//@ verdict: terminates
template <int Fence> __device__ void older_fence() {
  if (Fence == 1) {
    __threadfence();
  } else if (Fence == 2) {
    __threadfence_block();
  } else if (Fence == 3) {
    __threadfence_system();
  }
}
template <int Fence, Then T = Then::Tell> __global__ void by_volatile() {
  if (me() == 0) {
    put_volatile(x, 1);
    older_fence<Fence>();
    put_volatile(y, 1);
  } else {
    const int flag = seen_volatile(y);
    older_fence<Fence>();
    if_wrong<T>(flag == 1 && seen_volatile(x) == 0);
  }
}
// The same wrong outcome, in other words.
//@ case: volatile-hangs block
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: volatile-traps block
//@ verdict: defect
//@ finding: trap EXEC-TRAP
//@ case: volatile-asserts block
//@ verdict: defect
//@ finding: assert EXEC-ASSERT

// Plain data behind a volatile flag.
//@ case: volatile-flag plain
//@ verdict: defect
//@ finding: data-race RACE
//@ case: volatile-flag-fenced plain
//@ verdict: terminates
template <int Fence> __global__ void volatile_flag() {
  if (me() == 0) {
    data = 1;
    older_fence<Fence>();
    put_volatile(y, 1);
  } else if (seen_volatile(y) == 1) {
    older_fence<Fence>();
    if_wrong<Then::Tell>(data == 0);
  }
}

// Store buffering with __threadfence, which is sequentially consistent.
//@ case: buffered-fenced plain
//@ verdict: terminates
//@ case: buffered-fenced-block plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: buffered plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: buffered-once plain
//@ verdict: defect
//@ finding: exit-status EXIT
__device__ int found[2];
template <int First, int Second> __global__ void buffered() {
  if (me() == 0) {
    put_volatile(x, 1);
    older_fence<First>();
    found[0] = seen_volatile(y);
  } else {
    put_volatile(y, 1);
    older_fence<Second>();
    found[1] = seen_volatile(x);
  }
}
template <int First, int Second> int run_buffered(Setup setup) {
  const int unset[2] = {1, 1};
  cudaMemcpyToSymbol(found, unset, sizeof unset);
  if (run_kernel(setup, buffered<First, Second>) != 0) {
    return 2;
  }
  int both[2];
  cudaMemcpyFromSymbol(both, found, sizeof both);
  return both[0] == 0 && both[1] == 0 ? 1 : 0;
}

// --- Functions of CUDA C++ that update
//@ case: updates-relaxed plain
//@ verdict: defect
//@ finding: data-race RACE
//@ case: updates-fenced plain
//@ verdict: terminates
//@ case: updates-block block
//@ verdict: terminates
//@ case: updates-block plain
//@ verdict: defect
//@ finding: data-race RACE-STRONG
//@ case: updates-system plain
//@ verdict: terminates
template <int Scope, int Fence> __global__ void by_updates() {
  const auto add = [](int n) {
    return Scope == 2   ? atomicAdd_block(&y, n)
           : Scope == 3 ? atomicAdd_system(&y, n)
                        : atomicAdd(&y, n);
  };
  if (me() == 0) {
    data = 1;
    older_fence<Fence>();
    add(1);
  } else if (add(0) == 1) {
    older_fence<Fence>();
    if_wrong<Then::Tell>(data == 0);
  }
}

// A compare-and-swap that fails is a read; so it acquires, and releases nothing.
//@ case: failing-acquires plain
//@ verdict: terminates
//@ case: failing-relaxed plain
//@ verdict: defect
//@ finding: data-race RACE
//@ case: failing-fenced plain
//@ verdict: terminates
//@ case: failing-releases plain
//@ verdict: defect
//@ finding: data-race RACE
template <int Order, bool Fence> __global__ void failing() {
  if (me() == 0) {
    data = 1;
    released(y, 1);
  } else {
    int old;
    if (Order == 1) {
      asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 7, 8;"
                   : "=r"(old)
                   : "l"(&y)
                   : "memory");
    } else {
      asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], 7, 8;"
                   : "=r"(old)
                   : "l"(&y)
                   : "memory");
    }
    if (Fence) {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    if (old == 1) {
      if_wrong<Then::Tell>(data == 0);
    }
  }
}
__global__ void failing_releases() {
  if (me() == 0) {
    data = 1;
    asm volatile("{ .reg .u32 t; atom.acq_rel.gpu.global.cas.b32 t, [%0], 7, 8; }" ::"l"(&y)
                 : "memory");
    put_relaxed(z, 1);
  } else if (acquired(z) == 1) {
    if_wrong<Then::Tell>(data == 0);
  }
}

// A chain of updates hands on what it begins with; a store in between does not, a reduction does.
//@ case: chain-of-updates plain 3
//@ verdict: terminates
//@ case: chain-of-reductions plain 3
//@ verdict: terminates
//@ case: chain-of-swaps plain 3
//@ verdict: terminates
//@ case: chain-block plain 3
//@ verdict: defect
//@ finding: data-race RACE-STRONG
//@ case: chain-stored plain 3
//@ verdict: defect
//@ finding: data-race RACE
template <int Link> __global__ void chain() {
  if (me() == 0) {
    data = 1;
    released(y, 1);
  } else if (me() == 1) {
    if (Link == 0) {
      asm volatile("{ .reg .u32 t; atom.relaxed.gpu.global.add.u32 t, [%0], 1; }" ::"l"(&y)
                   : "memory");
    } else if (Link == 1) {
      asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(&y) : "memory");
    } else if (Link == 2) {
      asm volatile("{ .reg .u32 t; atom.relaxed.gpu.global.cas.b32 t, [%0], 1, 2; }" ::"l"(&y)
                   : "memory");
    } else if (Link == 3) {
      asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;" ::"l"(&y) : "memory");
    } else if (relaxed(y) == 1) {
      put_relaxed(y, 2);
    }
  } else if (acquired(y) == 2) {
    if_wrong<Then::Tell>(data == 0);
  }
}

// --- Barriers
//@ case: meets-or block
//@ verdict: terminates
//@ case: meets-count block
//@ verdict: terminates
//@ case: meets-unaligned block
//@ verdict: terminates
//@ case: meets-shuffle block
//@ verdict: defect
//@ finding: data-race RACE
//@ case: meets-vote block
//@ verdict: defect
//@ finding: data-race RACE
//@ case: meets-warp block
//@ verdict: terminates
//@ case: meets-grid cooperative
//@ verdict: terminates
//@ case: meets-tile block
//@ verdict: terminates
//@ case: meets-cluster cluster
//@ verdict: terminates
//@ case: meets-cluster-release cluster
//@ verdict: terminates
//@ case: meets-cluster-relaxed cluster
//@ verdict: defect
//@ finding: data-race RACE
enum class Meet {
  Or,
  Count,
  Unaligned,
  Shuffle,
  Vote,
  Warp,
  Grid,
  Tile,
  Cluster,
  Release,
  Relaxed
};
template <Meet M> __global__ void meets() {
  if (me() == 0) {
    data = 1;
  }
  if (M == Meet::Or) {
    __syncthreads_or(me());
  } else if (M == Meet::Count) {
    __syncthreads_count(me());
  } else if (M == Meet::Unaligned) {
    asm volatile("barrier.sync 3, 64;" ::: "memory");
  } else if (M == Meet::Shuffle) {
    result[me()] = __shfl_xor_sync(3, me(), 1);
  } else if (M == Meet::Vote) {
    result[0] = __any_sync(3, me());
  } else if (M == Meet::Warp) {
    __syncwarp(3);
  } else if (M == Meet::Grid) {
    cooperative_groups::this_grid().sync();
  } else if (M == Meet::Tile) {
    cooperative_groups::tiled_partition<2>(cooperative_groups::this_thread_block()).sync();
  } else if (M == Meet::Cluster) {
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  } else if (M == Meet::Release) {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  } else if (M == Meet::Relaxed) {
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
  }
  if (me() == 1) {
    result[1] = data;
  }
}
// One arrives and goes on, the other one waits: what the first does behind it, nobody waits for.
//@ case: producer block 64
//@ verdict: terminates
//@ case: producer-late block 64
//@ verdict: defect
//@ finding: data-race RACE
template <bool Late> __global__ void producer() {
  if (me() < 32) {
    if (me() == 0 && !Late) {
      data = 1;
    }
    asm volatile("barrier.cta.arrive 1, 64;" ::: "memory");
    if (me() == 0 && Late) {
      data = 1;
    }
  } else {
    asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
    if (me() == 32) {
      if_wrong<Then::Tell>(data == 0);
    }
  }
}

// --- Classes of libcu++
//@ case: latch plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: latch cooperative
//@ verdict: terminates
//@ case: semaphore block
//@ verdict: terminates
//@ case: flag-waits block
//@ verdict: terminates
//@ case: device-barrier cooperative
//@ verdict: terminates
using Latch = cuda::latch<cuda::thread_scope_device>;
using Semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;
using Barrier = cuda::barrier<cuda::thread_scope_device>;
template <class T> struct alignas(T) Room { // nvcc cannot construct them before main
  char bytes[sizeof(T)];
  __device__ T& operator*() { return *reinterpret_cast<T*>(bytes); }
};
__device__ Room<Latch> all_there;
__device__ Room<Semaphore> one;
__device__ Room<Barrier> both;
__device__ Atomic<int> raised;
__global__ void construct() {
  new (&all_there) Latch(2);
  new (&one) Semaphore(0);
  new (&both) Barrier(2);
}
int run_constructed(Setup setup, void (*kernel)()) {
  construct<<<1, 1>>>();
  return run(setup, kernel);
}
__global__ void by_latch() {
  if (me() == 0) {
    data = 1;
  }
  (*all_there).arrive_and_wait();
  if (me() == 1) {
    if_wrong<Then::Tell>(data == 0);
  }
}
__global__ void by_semaphore() {
  if (me() == 0) {
    data = 1;
    (*one).release();
  } else {
    (*one).acquire();
    if_wrong<Then::Tell>(data == 0);
  }
}
__global__ void by_flag() {
  if (me() == 0) {
    data = 1;
    raised.store(1, memory_order_release);
    raised.notify_all();
  } else {
    raised.wait(0, memory_order_acquire);
    if_wrong<Then::Tell>(data == 0);
  }
}
__global__ void by_barrier() {
  if (me() == 0) {
    data = 1;
  }
  (*both).arrive_and_wait();
  if (me() == 1) {
    if_wrong<Then::Tell>(data == 0);
  }
}

// --- Other sizes
//@ case: size-1 plain
//@ verdict: unknown
//@ incomplete: libcu++ updates bytes by compare-and-swaps of the word around them, and reads two
//@ case: size-2 plain
//@ verdict: unknown
//@ incomplete: as above
//@ case: size-8 plain
//@ verdict: terminates
//@ case: size-float plain
//@ verdict: terminates
//@ case: size-1-relaxed plain
//@ verdict: unknown
//@ incomplete: as above
//@ case: size-1-neighbours plain
//@ verdict: unknown
//@ incomplete: as above; it is no race
//@ case: size-1-updates plain
//@ verdict: terminates
template <class T, bool Release = true> __global__ void sized() {
  static __device__ T place;
  cuda::atomic_ref<T, cuda::thread_scope_device> flag(place);
  if (me() == 0) {
    data = 1;
    flag.fetch_add(T(1), Release ? memory_order_release : memory_order_relaxed);
  } else if (flag.load(memory_order_acquire) != T(0)) {
    if_wrong<Then::Tell>(data == 0);
  }
}
// Of two bytes of one word one is an atomic. Both are, and only updated: each is one of the word.
template <bool Updated> __global__ void neighbours() {
  static __device__ unsigned char bytes[4];
  using Byte = cuda::atomic_ref<unsigned char, cuda::thread_scope_device>;
  if (me() == 0) {
    Byte(bytes[0]).fetch_add(1, memory_order_relaxed);
  } else if (Updated) {
    Byte(bytes[1]).fetch_add(1, memory_order_relaxed);
  } else {
    result[0] = bytes[1];
  }
}
// One writes a half of what the other one reads: no order of the two, whatever their strength.
//@ case: halves plain
//@ verdict: defect
//@ finding: data-race RACE
__device__ long long wide;
__global__ void halves() {
  if (me() == 0) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(&wide) : "memory");
  } else {
    long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(&wide) : "memory");
    result[0] = static_cast<int>(value);
  }
}

// --- Vectors: an access is one for each element, and says nothing about their order
//@ case: vector-and-scalar plain
//@ verdict: terminates
//@ case: vector-torn plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: vector-torn-back plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: vector-acquires plain
//@ verdict: terminates
//@ case: vector-written plain
//@ verdict: defect
//@ finding: exit-status EXIT
__device__ ulonglong2 pair;
__device__ void put_half(unsigned long long& half) {
  asm volatile("st.release.gpu.global.u64 [%0], 1;" ::"l"(&half) : "memory");
}
template <bool Acquire> __device__ ulonglong2 read_pair() {
  ulonglong2 p;
  if (Acquire) {
    asm volatile("ld.acquire.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(p.x), "=l"(p.y)
                 : "l"(&pair)
                 : "memory");
  } else {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(p.x), "=l"(p.y)
                 : "l"(&pair)
                 : "memory");
  }
  return p;
}
// It is behind one of them, if it has seen that one; the other one may be as old as it likes.
__global__ void vector_and_scalar() {
  if (me() == 0) {
    data = 1;
    put_half(pair.x);
  } else if (read_pair<true>().x == 1) {
    if_wrong<Then::Tell>(data == 0);
  }
}
template <bool Back, bool Acquire> __global__ void vector_torn() {
  if (me() == 0) {
    put_half(Back ? pair.y : pair.x);
    put_half(Back ? pair.x : pair.y);
  } else {
    const ulonglong2 p = read_pair<Acquire>();
    if_wrong<Then::Tell>(Back ? p.x == 1 && p.y == 0 : p.x == 0 && p.y == 1);
  }
}
// What has been acquired once is known to the next one.
__global__ void vector_acquires() {
  if (me() == 0) {
    put_half(pair.x);
    put_half(pair.y);
  } else if (read_pair<true>().y == 1) {
    if_wrong<Then::Tell>(read_pair<false>().x == 0);
  }
}
__global__ void vector_written() {
  if (me() == 0) {
    asm volatile("st.release.gpu.global.v2.u64 [%0], {%1, %1};" ::"l"(&pair), "l"(1ull) : "memory");
  } else {
    const ulonglong2 p = read_pair<true>();
    if_wrong<Then::Tell>(p.x != p.y);
  }
}

// --- In shared memory
//@ case: shared-flag block
//@ verdict: terminates
//@ case: shared-flag-relaxed block
//@ verdict: defect
//@ finding: data-race RACE
template <bool Release> __global__ void shared_flag() {
  __shared__ int flag, kept;
  if (me() == 0) {
    flag = kept = 0;
  }
  __syncthreads();
  if (me() == 0) {
    kept = 1;
    if (Release) {
      __threadfence_block();
    }
    atomicExch_block(&flag, 1);
  } else if (atomicAdd_block(&flag, 0) == 1) {
    if (Release) {
      __threadfence_block();
    }
    if_wrong<Then::Tell>(kept == 0);
  }
}

// --- Kernels
//@ case: next-kernel plain
//@ verdict: terminates
//@ case: two-streams plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: two-streams-fenced plain
//@ verdict: terminates
__global__ void first_half() {
  put_volatile(x, 1);
  put_volatile(y, 1);
}
__global__ void second_half() {
  if_wrong<Then::Tell>(seen_volatile(y) != 1 || seen_volatile(x) != 1);
}
int run_next(Setup) {
  first_half<<<1, 1>>>();
  second_half<<<1, 1>>>();
  int results[8];
  cudaMemcpyFromSymbol(results, result, sizeof results);
  return results[7];
}
template <int Fence> __global__ void writes() {
  put_volatile(x, 1);
  older_fence<Fence>();
  put_volatile(y, 1);
}
template <int Fence> __global__ void reads() {
  const int flag = seen_volatile(y);
  older_fence<Fence>();
  if_wrong<Then::Tell>(flag == 1 && seen_volatile(x) == 0);
}
template <int Fence> int run_streams(Setup) {
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  writes<Fence><<<1, 1, 0, a>>>();
  reads<Fence><<<1, 1, 0, b>>>();
  cudaDeviceSynchronize();
  int results[8];
  cudaMemcpyFromSymbol(results, result, sizeof results);
  return results[7];
}

// A kernel knows what the kernels before it have done, and what these knew of others that are still
// under way.
//@ case: launched-again plain
//@ verdict: terminates
//@ case: knows-by-ended plain
//@ verdict: terminates
//@ case: knows-not-by-ended plain
//@ verdict: defect
//@ finding: data-race RACE
__device__ int halves_of[2];
__global__ void swaps() {
  const int other = halves_of[1 - threadIdx.x];
  __syncthreads();
  halves_of[threadIdx.x] = other + 1;
}
__global__ void looks() {
  result[0] = relaxed(y);
}
__global__ void tells() {
  data = 1;
  released(y, 1);
  put_relaxed(z, 1);
}
template <bool Acquire> __global__ void hears() {
  x = Acquire ? acquired(y) : relaxed(y);
}
__global__ void uses() {
  if (x == 1) {
    if_wrong<Then::Tell>(data == 0);
  }
}
template <class F> int run_beside(void (*kernel)(), F first_and_second) {
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  kernel<<<1, 1, 0, b>>>();
  first_and_second(a);
  return cudaDeviceSynchronize() != cudaSuccess ? 2 : 0;
}
int run_again(Setup) {
  return run_beside(looks, [](cudaStream_t a) {
    swaps<<<1, 2, 0, a>>>();
    cudaStreamSynchronize(a);
    swaps<<<1, 2, 0, a>>>();
  });
}
template <bool Acquire> int run_relayed(Setup) {
  return run_beside(tells, [](cudaStream_t a) {
    hears<Acquire><<<1, 1, 0, a>>>();
    uses<<<1, 1, 0, a>>>();
  });
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"volatile", [](Setup s) { return run(s, by_volatile<0>); }},
          {"volatile-fenced", [](Setup s) { return run(s, by_volatile<1>); }},
          {"volatile-fenced-block", [](Setup s) { return run(s, by_volatile<2>); }},
          {"volatile-fenced-system", [](Setup s) { return run(s, by_volatile<3>); }},
          {"volatile-hangs", [](Setup s) { return run(s, by_volatile<0, Then::Hang>); }},
          {"volatile-traps", [](Setup s) { return run(s, by_volatile<0, Then::Trap>); }},
          {"volatile-asserts", [](Setup s) { return run(s, by_volatile<0, Then::Assert>); }},
          {"volatile-flag", [](Setup s) { return run(s, volatile_flag<0>); }},
          {"volatile-flag-fenced", [](Setup s) { return run(s, volatile_flag<1>); }},
          {"buffered", run_buffered<0, 0>},
          {"buffered-once", run_buffered<0, 1>},
          {"buffered-fenced", run_buffered<1, 1>},
          {"buffered-fenced-block", run_buffered<2, 2>},
          {"updates-relaxed", [](Setup s) { return run(s, by_updates<1, 0>); }},
          {"updates-fenced", [](Setup s) { return run(s, by_updates<1, 1>); }},
          {"updates-block", [](Setup s) { return run(s, by_updates<2, 2>); }},
          {"updates-system", [](Setup s) { return run(s, by_updates<3, 3>); }},
          {"failing-acquires", [](Setup s) { return run(s, failing<1, false>); }},
          {"failing-relaxed", [](Setup s) { return run(s, failing<0, false>); }},
          {"failing-fenced", [](Setup s) { return run(s, failing<0, true>); }},
          {"failing-releases", [](Setup s) { return run(s, failing_releases); }},
          {"chain-of-updates", [](Setup s) { return run(s, chain<0>); }},
          {"chain-of-reductions", [](Setup s) { return run(s, chain<1>); }},
          {"chain-of-swaps", [](Setup s) { return run(s, chain<2>); }},
          {"chain-block", [](Setup s) { return run(s, chain<3>); }},
          {"chain-stored", [](Setup s) { return run(s, chain<4>); }},
          {"meets-or", [](Setup s) { return run(s, meets<Meet::Or>); }},
          {"meets-count", [](Setup s) { return run(s, meets<Meet::Count>); }},
          {"meets-unaligned",
           [](Setup) { return run({Shape::Block, 64}, meets<Meet::Unaligned>); }},
          {"meets-shuffle", [](Setup s) { return run(s, meets<Meet::Shuffle>); }},
          {"meets-vote", [](Setup s) { return run(s, meets<Meet::Vote>); }},
          {"meets-warp", [](Setup s) { return run(s, meets<Meet::Warp>); }},
          {"meets-grid", [](Setup s) { return run(s, meets<Meet::Grid>); }},
          {"meets-tile", [](Setup s) { return run(s, meets<Meet::Tile>); }},
          {"meets-cluster", [](Setup s) { return run(s, meets<Meet::Cluster>); }},
          {"meets-cluster-release", [](Setup s) { return run(s, meets<Meet::Release>); }},
          {"meets-cluster-relaxed", [](Setup s) { return run(s, meets<Meet::Relaxed>); }},
          {"producer", [](Setup s) { return run(s, producer<false>); }, 64},
          {"producer-late", [](Setup s) { return run(s, producer<true>); }, 64},
          {"latch", [](Setup s) { return run_constructed(s, by_latch); }},
          {"semaphore", [](Setup s) { return run_constructed(s, by_semaphore); }},
          {"flag-waits", [](Setup s) { return run(s, by_flag); }},
          {"device-barrier", [](Setup s) { return run_constructed(s, by_barrier); }},
          {"size-1", [](Setup s) { return run(s, sized<unsigned char>); }},
          {"size-2", [](Setup s) { return run(s, sized<short>); }},
          {"size-8", [](Setup s) { return run(s, sized<long long>); }},
          {"size-float", [](Setup s) { return run(s, sized<float>); }},
          {"size-1-relaxed", [](Setup s) { return run(s, sized<unsigned char, false>); }},
          {"size-1-neighbours", [](Setup s) { return run(s, neighbours<false>); }},
          {"size-1-updates", [](Setup s) { return run(s, neighbours<true>); }},
          {"halves", [](Setup s) { return run(s, halves); }},
          {"vector-and-scalar", [](Setup s) { return run(s, vector_and_scalar); }},
          {"vector-torn", [](Setup s) { return run(s, vector_torn<false, false>); }},
          {"vector-torn-back", [](Setup s) { return run(s, vector_torn<true, true>); }},
          {"vector-acquires", [](Setup s) { return run(s, vector_acquires); }},
          {"vector-written", [](Setup s) { return run(s, vector_written); }},
          {"shared-flag", [](Setup s) { return run(s, shared_flag<true>); }},
          {"shared-flag-relaxed", [](Setup s) { return run(s, shared_flag<false>); }},
          {"next-kernel", run_next},
          {"two-streams", run_streams<0>},
          {"two-streams-fenced", run_streams<1>},
          {"launched-again", run_again},
          {"knows-by-ended", run_relayed<true>},
          {"knows-not-by-ended", run_relayed<false>},
      }
  );
}
