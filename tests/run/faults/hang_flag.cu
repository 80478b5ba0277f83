// A thread waits for a flag that nobody sets: no thread that is guaranteed progress can finish.
//@ exercises: [HANG-LIVELOCK]: the run ends with a report instead of a frozen terminal
//@ exit: 1
//@ expect: error\[(livelock|deadlock|starvation)\]
//@ expect: hang_flag\.cu
#include <cuda/atomic>

__global__ void wait(cuda::atomic<int, cuda::thread_scope_device>* flag) {
  while (flag->load() == 0) {
  }
}

int main() {
  cuda::atomic<int, cuda::thread_scope_device>* flag;
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(static_cast<void*>(flag), 0, sizeof *flag);
  wait<<<1, 4>>>(flag);
  cudaDeviceSynchronize();
}
