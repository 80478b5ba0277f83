// Volatile accesses that nothing orders and of whose values the program makes data ([RACE-VALUE]): a warning. In
// the right twins they are ordered, or the value is what others wait for or go by.
//@ find: unordered
#include "cases.h"

#include <cuda/atomic>

template <bool right> __global__ void total(int* out) {
  __shared__ volatile int total;
  if (threadIdx.x == 64) {
    total = 42;
  }
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = total;
}
CASE(total_before_it_is_there, "put __syncthreads.. between") {
  total<right><<<1, 128>>>(device_memory<int>(128));
}

// As it was written before threads of a warp were scheduled on their own.
template <bool right> __global__ void warp_reduce(int* out) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 32] = 1;
  __syncwarp();
  for (int step = 32; step > 0; step /= 2) {
    const int sum = s[threadIdx.x] + s[threadIdx.x + step];
    if (right) {
      __syncwarp();
    }
    s[threadIdx.x] = sum;
    if (right) {
      __syncwarp();
    }
  }
  out[threadIdx.x] = s[0];
}
CASE(warp_reduction, "put __syncwarp") { warp_reduce<right><<<1, 32>>>(device_memory<int>(32)); }

template <bool right> __global__ void bins(const int* in, int* out) {
  __shared__ volatile int bin[64];
  bin[threadIdx.x] = 0;
  __syncthreads();
  if (right) {
    bin[threadIdx.x] = bin[threadIdx.x] + in[threadIdx.x];
  } else {
    bin[in[threadIdx.x]] = bin[in[threadIdx.x]] + 1;
  }
  __syncthreads();
  out[threadIdx.x] = bin[threadIdx.x];
}
CASE(volatile_histogram, "is not ordered with") {
  bins<right><<<1, 64>>>(device_memory<int>(64), device_memory<int>(64));
}

// A histogram for warps in lockstep: who loses tries again. Whether it does is decided by the
// value, but threads that are scheduled on their own overwrite what another has written and seen.
template <bool right> __global__ void tagged_retries(const int* in, int* out) {
  __shared__ volatile unsigned bin[32];
  bin[threadIdx.x] = 0;
  __syncwarp();
  const int at = in[threadIdx.x] & 3;
  if (right) {
    atomicAdd(const_cast<unsigned*>(&bin[at]), 1);
  } else {
    const unsigned tag = threadIdx.x << 27;
    unsigned count = 0;
    do {
      count = tag | ((bin[at] & 0x07ffffff) + 1);
      bin[at] = count;
    } while (bin[at] != count);
  }
  __syncwarp();
  out[threadIdx.x] = bin[threadIdx.x] & 0x07ffffff;
}
CASE(tagged_retries_of_a_warp, "use one atomic operation") {
  tagged_retries<right><<<1, 32>>>(device_memory<int>(32), device_memory<int>(32));
}

// The least is found by whoever comes: to write it twice, or to write more first, does no harm.
template <bool right> __global__ void least(int* place, int* out) {
  volatile int* const least = place;
  if (right) {
    for (bool again = true; again;) {
      const int mine = min(*least, static_cast<int>(threadIdx.x));
      again = *least != mine;
      if (again) {
        *least = mine;
      }
    }
  } else {
    *least = *least + threadIdx.x;
    out[threadIdx.x] = *least;
  }
}
CASE(least_of_all, "is not ordered with") {
  least<right><<<1, 32>>>(device_memory<int>(1), device_memory<int>(32));
}

template <bool right> __global__ void of_other_block(volatile int* value, int* out) {
  if (blockIdx.x == 1 - right) {
    out[threadIdx.x] = *value;
  } else {
    *value = 7;
  }
}
CASE(of_another_block, "different blocks") {
  auto* value = device_memory<int>(1);
  auto* out = device_memory<int>(32);
  if (right) {
    of_other_block<true><<<1, 32>>>(value, out);
    of_other_block<false><<<1, 32>>>(value, out);
  } else {
    of_other_block<false><<<2, 32>>>(value, out);
  }
}

// What decides is no data: a flag, a guess for a compare-and-swap, a snapshot that is taken again, a counter,
// memory_order_relaxed.
template <bool right> __global__ void decides(volatile int* flag, int* guess, int* out) {
  if (!right) {
    if (threadIdx.x == 0) {
      *flag = 3;
    }
    out[threadIdx.x] = *flag;
    return;
  }
  if (threadIdx.x == 0) {
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
  }
  if (*flag > 0) {
    out[threadIdx.x] = 1;
  }
  int old = *reinterpret_cast<volatile int*>(guess);
  for (int seen = old;; old = seen) {
    seen = atomicCAS(guess, old, old + 2);
    if (seen == old) {
      break;
    }
  }
  cuda::atomic_ref<int, cuda::thread_scope_device> relaxed(guess[1]);
  relaxed.store(threadIdx.x, cuda::memory_order_relaxed);
  out[threadIdx.x + 64] = relaxed.load(cuda::memory_order_relaxed);
  atomicAdd(&guess[2], 1);
  out[threadIdx.x + 128] = reinterpret_cast<volatile int*>(guess)[2];
}
CASE(values_that_decide, "is not ordered with") {
  decides<right><<<1, 64>>>(device_memory<int>(1), device_memory<int>(3), device_memory<int>(192));
}

// Data that is read again until a count says that it was whole.
template <bool right> __global__ void snapshot(volatile int* count, volatile int* data, int* out) {
  if (threadIdx.x == 0) {
    *count = *count + 1;
    __threadfence();
    data[0] = 5;
    data[1] = 6;
    __threadfence();
    *count = *count + 1;
    return;
  }
  int first = 0;
  int second = 0;
  if (right) {
    int seen = 0;
    do {
      seen = *count;
      __threadfence();
      first = data[0];
      second = data[1];
      __threadfence();
    } while (seen % 2 != 0 || seen != *count);
  } else {
    first = data[0];
    second = data[1];
  }
  out[threadIdx.x] = first + second;
}
CASE(snapshot_without_a_count, "is not ordered with") {
  snapshot<right><<<1, 64>>>(device_memory<int>(1), device_memory<int>(2), device_memory<int>(64));
}
