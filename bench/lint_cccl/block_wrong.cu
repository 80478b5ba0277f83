// The same primitives where they must be found: a primitive of the whole block in divergent code.
#include <cub/cub.cuh>

__global__ void reduce_in_branch(const int* in, int* out, int n) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ Reduce::TempStorage storage;
  if (threadIdx.x < n) {
    const int sum = Reduce(storage).Sum(in[threadIdx.x]); // expect: thread_synchronization_in_divergent_region
    if (threadIdx.x == 0) out[0] = sum;
  }
  out[1] = 1;
}
__global__ void scan_in_loop(int* data, int n) {
  using Scan = cub::BlockScan<int, 256>;
  __shared__ Scan::TempStorage storage;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int value = data[i];
    Scan(storage).ExclusiveSum(value, value); // expect: thread_synchronization_in_divergent_region
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    data[i] = value;
  }
}
__global__ void load_after_return(int* data, int n) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  __shared__ Load::TempStorage storage;
  if (blockIdx.x * blockDim.x + threadIdx.x >= n) return; // expect: early_exit_before_synchronization
  int mine[4];
  Load(storage).Load(data, mine);
  data[threadIdx.x] = mine[0];
}
