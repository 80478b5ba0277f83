// Buffers for the blocks of all rows are too small for the blocks of fewer rows
//
// Program: LightGBM 4.7.0, src/treelearner/cuda/cuda_data_partition.cpp, CUDADataPartition::CalcBlockDim
// Status: not known upstream as far as we could find (November 2026); a write behind the end, seen with 1000 rows and 7
//   leaves. A real device does not notice: allocations are larger than what was asked for.
// Reported: no
// Rule: MEM-BOUNDS. The rows of a block are rounded up to a power of two, so 1000 rows make 63 blocks and 600 rows 75.
//   Buffers hold one entry more than 1000 rows have blocks: 64. Mend: make them as large as the most blocks that any
//   number of rows up to that has.
//@ command: run
//@ exit: 1
//@ findings: 1
//@ expect: error\[out-of-bounds\]: write of 4 bytes
//@ expect: right after the end of allocation|bytes past the end of allocation
#include <cuda_runtime.h>

/// Not the program's own text, but the same numbers.
struct Shape {
  explicit Shape(int rows) {
    constexpr int at_least = 80;
    const int wanted = rows <= 100 ? 1 : at_least;
    while (threads < (rows + wanted - 1) / wanted) {
      threads *= 2;
    }
    blocks = (rows + threads - 1) / threads;
  }
  int threads = 1;
  int blocks = 0;
};

__global__ void count(int rows, int* of_block) {
  const int here = min(blockDim.x, rows - static_cast<int>(blockIdx.x * blockDim.x));
  if (threadIdx.x == 0) {
    of_block[blockIdx.x + 1] = here;
  }
}

int main() {
  const Shape all(1000);
  int* of_block;
  cudaMalloc(&of_block, (all.blocks + 1) * sizeof(int));
  count<<<all.blocks, all.threads>>>(1000, of_block);
  const Shape leaf(600);
  count<<<leaf.blocks, leaf.threads>>>(600, of_block);
  return cudaDeviceSynchronize();
}
