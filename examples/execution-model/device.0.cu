// Execution.Model.Device.0 of the CUDA C++ execution model.
//
// Terminates: device.threads.4 counts an atomic read of an object that is not automatic as progress,
// so the reader has made progress, and then the writer in the same block is guaranteed too.
//
// Changed: the document shows the kernel only; main provides the atomic object and launches it.
//@ verdict: terminates
//@ rests-on: CLUSTER STEP.4
#include <cuda/atomic>

__global__ void ex0(cuda::atomic_ref<int, cuda::thread_scope_device> atom) {
  if (threadIdx.x == 0) {
    while (atom.load(cuda::memory_order_relaxed) == 0);
  } else if (threadIdx.x == 1) {
    atom.store(1, cuda::memory_order_relaxed);
  }
}

int main() {
  int* object;
  cudaMalloc(&object, sizeof *object);
  cudaMemset(object, 0, sizeof *object);
  ex0<<<1, 2>>>(cuda::atomic_ref<int, cuda::thread_scope_device>(*object));
  return (int)cudaDeviceSynchronize();
}
