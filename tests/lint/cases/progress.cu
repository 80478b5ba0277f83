// Rules other than barriers: each with its compliant twin.
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> ready;
__device__ int plain;
__device__ volatile int volatile_flag;

__global__ void endless() {
  while (true) { // the place is the loop, or the first statement in it
    ++plain; // expect: cuda_progress_loop
  }
}
__global__ void local_volatile() {
  volatile bool yes = true;
  while (yes); // expect: cuda_progress_loop
}
__global__ void polls_plain(int* flag) {
  while (*flag == 0); // expect: cuda_progress_loop
}
__global__ void ends(int* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = i;
}
__global__ void waits() {
  ready.wait(0);
}
__global__ void polls() {
  while (ready.load(cuda::memory_order_acquire) == 0); // expect: cuda_naive_spin
}
__global__ void polls_volatile() {
  while (volatile_flag == 0); // expect: cuda_volatile_sync
}
__global__ void pauses() {
  while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(100);
}
__global__ void atomic_load(int* p, int* q) {
  q[0] = atomicAdd(p, 0); // expect: cuda_legacy_atomic
  q[1] = atomicAdd(p, 1);
}
__global__ void atomic_store(int* p, int* q) {
  atomicExch(p, 3); // expect: cuda_legacy_atomic
  q[0] = atomicExch(q + 1, 3);
}
