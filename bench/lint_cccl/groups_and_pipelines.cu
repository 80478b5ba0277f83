// Cooperative groups' own collectives, cuda::barrier and cuda::pipeline as the manual uses them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void block_barrier(float* data, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  for (int i = 0; i < n; ++i) {
    data[block.thread_rank()] += i;
    barrier.wait(barrier.arrive());
  }
}
__global__ void produce_and_consume(float* in, float* out, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready[2], filled[2];
  __shared__ float buffer[2][64];
  auto block = cg::this_thread_block();
  if (block.thread_rank() < 2) {
    init(&ready[block.thread_rank()], block.size());
    init(&filled[block.thread_rank()], block.size());
  }
  block.sync();
  if (block.thread_rank() < 32) {
    for (int i = 0; i < n; ++i) {
      ready[i % 2].arrive_and_wait();
      buffer[i % 2][block.thread_rank()] = in[i];
      auto token = filled[i % 2].arrive();
    }
  } else {
    auto first = ready[0].arrive();
    auto second = ready[1].arrive();
    for (int i = 0; i < n; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i] = buffer[i % 2][0];
      auto token = ready[i % 2].arrive();
    }
  }
}
template <int Stages> __global__ void pipelined(const int* in, int* out, size_t batches) {
  auto block = cg::this_thread_block();
  extern __shared__ int shared[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  size_t fetch = 0;
  for (size_t batch = 0; batch < batches; ++batch) {
    for (; fetch < batches && fetch < batch + Stages; ++fetch) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, shared + fetch % Stages * block.size(), in + fetch * block.size(), sizeof(int) * block.size(), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[batch * block.size() + block.thread_rank()] = shared[batch % Stages * block.size() + block.thread_rank()];
    pipeline.consumer_release();
  }
}
template __global__ void pipelined<2>(const int*, int*, size_t);
template __global__ void pipelined<4>(const int*, int*, size_t);

__global__ void copies(const int* in, int* out, int tiles) {
  extern __shared__ int tile[];
  auto block = cg::this_thread_block();
  for (int t = 0; t < tiles; ++t) {
    cg::memcpy_async(block, tile, in + t * block.size(), sizeof(int) * block.size());
    cg::wait(block);
    out[block.thread_rank()] += tile[block.size() - 1 - block.thread_rank()];
    block.sync();
  }
}
__global__ void collectives(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int v = out[block.thread_rank()];
  v = cg::reduce(tile, v, cg::plus<int>());
  if (tile.meta_group_rank() % 2 == 0) {
    v += cg::inclusive_scan(tile, v);
    tile.sync();
  }
  auto odd = cg::binary_partition(tile, v & 1);
  v += cg::reduce(odd, v, cg::less<int>());
  block.sync();
  out[block.thread_rank()] = v;
}
