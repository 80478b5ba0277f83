// The rule document's example 1.
__global__ void kernel() {
  for (unsigned i = 0; i < blockDim.x; ++i) {
    if (i == threadIdx.x)
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
