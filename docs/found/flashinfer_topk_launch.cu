// Blocks of an ordinary launch wait for each other
//
// Program: FlashInfer 0.7.2rc6, include/flashinfer/topk.cuh, groups of several blocks for one row
// Status: confirmed; known (flashinfer issues 3610 and 4544, pull request 3615: a cooperative launch was proposed and
//   left out again). It ends where all blocks of a group are resident, and nothing guarantees that.
// Reported: by others; not by us
// Rule: CLUSTER. Nothing is guaranteed about a block of which no thread has taken a step. Mend: cudaLaunchCooperativeKernel,
//   or clusters.
//@ command: check
//@ exit: 1
//@ findings: 1
//@ expect: error\[starvation\]: .* it waits for a block of its own grid, which never has to start
#include <cuda/atomic>

__global__ void group(int* arrived) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(*arrived);
  count.fetch_add(1, cuda::memory_order_release);
  while (count.load(cuda::memory_order_acquire) < static_cast<int>(gridDim.x)) {
  }
}

int main() {
  int* arrived;
  cudaMalloc(&arrived, sizeof(int));
  cudaMemset(arrived, 0, sizeof(int));
  group<<<2, 1>>>(arrived);
  return cudaDeviceSynchronize();
}
