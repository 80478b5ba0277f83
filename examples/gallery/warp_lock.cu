// A spin lock between threads of one warp
// With lockstep warps (before sm_70) the lanes that spin keep the lane that holds the lock from going on.
// With independent threads, as since sm_70, the same program ends.
// gallery: check --warps=lockstep; expect: may-hang
__device__ int lock;
__device__ int sum;

__global__ void add() {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  sum = sum + 1;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  add<<<1, 2>>>();
  return cudaDeviceSynchronize();
}
