// Exercise: two locks, taken in either order.
__device__ int first, second;

__device__ void lock(int* p) {
  while (atomicCAS(p, 0, 1) != 0) { //~ livelock
  }
  __threadfence();
}

__device__ void unlock(int* p) {
  __threadfence();
  atomicExch(p, 0);
}

__global__ void transfer() {
#ifdef RIGHT
  int *one = &first, *other = &second;
#else
  int* one = blockIdx.x == 0 ? &first : &second;
  int* other = blockIdx.x == 0 ? &second : &first;
#endif
  lock(one);
  lock(other);
  unlock(other);
  unlock(one);
}

int main() {
  transfer<<<2, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
