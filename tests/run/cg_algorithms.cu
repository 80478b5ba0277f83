// Collective algorithms of cooperative groups: reduce, scans, asynchronous copies, invoke_one.
//@ exercises: cg::reduce with every operator, inclusive/exclusive_scan with operators, reduce_update_async, memcpy_async/wait/wait_prior, invoke_one(_broadcast)
#include "support.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>

namespace cg = cooperative_groups;

template <int size> __device__ void reduce_all(int*& out) {
  auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  int value = (static_cast<int>(threadIdx.x) * 37) % 101 - 50;
  unsigned bits = threadIdx.x * 2654435761u;
  *out++ = cg::reduce(tile, value, cg::plus<int>());
  *out++ = cg::reduce(tile, value, cg::less<int>());
  *out++ = cg::reduce(tile, value, cg::greater<int>());
  *out++ = static_cast<int>(cg::reduce(tile, bits, cg::bit_and<unsigned>()));
  *out++ = static_cast<int>(cg::reduce(tile, bits, cg::bit_or<unsigned>()));
  *out++ = static_cast<int>(cg::reduce(tile, bits, cg::bit_xor<unsigned>()));
  *out++ = static_cast<int>(cg::reduce(tile, value * 0.5, cg::plus<double>()));
  *out++ = static_cast<int>(cg::reduce(tile, static_cast<long long>(value) << 33, cg::greater<long long>()) >> 33);
  *out++ = cg::reduce(tile, value, [](int a, int b) { return a * 3 > b * 3 ? a : b; });
  *out++ = cg::inclusive_scan(tile, value);
  *out++ = cg::exclusive_scan(tile, value);
  *out++ = cg::inclusive_scan(tile, value, cg::greater<int>());
  *out++ = static_cast<int>(cg::exclusive_scan(tile, bits, cg::bit_xor<unsigned>()));
  *out++ = static_cast<int>(cg::inclusive_scan(tile, value * 0.25f));
}

constexpr int per_thread = 14 * 3;

__global__ void algorithms(int* out) {
  int* row = out + threadIdx.x * per_thread;
  reduce_all<4>(row);
  reduce_all<16>(row);
  reduce_all<32>(row);
}

__global__ void whole_block(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> total;
  auto block = cg::this_thread_block();
  cg::invoke_one(block, [&] { total.store(0); });
  block.sync();
  auto tile = cg::tiled_partition<32>(block);
  cg::reduce_update_async(tile, total, static_cast<int>(threadIdx.x), cg::plus<int>());
  block.sync();
  int shared_value = cg::invoke_one_broadcast(tile, [&] { return total.load() + 5; });
  out[threadIdx.x] = total.load() * 10 + (shared_value == total.load() + 5);
}

__global__ void copies(const int* in, int* out, int n) {
  extern __shared__ int staged[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, staged, in, sizeof(int) * n);
  cg::wait(block);
  int sum = 0;
  for (int i = static_cast<int>(block.thread_rank()); i < n; i += static_cast<int>(block.size())) {
    sum += staged[n - 1 - i] * (i + 1);
  }
  out[block.thread_rank()] = sum;
  block.sync();

  // Two stages: the copy of the next part runs while this part is used.
  constexpr int part = 128;
  int parts = n / part;
  cg::memcpy_async(block, staged, in, sizeof(int) * part);
  for (int k = 0; k < parts; ++k) {
    if (k + 1 < parts) {
      cg::memcpy_async(block, staged + (k + 1) % 2 * part, in + (k + 1) * part, sizeof(int) * part);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    out[block.thread_rank()] += staged[k % 2 * part + block.thread_rank()] * (k + 3);
    block.sync();
  }
}

int main() {
  Buffer<int> out(64 * per_thread);
  algorithms<<<1, 64>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int k = 0; k < per_thread; ++k) {
    std::vector<int> column;
    for (int t = 0; t < 64; ++t) {
      column.push_back(result[t * per_thread + k]);
    }
    std::printf("%2d %016llx %d\n", k, static_cast<unsigned long long>(digest(column)), column[45]);
  }
  Buffer<int> block(96);
  whole_block<<<1, 96>>>(block);
  SYNC_OK();
  std::printf("block %d %d\n", block.get()[0], block.get()[95]);

  std::vector<int> values(1024);
  for (int i = 0; i < 1024; ++i) {
    values[i] = i * i % 997;
  }
  Buffer<int> in(values), copied(128);
  copies<<<1, 128, 1024 * sizeof(int)>>>(in, copied, 1024);
  SYNC_OK();
  std::printf("copies %d %d %016llx\n", copied.get()[0], copied.get()[127], static_cast<unsigned long long>(digest(copied.get())));
}
