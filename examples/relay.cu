// A baton goes through all threads of a kernel, last one first: thread i waits for thread i + 1, across
// lanes of a warp, warps, and blocks. It needs what CUDA guarantees and many other ways of running CUDA on
// a CPU do not give: that every started thread keeps moving while its neighbours spin.
//
//   heddle run examples/relay.cu
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>

constexpr int blocks = 4;
constexpr int threads = 64;

__device__ cuda::atomic<int, cuda::thread_scope_device> baton(blocks * threads);

__global__ void relay(int* order) {
  const int me = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  while (baton.load(cuda::memory_order_acquire) != me + 1) {
  }
  order[gridDim.x * blockDim.x - 1 - me] = me;
  baton.store(me, cuda::memory_order_release);
}

int main() {
  int* order = nullptr;
  cudaMallocManaged(&order, blocks * threads * sizeof(int));
  void* arguments[] = {&order};
  // Cooperative, because blocks wait for each other: in a plain launch block 0 might run alone, for ever.
  cudaLaunchCooperativeKernel(relay, dim3(blocks), dim3(threads), arguments, 0, nullptr);
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::printf("failed: %s\n", cudaGetErrorString(status));
    return 1;
  }
  std::printf("the baton went through %d threads: %d, %d, %d, … %d\n", blocks * threads, order[0], order[1], order[2], order[blocks * threads - 1]);
  return 0;
}
