// A grid-wide barrier with a plain launch
// Each block counts itself in and spins until all blocks have. CUDA never promises that a block starts
// while another one spins. The program ends on a GPU with room for all blocks and hangs on a smaller one.
// gallery: check; expect: may-hang
#include <cuda/atomic>

__device__ int arrived;

__global__ void phases(int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(arrived);
  count.fetch_add(1);
  while (count.load() < static_cast<int>(gridDim.x)) {
  }
  out[blockIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 2 * sizeof(int));
  phases<<<2, 1>>>(out);
  return cudaDeviceSynchronize();
}
