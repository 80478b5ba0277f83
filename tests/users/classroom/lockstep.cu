// Exercise 4: a spin lock that two threads of one warp take. It ends on sm_70 and later, and hung before that.
__device__ int lock;

__global__ void critical(int* counter) {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence(); // what the last one has written is seen
  *counter += 1;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  int* counter;
  cudaMalloc(&counter, sizeof(int));
  cudaMemset(counter, 0, sizeof(int));
  critical<<<1, 2>>>(counter);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
