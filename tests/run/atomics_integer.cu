// Integer atomics of 32 and 64 bits on global, shared and host memory, in every scope, with many threads on few objects.
//@ exercises: atomicAdd/Sub/Exch/Min/Max/Inc/Dec/And/Or/Xor/CAS, _block and _system forms, red (unused result), return values
//@ also-flags: -G
#include "support.h"

#include <algorithm>

struct Cells {
  int sum, difference, lowest, highest;
  unsigned incremented, decremented, low, high, all_and, all_or, all_xor, exchanged;
  unsigned long long wide_sum, wide_low, wide_high, wide_and, wide_or, wide_xor, wide_exchanged;
  long long signed_low, signed_high;
};

__device__ void apply(Cells& cells, int t, unsigned long long* old_sum) {
  int value = (t * 7919) % 1001 - 500;
  // The results of these add up to something that no order changes.
  int before = atomicAdd(&cells.sum, 1);
  atomicAdd(old_sum, static_cast<unsigned long long>(before));
  atomicSub(&cells.difference, value);
  atomicMin(&cells.lowest, value);
  atomicMax(&cells.highest, value);
  atomicInc(&cells.incremented, 99u);
  atomicDec(&cells.decremented, 99u);
  atomicMin(&cells.low, static_cast<unsigned>(value));
  atomicMax(&cells.high, static_cast<unsigned>(value));
  atomicAnd(&cells.all_and, ~(1u << (t % 13)));
  atomicOr(&cells.all_or, 1u << (t % 17));
  atomicXor(&cells.all_xor, static_cast<unsigned>(t) * 2654435761u);
  atomicExch(&cells.exchanged, 1000u + t % 2 * 0);
  unsigned long long wide = static_cast<unsigned long long>(t) * 0x100000001ull;
  atomicAdd(&cells.wide_sum, wide);
  atomicMin(&cells.wide_low, wide + 5);
  atomicMax(&cells.wide_high, wide);
  atomicAnd(&cells.wide_and, ~(1ull << (t % 50)));
  atomicOr(&cells.wide_or, 1ull << (t % 60));
  atomicXor(&cells.wide_xor, wide * 0x9E3779B97F4A7C15ull);
  atomicExch(&cells.wide_exchanged, 0xabcdef0123456789ull);
  atomicMin(&cells.signed_low, static_cast<long long>(value) << 40);
  atomicMax(&cells.signed_high, static_cast<long long>(value) << 40);
}

__global__ void on_global(Cells* cells, unsigned long long* old_sum) {
  apply(*cells, blockIdx.x * blockDim.x + threadIdx.x, old_sum);
}

__global__ void on_shared(Cells* out, const Cells* start, unsigned long long* old_sum) {
  __shared__ Cells cells;
  if (threadIdx.x == 0) {
    cells = *start;
  }
  __syncthreads();
  apply(cells, threadIdx.x, old_sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    *out = cells;
  }
}

__global__ void scoped(int* data, unsigned long long* wide) {
  __shared__ int local;
  if (threadIdx.x == 0) {
    local = 0;
  }
  __syncthreads();
  atomicAdd_block(&local, 1);
  atomicMax_block(&local, 3);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd_system(data, local);
    atomicOr_system(data + 1, 1 << blockIdx.x);
    atomicCAS_system(data + 2, 0, 77);
    atomicAdd_system(wide, 1ull << 33);
  }
}

__global__ void spin_add(int* value) {
  // A compare-and-swap loop in which the lanes of a warp compete.
  int expected = *static_cast<volatile int*>(value), seen;
  do {
    seen = expected;
    expected = atomicCAS(value, seen, seen * 3 % 1000003);
  } while (expected != seen);
}

__global__ void tickets(unsigned* next, unsigned* taken) {
  unsigned ticket = atomicAdd(next, 1u);
  taken[ticket] = ticket + 1;
}

__global__ void wrap(unsigned* values) {
  // One thread: exact sequences of the wrapping forms.
  values[0] = atomicInc(&values[10], 3);
  values[1] = atomicInc(&values[10], 3);
  values[2] = atomicInc(&values[11], 3);
  values[3] = atomicDec(&values[12], 3);
  values[4] = atomicDec(&values[12], 3);
  values[5] = atomicDec(&values[13], 3);
  values[6] = atomicExch(&values[14], 6u);
  values[7] = atomicCAS(&values[14], 6u, 9u);
  values[8] = atomicCAS(&values[14], 6u, 10u);
  values[9] = __float_as_uint(atomicExch(reinterpret_cast<float*>(&values[15]), 2.5f));
}

void show(const char* name, const Cells& c, unsigned long long old_sum) {
  std::printf("%s %d %d %d %d %u %u %u %u %x %x %x %u\n  %llx %llx %llx %llx %llx %llx %llx %lld %lld old %llu\n", name, c.sum,
              c.difference, c.lowest, c.highest, c.incremented, c.decremented, c.low, c.high, c.all_and, c.all_or, c.all_xor,
              c.exchanged, c.wide_sum, c.wide_low, c.wide_high, c.wide_and, c.wide_or, c.wide_xor, c.wide_exchanged, c.signed_low,
              c.signed_high, old_sum);
}

int main() {
  Cells start{};
  start.low = ~0u;
  start.all_and = ~0u;
  start.wide_low = start.wide_and = ~0ull;
  Buffer<Cells> cells(std::vector<Cells>{start}), begin(std::vector<Cells>{start});
  Buffer<unsigned long long> old_sum(1);
  on_global<<<7, 96>>>(cells, old_sum);
  SYNC_OK();
  show("global", cells.get()[0], old_sum.get()[0]);
  old_sum.clear();
  on_shared<<<1, 500>>>(cells, begin, old_sum);
  SYNC_OK();
  show("shared", cells.get()[0], old_sum.get()[0]);

  int* host;
  CUDA_OK(cudaHostAlloc(&host, 4 * sizeof(int), cudaHostAllocMapped));
  host[0] = host[1] = host[2] = host[3] = 0;
  Buffer<unsigned long long> wide(1);
  scoped<<<10, 64>>>(host, wide);
  SYNC_OK();
  std::printf("scoped %d %x %d %llx\n", host[0], host[1], host[2], wide.get()[0]);
  CUDA_OK(cudaFreeHost(host));

  Buffer<int> value(std::vector<int>{7});
  spin_add<<<3, 64>>>(value);
  SYNC_OK();
  std::printf("cas loop %d\n", value.get()[0]);

  Buffer<unsigned> next(1), taken(1000);
  tickets<<<10, 100>>>(next, taken);
  SYNC_OK();
  auto all = taken.get();
  bool complete = true;
  for (unsigned i = 0; i < all.size(); ++i) {
    complete = complete && all[i] == i + 1;
  }
  std::printf("tickets %d\n", complete);

  std::vector<unsigned> initial(16);
  initial[10] = 2;
  initial[11] = 9;
  initial[12] = 1;
  initial[13] = 7;
  initial[14] = 5;
  initial[15] = 0x3f800000;
  Buffer<unsigned> values(initial);
  wrap<<<1, 1>>>(values);
  SYNC_OK();
  for (unsigned v : values.get()) {
    std::printf("%x ", v);
  }
  std::printf("\n");
}
