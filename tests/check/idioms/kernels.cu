// Kernels as programs have them: hundreds of threads that load, meet at barriers, add up and store.
// Nobody waits for anybody, so they end; what is tried here is that it takes a few states to know.
// And sums that are looked at while they grow, where the order of things matters after all.
#include "cases.h"
#include <mma.h>

constexpr int block_size = 256;
__device__ int input[64 * block_size], output[64 * block_size], sums[64];
__device__ float float_sum;
__device__ Atomic<int> arrived, flag;

// --- Nobody looks
// -----------------------------------------------------------------------------------

__global__ void add_up() {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  output[i] = input[i] + 1;
}
//@ case: add
//@ verdict: terminates
//@ large: thousands of threads
int add(Setup) {
  for (int k = 0; k < 8; ++k) {
    add_up<<<64, block_size>>>();
  }
  return cudaDeviceSynchronize();
}

__global__ void reduce_block() {
  __shared__ int part[block_size];
  part[threadIdx.x] = input[blockIdx.x * block_size + threadIdx.x];
  __syncthreads();
  for (int half = block_size / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(&sums[0], part[0]);
  }
}
//@ case: reduce
//@ verdict: terminates
//@ large: thousands of threads
int reduce(Setup) {
  reduce_block<<<32, block_size>>>();
  int sum = 0;
  cudaMemcpyFromSymbol(&sum, sums, sizeof sum);
  return sum;
}

__global__ void count() {
  __shared__ int bins[64];
  if (threadIdx.x < 64) {
    bins[threadIdx.x] = 0;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[(input[i] + i * 7) % 64], 1);
  __syncthreads();
  if (threadIdx.x < 64) {
    atomicAdd(&sums[threadIdx.x], bins[threadIdx.x]);
  }
}
//@ case: histogram
//@ verdict: terminates
//@ large: thousands of threads
int histogram(Setup) {
  count<<<16, block_size>>>();
  return cudaDeviceSynchronize();
}

__global__ void add_floats() {
  atomicAdd(&float_sum, 0.1F * threadIdx.x);
}
//@ case: floats
//@ verdict: unknown
//@ large: thousands of threads
//@ coverage: one-order
int floats(Setup) {
  add_floats<<<8, block_size>>>();
  return cudaDeviceSynchronize();
}

// Sums of one kernel are looked at by the next one.
__global__ void look_at_sums() {
  if (cuda::atomic_ref<int, cuda::thread_scope_device>(sums[0]).load() == 0) {
    __trap();
  }
}
//@ case: one-after-the-other
//@ verdict: terminates
//@ large: thousands of threads
int one_after_the_other(Setup) {
  count<<<4, block_size>>>();
  look_at_sums<<<1, 1>>>();
  return cudaDeviceSynchronize();
}

// --- Somebody looks
// ---------------------------------------------------------------------------------

// Arriving is a sum, and somebody waits for it.
__global__ void arrive() {
  arrived.fetch_add(1, memory_order_release);
  while (arrived.load(memory_order_acquire) < static_cast<int>(gridDim.x * blockDim.x)) {
  }
}
//@ case: barrier plain 3
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: barrier cooperative 3
//@ verdict: terminates
//@ rests-on: COOP

// The kernel that waits was submitted first.
__global__ void wait_for_sum() {
  while (arrived.load(memory_order_acquire) == 0) {
  }
}
__global__ void add_one() {
  arrived.fetch_add(1, memory_order_release);
}
//@ case: two-streams
//@ verdict: may-hang
//@ finding: starvation
int two_streams(Setup) {
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  add_one<<<1, 2, 0, a>>>();
  wait_for_sum<<<1, 1, 0, b>>>();
  return cudaDeviceSynchronize();
}

// Two kinds of sums at one place: the result tells which one was first.
__global__ void two_kinds() {
  if (threadIdx.x == 0) {
    atomicMax(&sums[1], 1);
  } else {
    atomicAdd(&sums[1], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    while (sums[1] == 2 && flag.load(memory_order_relaxed) == 0) { // max first: 2; last: 1
    }
  }
}
//@ case: two-kinds block
//@ verdict: may-hang
//@ finding: livelock

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

// Matrix operations are collectives of a warp. Both kernels take no other step before they end.
__device__ __half halves[4 * 256];
__device__ float products[64 * 256];
__global__ void multiply() {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0F);
  for (int i = 0; i < 2; ++i) {
    load_matrix_sync(a, halves + i * 256, 16);
    load_matrix_sync(b, halves + (i + 2) * 256, 16);
    mma_sync(c, a, b, c);
  }
  store_matrix_sync(products + blockIdx.x * 256, c, 16, mem_row_major);
}
//@ case: matrices
//@ verdict: terminates
//@ large: thousands of threads
int matrices(Setup) {
  multiply<<<64, 32>>>();
  return cudaDeviceSynchronize();
}

// --- Warps that fetch their work ---------------------------------------------------------------------

// What the other lanes hold when lane 0 hands over the next number is the last one, and means nothing.
__device__ int next_work;
__global__ void fetch_work(int items) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (;;) {
    int item = 0;
    if (lane == 0) {
      item = atomicAdd(&next_work, 1);
    }
    item = __shfl_sync(~0U, item, 0);
    if (item >= items) {
      break;
    }
    output[item * 32 + lane] = item;
  }
}
//@ case: fetch-work
//@ flags: --max-states=20000
//@ verdict: terminates
int fetch_work_by_warps(Setup) {
  fetch_work<<<8, 64>>>(24);
  return cudaDeviceSynchronize();
}

// Here it does: each lane's number goes somewhere, but for one.
//@ case: hands-over block 4
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: hands-over-nothing block 4
//@ verdict: terminates
template <bool last> __global__ void hands_over() {
  const unsigned all_lanes = (1U << blockDim.x) - 1;
  const int ticket = atomicAdd(&next_work, 1);
  // From the lane behind; the first one gets its own, the last one's goes to nobody.
  const int before = __shfl_up_sync(all_lanes, ticket, 1);
  const bool is_last = threadIdx.x == blockDim.x - 1;
  if (is_last ? (last && before == 3) : __shfl_sync(all_lanes & ~(1U << (blockDim.x - 1)), before, 0) == 7) {
    while (flag.load(memory_order_relaxed) == 0) {
    }
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"add", add},
          {"reduce", reduce},
          {"histogram", histogram},
          {"floats", floats},
          {"one-after-the-other", one_after_the_other},
          {"two-streams", two_streams},
          {"matrices", matrices},
          {"fetch-work", fetch_work_by_warps},
          DEVICE_CASE("hands-over", hands_over<true>),
          DEVICE_CASE("hands-over-nothing", hands_over<false>),
          DEVICE_CASE("barrier", arrive),
          DEVICE_CASE("two-kinds", two_kinds),
      }
  );
}
