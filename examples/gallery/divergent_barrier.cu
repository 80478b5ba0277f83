// A barrier that some threads never reach
// Thread 0 waits at __syncthreads(); thread 1 spins on a flag that thread 0 sets behind the barrier.
// gallery: check; expect: may-hang
__device__ volatile int flag;

__global__ void hand_over() {
  if (threadIdx.x == 1) {
    while (flag == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    flag = 1;
  }
}

int main() {
  hand_over<<<1, 2>>>();
  return cudaDeviceSynchronize();
}
