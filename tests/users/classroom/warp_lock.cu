// Exercise: a lock that two threads of one warp take. It ends on sm_70 and later, and hung before that.
__device__ int taken, balance;

__global__ void deposit() {
#ifdef RIGHT
  if (threadIdx.x == 0) { // one thread for the whole warp
    while (atomicCAS(&taken, 0, 1) != 0) {
    }
    __threadfence();
    balance += 2;
    __threadfence();
    atomicExch(&taken, 0);
  }
#else
  while (atomicCAS(&taken, 0, 1) != 0) { //~ livelock
  }
  __threadfence();
  balance += 1;
  __threadfence();
  atomicExch(&taken, 0);
#endif
}

int main() {
  deposit<<<1, 2>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
