// Cooperative groups of a block: thread_block, tiles of 1 to 32 lanes and of several warps, nested tiles.
//@ exercises: this_thread_block, tiled_partition<1..32> and <64..512>, shfl/any/all/ballot/match of tiles, meta_group, barrier_arrive/wait, thread_rank and indices
#include "support.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void block_facts(int* out) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ int data[512];
  int rank = static_cast<int>(block.thread_rank());
  data[rank] = rank * 3;
  block.sync();
  dim3 index = block.thread_index(), size = block.group_dim();
  out[rank] = data[block.size() - 1 - rank] * 1000 + index.x + index.y * size.x + static_cast<int>(block.num_threads() % 7);
  // Split arrive and wait: the work between them does not touch the shared data.
  auto token = block.barrier_arrive();
  int local = rank * rank % 11;
  block.barrier_wait(std::move(token));
  out[rank] += local + block.group_index().x;
}

template <int size> __device__ int tile_work(cg::thread_block block) {
  auto tile = cg::tiled_partition<size>(block);
  int rank = static_cast<int>(tile.thread_rank()), result = 0;
  result += tile.shfl(rank * 2 + 1, size - 1);
  result = result * 3 + tile.shfl_down(rank, 1) + tile.shfl_up(rank, 1) * 2;
  result = result * 3 + tile.shfl_xor(rank, size / 2);
  result = result * 3 + tile.any(rank == size - 1) + 2 * tile.all(rank < size - 1);
  result = result * 3 + __popc(tile.ballot(rank % 2));
  result = result * 3 + __popc(tile.match_any(rank / 2));
  tile.sync();
  return result * 3 + static_cast<int>(tile.meta_group_rank() * 5 + tile.meta_group_size() + tile.size());
}

__global__ void small_tiles(int* out) {
  auto block = cg::this_thread_block();
  int rank = static_cast<int>(block.thread_rank());
  out[rank * 6 + 0] = tile_work<1>(block);
  out[rank * 6 + 1] = tile_work<2>(block);
  out[rank * 6 + 2] = tile_work<4>(block);
  out[rank * 6 + 3] = tile_work<8>(block);
  out[rank * 6 + 4] = tile_work<16>(block);
  out[rank * 6 + 5] = tile_work<32>(block);
}

template <int size> __device__ int wide_work(const cg::thread_block& block, int* scratch) {
  auto tile = cg::tiled_partition<size>(block);
  int rank = static_cast<int>(tile.thread_rank());
  int offset = static_cast<int>(tile.meta_group_rank()) * size;
  scratch[offset + rank] = rank;
  tile.sync();
  int other = scratch[offset + (rank + 33) % size];
  tile.sync();
  int sum = cg::reduce(tile, rank, cg::plus<int>());
  int broadcast = tile.shfl(rank * 7, size / 2 + 1);
  return other + sum * 10 + broadcast + tile.any(rank == 40) * 1000000 + tile.all(rank >= 0) * 2000000;
}

__global__ void wide_tiles(int* out) {
  // Tiles wider than a warp keep their state in memory that the block provides.
  __shared__ cg::block_tile_memory<512> memory;
  __shared__ int scratch[512];
  auto block = cg::this_thread_block(memory);
  int rank = static_cast<int>(block.thread_rank());
  out[rank * 4 + 0] = wide_work<64>(block, scratch);
  block.sync();
  out[rank * 4 + 1] = wide_work<128>(block, scratch);
  block.sync();
  out[rank * 4 + 2] = wide_work<256>(block, scratch);
  block.sync();
  out[rank * 4 + 3] = wide_work<512>(block, scratch);
}

__global__ void nested(int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  auto two = cg::tiled_partition<2>(eight);
  auto runtime = cg::tiled_partition(block, 16);
  int value = static_cast<int>(two.thread_rank() + 10 * two.meta_group_rank() + 100 * eight.meta_group_rank());
  value = value * 100 + static_cast<int>(runtime.thread_rank() + runtime.size());
  for (int i = static_cast<int>(eight.size()) / 2; i > 0; i /= 2) {
    value += eight.shfl_down(value, i);
  }
  cg::thread_group generic = eight;
  generic.sync();
  out[block.thread_rank()] = value;
}

__global__ void static_tiles(int* out) {
  // A tile known to be of the whole block without a partition, and divergent use of tiles.
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  int value = static_cast<int>(tile.thread_rank());
  if (tile.meta_group_rank() % 2 == 0) {
    value = tile.shfl(value * 10, 2);
    tile.sync();
  } else {
    for (int i = 0; i < 3; ++i) {
      value += tile.shfl_xor(value, 1);
      tile.sync();
    }
  }
  out[threadIdx.x] = value;
}

template <class Kernel> void run(const char* name, Kernel kernel, dim3 block, int per_thread) {
  int threads = static_cast<int>(block.x * block.y);
  Buffer<int> out(threads * per_thread);
  kernel<<<1, block>>>(out.data());
  SYNC_OK();
  auto result = out.get();
  std::printf("%s %d %d %d %016llx\n", name, result[0], result[result.size() / 2], result.back(),
              static_cast<unsigned long long>(digest(result)));
}

int main() {
  run("block", block_facts, dim3(20, 5), 1);
  run("tiles", small_tiles, 64, 6);
  run("wide tiles", wide_tiles, 512, 4);
  run("nested", nested, 64, 1);
  run("divergent tiles", static_tiles, 40, 1);
}
