// Races within a block: shared memory, warps, barriers, sizes (spec/races.md: [RACE-BARRIER]).
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_scan.cuh>

namespace cg = cooperative_groups;

template <bool right> __global__ void neighbour(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = s[(threadIdx.x + 32) % 256];
}
CASE(missing_syncthreads, "RACE-BARRIER.*\n.*different warps") {
  neighbour<right><<<1, 256>>>(device_memory<int>(256));
}

template <bool right> __global__ void lanes(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (right) {
    __syncwarp();
  }
  out[threadIdx.x] = s[31 - threadIdx.x];
}
CASE(missing_syncwarp, "RACE-BARRIER.*\n.*one warp") { lanes<right><<<1, 32>>>(device_memory<int>(32)); }

template <bool right> __global__ void rounds(int* out) {
  __shared__ int s[128];
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    s[threadIdx.x] = i + threadIdx.x;
    __syncthreads();
    sum += s[(threadIdx.x + 64) % 128];
    if (right) {
      __syncthreads();
    }
  }
  out[threadIdx.x] = sum;
}
CASE(write_after_read_next_round, "read of 4 bytes races with a write in shared") {
  rounds<right><<<1, 128>>>(device_memory<int>(128));
}

// Of such a reduction two can race for the same words: a lane that reads the first one's with the
// first lane of its warp, and with those of other warps, for which __syncwarp() is not enough.
template <bool right> __device__ int sum_of_block(int value, int* s) {
  for (int apart = 16; apart > 0; apart /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, apart);
  }
  if (right) {
    __syncthreads();
  }
  if (threadIdx.x % 32 == 0) {
    s[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = 0;
  for (int warp = 0; warp < 4; ++warp) {
    value += s[warp];
  }
  return value;
}
template <bool right> __global__ void two_sums(int* out) {
  __shared__ int s[4];
  const int sum = sum_of_block<right>(threadIdx.x, s);
  out[threadIdx.x] = sum_of_block<right>(sum, s);
}
CASE(second_reduction_in_the_same_words, "different warps(.*\n)*.*put __syncthreads") {
  two_sums<right><<<1, 128>>>(device_memory<int>(128));
}

// The first update of a bin is ordered behind its initialisation, and strong; other warps' are not.
template <bool right> __global__ void bins(int* out) {
  __shared__ int bin[8];
  if (threadIdx.x < 8) {
    bin[threadIdx.x] = 0;
  }
  if (right) {
    __syncthreads();
  }
  atomicAdd(&bin[threadIdx.x % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) {
    out[threadIdx.x] = bin[threadIdx.x];
  }
}
CASE(plain_write_behind_own_update, "RACE-STRONG") {
  bins<right><<<1, 64>>>(device_memory<int>(8));
}

template <bool right> __global__ void look_and_add(int* count, int* out) {
  if (threadIdx.x == 0) {
    out[0] = right ? atomicAdd(count, 0) : *count;
  }
  atomicAdd(count, 1);
}
CASE(plain_read_before_own_update, "RACE-STRONG") {
  look_and_add<right><<<1, 2>>>(device_memory<int>(1), device_memory<int>(1));
}

template <bool right> __global__ void reduce(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      s[threadIdx.x] += s[threadIdx.x + step];
    }
    if (right || step > 64) {
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) {
    *out = s[0];
  }
}
CASE(reduction_tail_without_barrier, "data-race") { reduce<right><<<1, 256>>>(device_memory<int>(1)); }

template <bool right> __global__ void warp_reduce(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 32] = 1;
  __syncwarp();
  for (int step = 32; step > 0; step /= 2) {
    int sum = s[threadIdx.x] + s[threadIdx.x + step];
    if (right) {
      __syncwarp();
    }
    s[threadIdx.x] = sum;
    __syncwarp();
  }
  out[threadIdx.x] = s[0];
}
CASE(warp_reduction_one_barrier, "data-race") { warp_reduce<right><<<1, 32>>>(device_memory<int>(32)); }

template <bool right> __global__ void histogram(int* bins) {
  __shared__ int local[8];
  if (threadIdx.x < 8) {
    local[threadIdx.x] = 0;
  }
  __syncthreads();
  if (right) {
    atomicAdd(&local[threadIdx.x % 8], 1);
  } else {
    ++local[threadIdx.x % 8];
  }
  __syncthreads();
  if (threadIdx.x < 8) {
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
  }
}
CASE(histogram_without_atomics, "data-race") { histogram<right><<<4, 128>>>(device_memory<int>(8)); }

