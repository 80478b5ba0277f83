// Scopes, fences, flags and locks (spec/races.md: [RACE-STRONG] [RACE-SYNC]).
#include "cases.h"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/semaphore>
#include <cuda/std/atomic>

namespace cg = cooperative_groups;

template <bool right> __global__ void block_scope(int* counter) {
  if (right) {
    atomicAdd(counter, 1);
  } else {
    atomicAdd_block(counter, 1);
  }
}
CASE(block_scope_atomic_of_two_blocks, "RACE-STRONG.*\n.*scope of one") {
  block_scope<right><<<2, 32>>>(device_memory<int>(1));
}

template <bool right> __global__ void own_counter(int* counter) {
  atomicAdd_block(counter + (right ? blockIdx.x : 0), 1);
}
CASE(block_scope_atomic_own, "RACE-STRONG") { own_counter<right><<<2, 32>>>(device_memory<int>(2)); }

// Message passing from block 0 to block 1: which fences it takes.
enum Way { Plain, Volatile, Atomic };
template <Way way> __device__ void write_flag(int* flag) {
  if (way == Plain) {
    *flag = 1;
  } else if (way == Volatile) {
    *const_cast<volatile int*>(flag) = 1;
  } else {
    atomicExch(flag, 1);
  }
}
template <Way way> __device__ bool read_flag(int* flag) {
  if (way == Plain) {
    return *flag != 0;
  }
  return way == Volatile ? *const_cast<volatile int*>(flag) != 0 : atomicAdd(flag, 0) != 0;
}
template <Way way, bool writer_fence, bool reader_fence> __global__ void pass(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 42;
    if (writer_fence) {
      __threadfence();
    }
    if (threadIdx.x == 0 || way == Plain) {
      write_flag<way>(flag + threadIdx.x);
    }
  } else {
    for (int i = 0; i < 100000 && !read_flag<way>(flag + threadIdx.x); ++i) {
    }
    if (reader_fence) {
      __threadfence();
    }
    data[threadIdx.x + 1] = data[threadIdx.x];
  }
}
CASE(volatile_flag_without_release, "written.* without a release") {
  pass<Volatile, right, true><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(volatile_flag_without_acquire, "without an acquire") {
  pass<Volatile, true, right><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(atomic_flag_without_release, "data-race") {
  pass<Atomic, right, true><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(atomic_flag_without_acquire, "without an acquire") {
  pass<Atomic, true, right><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(plain_flag, "data-race") {
  pass<right ? Volatile : Plain, true, true><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}

// The first guess of a loop around a compare-and-swap, too, has to be a strong read.
template <bool right> __global__ void swap_loop(double* sum) {
  auto* word = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old, seen;
  if (right) {
    old = *static_cast<volatile unsigned long long*>(word);
  } else {
    old = *word;
  }
  do {
    seen = old;
    old = atomicCAS(word, seen, __double_as_longlong(__longlong_as_double(seen) + threadIdx.x));
  } while (seen != old);
}
CASE(first_guess_of_compare_and_swap, "data-race") { swap_loop<right><<<2, 32>>>(device_memory<double>(1)); }

// What an atomic update goes on from has happened before what follows the update: no fence needed.
template <bool right> __global__ void last_block_resets(unsigned* counter) {
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(counter, 1);
    if (ticket == (right ? gridDim.x - 1 : 1)) {
      *counter = 0;
    }
  }
}
CASE(last_block_resets_counter, "data-race") {
  last_block_resets<right><<<5, 32>>>(device_memory<unsigned>(1));
}

// The same by somebody else of the block that came last, behind a barrier.
template <bool right> __global__ void other_thread_resets(unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    last = atomicInc(counter, 100) == gridDim.x - 1;
  }
  if (right) {
    __syncthreads();
  }
  if (threadIdx.x == 33 && (right ? last : blockIdx.x == 3)) {
    *counter = 0;
  }
}
CASE(other_thread_resets_counter, "data-race") {
  other_thread_resets<right><<<4, 64>>>(device_memory<unsigned>(1));
}

// A store does not go on from the value before it: who reads it has not observed earlier updates.
template <bool right> __global__ void store_between(int* counter) {
  if (blockIdx.x == 0) {
    atomicAdd(counter, 1);
  } else if (blockIdx.x == 1) {
    for (int i = 0; i < 100000 && atomicAdd(counter, 0) != 1; ++i) {
    }
    if (!right) {
      *const_cast<volatile int*>(counter) = 7;
    } else {
      atomicAdd(counter, 6);
    }
  } else {
    for (int i = 0; i < 100000 && *const_cast<volatile int*>(counter) != 7; ++i) {
    }
    *counter = 0;
  }
}
CASE(store_between_update_and_reader, "data-race") {
  store_between<right><<<3, 1>>>(device_memory<int>(1));
}

template <bool right> __global__ void narrow_fence(int* data, int* flag) {
  if (blockIdx.x == 0) {
    *data = 42;
    if (right) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    data[1] = *data;
  }
}
CASE(block_fence_between_blocks, "scopes does not include") {
  narrow_fence<right><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}

template <cuda::std::memory_order store, cuda::std::memory_order load, cuda::thread_scope scope>
__global__ void order(int* data, int* flag) {
  cuda::atomic_ref<int, scope> f(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    f.store(1, store);
  } else {
    while (f.load(load) == 0) {
    }
    data[1] = *data;
  }
}
using namespace cuda::std;
CASE(relaxed_store, "written.* without a release") {
  order<right ? memory_order_release : memory_order_relaxed, memory_order_acquire,
        cuda::thread_scope_device><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(relaxed_load, "without an acquire") {
  order<memory_order_release, right ? memory_order_acquire : memory_order_relaxed,
        cuda::thread_scope_device><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}
CASE(block_scope_flag, "data-race") {
  order<memory_order_seq_cst, memory_order_seq_cst,
        right ? cuda::thread_scope_system : cuda::thread_scope_block>
      <<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}

template <bool right> __global__ void fences(int* data, int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
    f.store(1, memory_order_relaxed);
  } else {
    while (f.load(memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(
        memory_order_acquire,
        right ? cuda::thread_scope_device : cuda::thread_scope_block
    );
    data[1] = *data;
  }
}
CASE(acquire_fence_too_narrow, "scopes does not include") {
  fences<right><<<2, 1>>>(device_memory<int>(2), device_memory<int>(1));
}

template <bool right> __global__ void chain(int* data, int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    f.store(1, memory_order_release);
  } else if (blockIdx.x == 1) {
    int one = 1;
    if (right) { // an atomic update continues the release sequence, a store ends it
      while (!f.compare_exchange_weak(one, 2, memory_order_relaxed)) {
        one = 1;
      }
    } else {
      while (f.load(memory_order_relaxed) != 1) {
      }
      f.store(2, memory_order_relaxed);
    }
  } else {
    while (f.load(memory_order_acquire) != 2) {
    }
    data[1] = *data;
  }
}
CASE(release_sequence, "data-race") { chain<right><<<3, 1>>>(device_memory<int>(2), device_memory<int>(1)); }

template <bool right> __global__ void transitive(int* data, int* flags) {
  cuda::atomic_ref<int, cuda::thread_scope_device> first(flags[0]), second(flags[1]);
  if (blockIdx.x == 0) {
    *data = 42;
    first.store(1, memory_order_release);
  } else if (blockIdx.x == 1) {
    while (first.load(right ? memory_order_acquire : memory_order_relaxed) == 0) {
    }
    second.store(1, memory_order_release);
  } else {
    while (second.load(memory_order_acquire) == 0) {
    }
    data[1] = *data;
  }
}
CASE(causality_through_a_third,
     "without an acquire, so its own release after that does not order access .1.(.|\\n)*acquire, or call __threadfence") {
  transitive<right><<<3, 1>>>(device_memory<int>(2), device_memory<int>(2));
}

// Each block hands in its part; the last one tells the first block that all are there.
template <bool right> __global__ void last_block_tells(int* parts, unsigned* count, int* go, int* out) {
  parts[blockIdx.x] = 42;
  __threadfence();
  if (atomicAdd(count, 1) == gridDim.x - 1) {
    if (right) {
      __threadfence();
    }
    cuda::atomic_ref<int, cuda::thread_scope_device>(*go).store(1, memory_order_release);
  }
  if (blockIdx.x == 0) {
    while (cuda::atomic_ref<int, cuda::thread_scope_device>(*go).load(memory_order_acquire) == 0) {
    }
    for (unsigned b = 0; b < gridDim.x; ++b) {
      *out += parts[b];
    }
  }
}
CASE(last_block_tells_the_first,
     "is read at .*order.cu:[0-9]+ by thread .0,0,0. of block .2,0,0. .*without an acquire, so its own release") {
  last_block_tells<right><<<3, 1>>>(
      device_memory<int>(3), device_memory<unsigned>(1), device_memory<int>(1), device_memory<int>(1));
}

template <bool lock_fence, bool unlock_fence> __global__ void mutex(int* lock, int* data) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (lock_fence) {
    __threadfence();
  }
  ++*data;
  if (unlock_fence) {
    __threadfence();
  }
  atomicExch(lock, 0);
}
CASE(lock_without_acquire, "without an acquire") {
  mutex<right, true><<<4, 1>>>(device_memory<int>(1), device_memory<int>(1));
}
CASE(unlock_without_release, "data-race") {
  mutex<true, right><<<4, 1>>>(device_memory<int>(1), device_memory<int>(1));
}

template <bool right> __global__ void spin_lock(int* lock, int* data) {
  cuda::atomic_ref<int, cuda::thread_scope_device> l(*lock);
  for (bool done = false; !done;) {
    if (l.exchange(1, memory_order_acquire) == 0) {
      ++*data;
      l.store(0, right ? memory_order_release : memory_order_relaxed);
      done = true;
    }
  }
}
CASE(lanes_at_a_lock, "data-race") { spin_lock<right><<<2, 32>>>(device_memory<int>(1), device_memory<int>(1)); }

template <bool right> __global__ void semaphore(int* data) {
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block>* s;
  __shared__ alignas(16) char bytes[sizeof(cuda::binary_semaphore<cuda::thread_scope_block>)];
  if (threadIdx.x == 0) {
    s = new (bytes) cuda::binary_semaphore<cuda::thread_scope_block>(1);
  }
  __syncthreads();
  if (right) {
    s->acquire();
  }
  ++data[blockIdx.x];
  if (right) {
    s->release();
  }
}
CASE(semaphore, "data-race") { semaphore<right><<<2, 64>>>(device_memory<int>(2)); }

template <bool right> __global__ void grid_sync(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int n = gridDim.x * blockDim.x;
  data[i] = i;
  if (right) {
    cg::this_grid().sync();
  } else {
    __syncthreads();
  }
  data[n + i] = data[n - 1 - i];
}
CASE(grid_sync, "different blocks") {
  int* data = device_memory<int>(512);
  void* arguments[] = {&data};
  must(cudaLaunchCooperativeKernel((void*)grid_sync<right>, dim3(4), dim3(64), arguments, 0, 0));
}

template <bool right> __global__ void last_block(int* parts, unsigned* count, int* out) {
  __shared__ bool last;
  parts[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  __threadfence();
  if (right) {
    __syncthreads(); // the others' parts as well
  }
  if (threadIdx.x == 0) {
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
      sum += parts[b * 64 + threadIdx.x];
    }
    out[threadIdx.x] = sum;
  }
}
CASE(last_block_sums_up, "data-race") {
  last_block<right><<<4, 64>>>(device_memory<int>(256), device_memory<unsigned>(1), device_memory<int>(64));
}

template <bool right> __global__ void sizes(unsigned long long* word) {
  if (threadIdx.x % 32 == 0) {
    if (threadIdx.x == 0 || right) {
      atomicAdd(word, 1ull);
    } else {
      atomicAdd(reinterpret_cast<unsigned*>(word), 1u);
    }
  }
}
CASE(atomics_of_two_sizes, "overlap in part") { sizes<right><<<1, 64>>>(device_memory<unsigned long long>(1)); }

template <bool right> __global__ void atomic_then_plain(int* data) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(*data);
  a.fetch_add(1, memory_order_relaxed);
  data[1 + blockIdx.x] = right ? a.load(memory_order_relaxed) : *data; // the first may be too early
}
CASE(atomic_ref_and_plain_read, "plain access") { atomic_then_plain<right><<<2, 1>>>(device_memory<int>(3)); }

__device__ cuda::atomic<int, cuda::thread_scope_device> published{0};
__device__ int payload;
template <bool right> __global__ void counted(int* out) {
  if (blockIdx.x < 3) {
    if (blockIdx.x == 0 || right) {
      atomicAdd(&payload, 1);
    } else {
      payload = 7;
    }
    published.fetch_add(1, memory_order_release);
  } else {
    while (published.load(memory_order_acquire) < 3) {
    }
    *out = payload;
  }
}
CASE(counter_of_releases, "data-race") { counted<right><<<4, 1>>>(device_memory<int>(1)); }

// A relaxed store is carried out before it is looked at: memory holds its value by then.
template <bool right> __global__ void plain_and_relaxed_store(int* parent, int value) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(*parent);
  if (blockIdx.x == 1) {
    a.store(value, memory_order_relaxed);
  } else if (right) {
    a.store(value + 1, memory_order_relaxed);
  } else {
    *parent = value + 1;
  }
}
CASE(plain_and_relaxed_stores, "data-race") { plain_and_relaxed_store<right><<<2, 1>>>(device_memory<int>(1), 2); }
