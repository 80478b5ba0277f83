// Waits for words of other widths than a register's: what a search keeps of such a word has as many bytes as the
// access. The waiting loops are unrolled once, so that the search asks whether it matters which of the reads finds
// the word changed.
#include "cases.h"

__device__ __align__(16) unsigned long long pair[2];
__device__ volatile uint4 four;
__device__ volatile unsigned char byte;

struct Both {
  unsigned long long x, y;
};
__device__ Both read_shared(unsigned at) {
  Both both;
  asm volatile("{ .reg .b128 t; ld.relaxed.cta.shared.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
               : "=l"(both.x), "=l"(both.y) : "r"(at) : "memory");
  return both;
}
__device__ void write_shared(unsigned at, Both both) {
  asm volatile("{ .reg .b128 t; mov.b128 t, {%0, %1}; st.relaxed.cta.shared.b128 [%2], t; }"
               :: "l"(both.x), "l"(both.y), "r"(at) : "memory");
}
__device__ Both read_global() {
  Both both;
  asm volatile("{ .reg .b128 t; ld.relaxed.gpu.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
               : "=l"(both.x), "=l"(both.y) : "l"(pair) : "memory");
  return both;
}
__device__ Both exchange(Both by) {
  Both both;
  asm volatile("{ .reg .b128 t, u; mov.b128 u, {%3, %4}; atom.global.exch.b128 t, [%2], u; mov.b128 {%0, %1}, t; }"
               : "=l"(both.x), "=l"(both.y) : "l"(pair), "l"(by.x), "l"(by.y) : "memory");
  return both;
}
__device__ Both swap_if(Both expected, Both by) {
  Both both;
  asm volatile("{ .reg .b128 t, u, v; mov.b128 u, {%3, %4}; mov.b128 v, {%5, %6};\n"
               "atom.global.cas.b128 t, [%2], u, v; mov.b128 {%0, %1}, t; }"
               : "=l"(both.x), "=l"(both.y)
               : "l"(pair), "l"(expected.x), "l"(expected.y), "l"(by.x), "l"(by.y) : "memory");
  return both;
}

// Two words of a block; the second one says that both are there.
//@ case: shared-pair
//@ verdict: terminates
//@ case: shared-pair-other
//@ verdict: may-hang
//@ finding: livelock
template <unsigned long long awaited> __global__ void shared_pair() {
  __shared__ __align__(16) unsigned long long both[2];
  both[threadIdx.x] = 0;
  __syncthreads();
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(both));
  if (threadIdx.x == 0) {
    while (read_shared(at).y != awaited) {
    }
  } else {
    write_shared(at, {3, 5});
  }
}

// The same in global memory, and the reads are unrolled before the loop that sleeps.
//@ case: global-pair block 2
//@ verdict: terminates
//@ case: global-pair plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: global-pair-other block 2
//@ verdict: may-hang
//@ finding: livelock
template <unsigned long long awaited> __global__ void global_pair() {
  if (me() == 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (read_global().y == awaited) {
        return;
      }
    }
    while (read_global().y != awaited) {
      __nanosleep(64);
    }
  } else {
    exchange({0, 1});
  }
}

// A lock whose owner stands in the second half: only that differs when it is taken.
//@ case: wide-lock block 2
//@ verdict: terminates
//@ case: wide-lock cooperative 2
//@ verdict: terminates
//@ case: wide-lock-kept block 2
//@ verdict: may-hang
//@ finding: livelock
template <bool gives_back> __global__ void wide_lock() {
  while (swap_if({0, 0}, {0, 1ULL + me()}).y != 0) {
  }
  if (gives_back) {
    exchange({0, 0});
  }
}

// Vectors and bytes, volatile.
//@ case: vector block 2
//@ verdict: unknown
//@ coverage: bounded
//@ case: vector plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ coverage: bounded
__global__ void vector() {
  if (me() == 0) {
    for (unsigned last = 0; last == 0;) {
      asm volatile("ld.volatile.global.v4.u32 {_, _, _, %0}, [%1];" : "=r"(last) : "l"(&four) : "memory");
    }
  } else {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %2};" :: "l"(&four), "r"(0), "r"(1) : "memory");
  }
}
//@ case: byte block 2
//@ verdict: terminates
//@ case: byte plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void byte_flag() {
  if (me() == 0) {
    while (byte == 0) {
    }
  } else {
    byte = 1;
  }
}

// The host waits for sixteen bytes, of which a kernel writes the last ones.
//@ case: host-pair
//@ verdict: terminates
//@ case: host-pair-other
//@ verdict: may-hang
//@ finding: livelock
__global__ void write_last(unsigned long long* words, unsigned long long value) {
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system>(words[1]).store(value);
}
template <unsigned long long awaited> int host_pair(Setup) {
  void* words = nullptr;
  cudaMallocHost(&words, 16);
  std::memset(words, 0, 16);
  write_last<<<1, 1>>>(static_cast<unsigned long long*>(words), 1);
  auto* both = static_cast<volatile unsigned __int128*>(words);
  while (static_cast<unsigned long long>(*both >> 64) != awaited) {
    cudaStreamQuery(nullptr);
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// The host looks at them once, when another word says that they are there; one kernel says so too early.
//@ case: host-pair-announced
//@ verdict: terminates
//@ case: host-pair-announced-early
//@ verdict: may-hang
//@ finding: livelock
template <bool early> __global__ void announce(unsigned long long* words, int* there) {
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> last(words[1]);
  cuda::atomic_ref<int, cuda::thread_scope_system> flag(*there);
  if (early) {
    flag.store(1);
  }
  last.store(1);
  if (!early) {
    flag.store(1);
  }
}
template <bool early> int host_pair_announced(Setup) {
  void* memory = nullptr;
  cudaMallocHost(&memory, 32);
  std::memset(memory, 0, 32);
  auto* words = static_cast<unsigned long long*>(memory);
  auto* there = reinterpret_cast<int*>(words + 2);
  announce<early><<<1, 1>>>(words, there);
  while (cuda::atomic_ref<int, cuda::thread_scope_system>(*there).load() == 0) {
    cudaStreamQuery(nullptr);
  }
  const unsigned __int128 both = *static_cast<volatile unsigned __int128*>(memory);
  while (static_cast<unsigned long long>(both >> 64) == 0) {
    cudaStreamQuery(nullptr);
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"shared-pair", [](Setup) { return run_kernel({Shape::Block, 2}, shared_pair<5>); }},
      {"shared-pair-other", [](Setup) { return run_kernel({Shape::Block, 2}, shared_pair<6>); }},
      DEVICE_CASE("global-pair", global_pair<1>),
      DEVICE_CASE("global-pair-other", global_pair<2>),
      DEVICE_CASE("wide-lock", wide_lock<true>),
      DEVICE_CASE("wide-lock-kept", wide_lock<false>),
      DEVICE_CASE("vector", vector),
      DEVICE_CASE("byte", byte_flag),
      {"host-pair", host_pair<1>},
      {"host-pair-other", host_pair<2>},
      {"host-pair-announced", host_pair_announced<false>},
      {"host-pair-announced-early", host_pair_announced<true>},
  });
}