template <bool right> __global__ void bytes(unsigned char* out) {
  __shared__ unsigned char s[128];
  s[threadIdx.x] = 1; // neighbours in a word
  if (!right) {
    s[threadIdx.x / 2] = 2;
  }
  out[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}
CASE(bytes_of_one_word, "data-race") { bytes<right><<<2, 128>>>(device_memory<unsigned char>(256)); }

template <bool right> __global__ void halves(unsigned* words) {
  auto* half = reinterpret_cast<unsigned short*>(words) + 2 * threadIdx.x;
  if (threadIdx.x % 2 == 0) {
    half[0] = 1;
  } else {
    half[right ? 1 : -1] = 1;
    half[right ? 0 : -2] = 2;
  }
}
CASE(mixed_sizes_overlap, "write of 2 bytes races with another write") {
  halves<right><<<1, 64>>>(device_memory<unsigned>(64));
}

template <bool right> __global__ void vectors(int4* data, int* out) {
  if (threadIdx.x < 32) {
    data[threadIdx.x] = make_int4(1, 2, 3, 4);
  }
  if (right) {
    __syncthreads();
  }
  if (threadIdx.x >= 32) {
    out[threadIdx.x] = reinterpret_cast<int*>(data)[(threadIdx.x - 32) * 4 + 3];
  }
}
CASE(vector_and_element, "write of 16 bytes") {
  vectors<right><<<1, 64>>>(device_memory<int4>(32), device_memory<int>(64));
}

template <bool right> __global__ void named(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync %0, 64;" ::"r"(1) : "memory");
    out[threadIdx.x] = s[threadIdx.x - 32];
    if (!right) {
      s[threadIdx.x - 32] = 0;
    }
  }
  if (!right && threadIdx.x < 32) {
    out[threadIdx.x] = s[threadIdx.x];
  }
}
CASE(arrive_orders_one_way, "data-race") { named<right><<<1, 64>>>(device_memory<int>(64)); }

