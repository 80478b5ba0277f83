// lint-options: --arch=sm_90 -- -rdc=true
// Kernels that launch kernels.
__global__ void child(int* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] += n;
}
__global__ void parent(int* p) {
  if (threadIdx.x == 0) {
    child<<<1, 32>>>(p, 32);
    child<<<1, 32, 0, cudaStreamTailLaunch>>>(p, 16);
  }
}
__global__ void parent_bad(int* p) {
  if (threadIdx.x == 0) {
    child<<<1, 32>>>(p, 32);
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[threadIdx.x] = 1;
}
