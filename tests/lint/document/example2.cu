// The rule document's example 2.
__global__ void kernel(int flag) {
  if (flag)
    goto end; // expect: thread_synchronization_bypassed
  __syncthreads();
end:
  return;
}