template <bool right> __global__ void named_two(int* out) {
  __shared__ int s[128];
  const int pair = threadIdx.x / 64;
  s[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
  out[threadIdx.x] = s[right ? threadIdx.x ^ 32 : (threadIdx.x + 64) % 128];
}
CASE(named_barrier_of_other_warps, "RACE-BARRIER") { named_two<right><<<1, 128>>>(device_memory<int>(128)); }

template <bool right> __global__ void shuffle(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __shfl_xor_sync(~0u, threadIdx.x, 1); // orders nothing
  if (__any_sync(~0u, threadIdx.x == 40)) {
    return;
  }
  if (right) {
    __syncwarp();
  }
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
CASE(shuffle_is_no_barrier, "one warp") { shuffle<right><<<1, 32>>>(device_memory<int>(32)); }

template <bool right> __global__ void partial(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  const unsigned half = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  __syncwarp(half);
  out[threadIdx.x] = s[right ? threadIdx.x ^ 8 : threadIdx.x ^ 16];
}
CASE(syncwarp_of_half, "one warp") { partial<right><<<1, 32>>>(device_memory<int>(32)); }

template <bool right> __global__ void tiles(int* out) {
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  s[threadIdx.x] = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
  tile.sync();
  const unsigned base = threadIdx.x / 8 * 8;
  out[threadIdx.x] = s[right ? base + (threadIdx.x + 3) % 8 : (threadIdx.x + 8) % 64];
}
CASE(tile_of_others, "data-race") { tiles<right><<<1, 64>>>(device_memory<int>(64)); }

template <bool right> __global__ void big_tile(int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int s[256];
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<128>(block);
  s[threadIdx.x] = threadIdx.x;
  if (right) { // its barrier is one word that all tiles update, so it may order more than it must
    tile.sync();
  }
  const unsigned base = threadIdx.x / 128 * 128;
  out[threadIdx.x] = s[base + (threadIdx.x + 70) % 128];
}
CASE(tile_of_four_warps_not_synchronised, "data-race") { big_tile<right><<<1, 256>>>(device_memory<int>(256)); }

template <bool right> __global__ void early_exit(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 5;
  if (threadIdx.x >= 40) {
    return;
  }
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = s[threadIdx.x + 24];
}
CASE(exited_threads, "data-race") { early_exit<right><<<1, 64>>>(device_memory<int>(64)); }

template <bool right> __global__ void reduce_barrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  const int n = right ? __syncthreads_count(threadIdx.x < 7) : __reduce_add_sync(~0u, threadIdx.x < 7);
  out[threadIdx.x] = n + s[63 - threadIdx.x];
}
CASE(syncthreads_count, "data-race") { reduce_barrier<right><<<1, 64>>>(device_memory<int>(64)); }

template <bool right> __global__ void mixed_atomic(int* out) {
  __shared__ int counter;
  if (threadIdx.x == 0) {
    counter = 0;
  }
  __syncthreads();
  atomicAdd(&counter, 1);
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = counter;
}
CASE(atomic_and_plain, "atomics protect only") { mixed_atomic<right><<<1, 64>>>(device_memory<int>(64)); }

template <bool right> __global__ void read_only(const int* __restrict__ in, int* out) {
  int sum = 0;
  for (int i = 0; i < 64; ++i) {
    sum += __ldg(&in[i]);
  }
  out[right ? 64 + threadIdx.x : threadIdx.x] = sum;
}
CASE(ldg_of_written, "data-race") {
  int* data = device_memory<int>(128);
  read_only<right><<<1, 64>>>(data, data);
}

// What cooperative groups does inside a tile of several warps is its own matter.
template <bool right> __global__ void large_tiles(int* out) {
  __shared__ cooperative_groups::block_tile_memory<256> memory;
  const auto block = cooperative_groups::this_thread_block(memory);
  const auto tile = cooperative_groups::tiled_partition<128>(block);
  const int most =
      cooperative_groups::reduce(tile, int(threadIdx.x), cooperative_groups::greater<int>());
  out[right ? threadIdx.x : threadIdx.x % 128] = most;
}
CASE(reduction_of_large_tiles, "write of 4 bytes races with another write") {
  large_tiles<right><<<1, 256>>>(device_memory<int>(256));
}

// All warps read the same words, in several phases; then one thread writes one of them.
template <bool right> __global__ void read_by_all_warps(int* out) {
  __shared__ int words[16];
  int sum = 0;
  for (int phase = 0; phase < 3; ++phase) {
    if (threadIdx.x < 16) {
      words[threadIdx.x] = phase;
    }
    __syncthreads();
    for (int again = 0; again < 2; ++again) {
      sum += words[threadIdx.x % 16] + words[threadIdx.x / 32];
    }
    if (right || phase < 2) {
      __syncthreads();
    }
    if (phase == 2 && threadIdx.x == 255) {
      words[3] = sum;
    }
  }
  out[threadIdx.x] = sum;
}
CASE(words_that_all_warps_have_read, "write of 4 bytes races with a read in shared memory") {
  read_by_all_warps<right><<<1, 256>>>(device_memory<int>(256));
}

// The lanes of half a warp read what those of the other half write.
template <bool right> __global__ void halves(int* out) {
  __shared__ int words[64];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int seen = words[threadIdx.x % 16] + words[threadIdx.x / 16];
  if (right) {
    __syncthreads();
  }
  words[threadIdx.x] = seen;
  __syncthreads();
  out[threadIdx.x] = words[63 - threadIdx.x];
}
CASE(halves_of_a_warp, "races with a read in shared memory") {
  halves<right><<<1, 64>>>(device_memory<int>(64));
}

// What would help: no barrier goes into one statement, but one goes between two calls of a library.
template <bool right> __global__ void sum_in_one_statement(int* sum) {
  if (right) {
    atomicAdd(sum, threadIdx.x);
  } else {
    *sum += threadIdx.x;
  }
}
CASE(update_in_one_statement, "help: use one atomic operation") {
  sum_in_one_statement<right><<<1, 64>>>(device_memory<int>(1));
}
template <bool right> __global__ void last_one(int* last) {
  if (!right || threadIdx.x == 63) {
    *last = threadIdx.x;
  }
}
CASE(writes_by_one_statement, "help: let one of the threads write") { last_one<right><<<1, 64>>>(device_memory<int>(1)); }
template <bool right> __global__ void scans(int* out) {
  using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage memory;
  int value = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    Scan(memory).InclusiveSum(value, value);
    if (right) {
      __syncthreads();
    }
  }
  out[threadIdx.x] = value;
}
CASE(scans_by_one_memory, "help: put __syncthreads") { scans<right><<<1, 128>>>(device_memory<int>(128)); }

// Two kernels write by one line, the first one value, the second several: the report is about the second.
__device__ void put(int* place, int value) { *place = value; }
template <bool right> __global__ void writes_one(int* place) {
  if (!right || threadIdx.x == 0) {
    put(place, 1);
  }
}
template <bool right> __global__ void writes_several(int* place) {
  if (!right || threadIdx.x == 0) {
    put(place, static_cast<int>(threadIdx.x));
  }
}
CASE(value_of_another_kernel, "write of 4 bytes by thread .* of kernel 'writes_several") {
  int* place = device_memory<int>(1);
  writes_one<right><<<1, 32>>>(place);
  writes_several<right><<<1, 32>>>(place);
}

// As in holders.cu, but the memory is the user's own, in CUDA C++.
extern __shared__ int global_smem[];
template <bool right> __global__ void named_so(int* out) {
  if (!right || threadIdx.x < 16) {
    global_smem[threadIdx.x % 16] = static_cast<int>(threadIdx.x);
  }
  __syncthreads();
  out[threadIdx.x] = global_smem[threadIdx.x % 16];
}
CASE(memory_named_like_tritons, "data-race") { named_so<right><<<1, 32, 64>>>(device_memory<int>(32)); }
