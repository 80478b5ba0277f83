// Launch geometry: odd block sizes, 3-D blocks and grids, more than 65535 blocks in x, the largest block.
//@ exercises: threadIdx/blockIdx/blockDim/gridDim in every dimension, %lane and %warp ids, exited lanes, large grids
#include "support.h"

__global__ void record(unsigned* count, unsigned long long* sum) {
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned lane, warp;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  // CUDA numbers lanes by the linear thread index; %warpid is only promised to lie in range.
  bool right = lane == thread % 32 && warp < 64;
  atomicAdd(count, right ? 1u : 1000000u);
  atomicAdd(sum, static_cast<unsigned long long>(block) * threads + thread);
}

__global__ void many_blocks(unsigned* hits) {
  // One thread of each block leaves a mark; the last block is far beyond 65535.
  if (threadIdx.x == blockIdx.x % blockDim.x) {
    hits[blockIdx.x] = blockIdx.x * 2654435761u;
  }
}

__global__ void nested_sizes(int* out) {
  __shared__ int seen[1024];
  unsigned thread = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y;
  seen[thread] = threadIdx.x * 10000 + threadIdx.y * 100 + threadIdx.z;
  __syncthreads();
  unsigned total = blockDim.x * blockDim.y * blockDim.z;
  out[thread] = seen[total - 1 - thread];
}

void launch(dim3 grid, dim3 block) {
  Buffer<unsigned> count(1);
  Buffer<unsigned long long> sum(1);
  record<<<grid, block>>>(count, sum);
  SYNC_OK();
  unsigned long long total = 1ull * grid.x * grid.y * grid.z * block.x * block.y * block.z;
  EXPECT(count.get()[0] == total);
  EXPECT(sum.get()[0] == total * (total - 1) / 2);
  std::printf("(%u,%u,%u)x(%u,%u,%u): %llu threads\n", grid.x, grid.y, grid.z, block.x, block.y, block.z, total);
}

int main() {
  launch({1, 1, 1}, {1, 1, 1});
  launch({3, 1, 1}, {33, 1, 1});
  launch({2, 3, 4}, {7, 1, 1});
  launch({2, 2, 2}, {3, 5, 7});
  launch({1, 5, 1}, {1, 1, 64});
  launch({1, 1, 3}, {1, 1024, 1});
  launch({5, 2, 1}, {31, 33, 1});
  launch({1, 1, 1}, {16, 16, 4});
  launch({4, 1, 1}, 1023);

  Buffer<unsigned> hits(70000);
  many_blocks<<<70000, 32>>>(hits);
  SYNC_OK();
  auto marks = hits.get();
  for (unsigned i = 0; i < marks.size(); ++i) {
    EXPECT(marks[i] == i * 2654435761u);
  }
  std::printf("70000 blocks %016llx\n", static_cast<unsigned long long>(digest(marks)));

  Buffer<int> out(1024);
  nested_sizes<<<1, dim3(6, 10, 17)>>>(out);
  SYNC_OK();
  auto result = out.get();
  std::printf("reversed: %d %d %d\n", result[0], result[500], result[1019]);
}
