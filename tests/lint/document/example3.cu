// The rule document's example 3.
__global__ void kernel(int flag) {
  if (flag)
    __syncthreads(); // Ok, condition is not CTA-divergent.
  if (blockIdx.x < flag)
    __syncthreads(); // Ok, condition is not CTA-divergent.
  if (threadIdx.x < 2)
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  __syncthreads();
  if (threadIdx.x < flag)
    __syncthreads(); // Ok: the last statement of the kernel.
}
