// With --library-races: what races inside NVIDIA's own code is reported, too. In tiles of several warps all lanes of a
// warp write its part of the result in shared memory.
//@ find: library
//@ nvcc: -D_CG_ABI_EXPERIMENTAL
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

template <int size> __global__ void sum(int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<size>(block);
  out[threadIdx.x] = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
}
CASE(tile_of_several_warps, "RACE-(BARRIER|SYNC)") { sum<right ? 32 : 64><<<1, 128>>>(device_memory<int>(128)); }
