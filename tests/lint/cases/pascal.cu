// cuda-progress-warp-lock: below sm_70 the threads of a warp are one.
// lint-options: --arch sm_60
__global__ void spin_bad(int* mutex, int* sum) {
  while (atomicCAS(mutex, 0, 1) != 0); // expect: cuda_progress_warp_lock
  __threadfence();
  sum[0] += 1;
  __threadfence();
  atomicExch(mutex, 0); // expect: cuda_legacy_atomic
}
__global__ void work_inside(int* mutex, int* sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      __threadfence();
      sum[0] += 1;
      __threadfence();
      atomicExch(mutex, 0); // expect: cuda_legacy_atomic
      done = true;
    }
  }
}
__global__ void one_thread(int* mutex, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0);
    __threadfence();
    sum[0] += 1;
    __threadfence();
    atomicExch(mutex, 0); // expect: cuda_legacy_atomic
  }
}
