// A program whose only code is PTX for an old architecture.
//@ exercises: PTX of sm_75 translated for a newer device; features that sm_75 lacks are emulated by the headers
//@ flags: -gencode arch=compute_75,code=compute_75
//@ also-flags: -gencode arch=compute_80,code=compute_80
//@ also-flags: -gencode arch=compute_86,code=compute_86 -G
#include "support.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

__device__ cuda::atomic<int, cuda::thread_scope_device> arrivals;

__global__ void run(const int* in, int n, int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  sum = cg::reduce(tile, sum, cg::plus<int>());
  if (tile.thread_rank() == 0) {
    atomicAdd(out, sum);
  }
  block.sync();
  if (block.thread_rank() == 0 && arrivals.fetch_add(1) == static_cast<int>(gridDim.x) - 1) {
    out[1] = 1;
  }
  // 16-bit atomics and wide shuffles go through the generic paths.
  unsigned long long value = __shfl_xor_sync(0xffffffffu, 0x100000001ull * threadIdx.x, 3);
  if (threadIdx.x == 7 && blockIdx.x == 0) {
    out[2] = static_cast<int>(value >> 32);
  }
}

int main() {
  std::vector<int> values(3000);
  for (int i = 0; i < 3000; ++i) {
    values[i] = i % 11;
  }
  Buffer<int> in(values), out(3);
  run<<<5, 96>>>(in, 3000, out);
  SYNC_OK();
  std::printf("%d %d %d\n", out.get()[0], out.get()[1], out.get()[2]);
}
