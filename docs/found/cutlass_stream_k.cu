// A block waits for partial sums of other blocks of an ordinary launch
//
// Program: CUTLASS 4.2, examples/47_ampere_gemm_universal_streamk
// Status: by design. Stream-K launches no more blocks than the device holds at once, and relies on it; CUDA guarantees
//   it for cooperative launches only.
// Reported: no, and it need not be
// Rule: CLUSTER. With --progress=fair, under which every block starts, the program ends.
//@ command: check
//@ exit: 1
//@ findings: 1
//@ expect: error\[starvation\]: .* it waits for a block of its own grid, which never has to start
#include <cuda/atomic>

__global__ void tile(float* partial, int* ready) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  if (blockIdx.x == 0) {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    partial[0] += partial[1];
  } else {
    partial[1] = 1;
    flag.store(1, cuda::memory_order_release);
  }
}

int main() {
  float* partial;
  int* ready;
  cudaMalloc(&partial, 2 * sizeof(float));
  cudaMemset(partial, 0, 2 * sizeof(float));
  cudaMalloc(&ready, sizeof(int));
  cudaMemset(ready, 0, sizeof(int));
  tile<<<2, 1>>>(partial, ready);
  return cudaDeviceSynchronize();
}
