// [LOOP]: atomic writes alone are no steps ([STEP.4] names reads).
#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> value;

__global__ void store_for_ever() {
  while (true) {
    value.store(1, cuda::memory_order_relaxed); //~ ERROR no-progress-loop
  }
}

int main() {
  store_for_ever<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
