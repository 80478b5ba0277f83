// Execution.Model.Device.0: a thread spins on an atomic that another thread of its block sets.
//@ exercises: [CLUSTER], [STEP.4]: the outcome "grid eventually terminates"
//@ seeds: 1 2 3 4
#include <cuda/atomic>

#include <cstdio>

__global__ void ex0(cuda::atomic_ref<int, cuda::thread_scope_device> atom) {
  if (threadIdx.x == 0) {
    while (atom.load(cuda::memory_order_relaxed) == 0) {
    }
  } else if (threadIdx.x == 1) {
    atom.store(1, cuda::memory_order_relaxed);
  }
}

int main() {
  int* value;
  cudaMallocManaged(&value, sizeof *value);
  *value = 0;
  ex0<<<1, 2>>>(cuda::atomic_ref<int, cuda::thread_scope_device>(*value));
  cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s %d\n", cudaGetErrorName(status), *value);
  return static_cast<int>(status);
}
