// A bound for spin loops, present only when the program is recorded on real hardware.
//
// Under Heddle the loops are what they look like: endless until somebody else acts. For a recording
// (-DSPIN_SECONDS=2) they give up instead of blocking the device of somebody else.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

struct Patience {
#ifdef SPIN_SECONDS
  unsigned long long start = now();
  unsigned polls = 0;

  __host__ __device__ static unsigned long long now() {
#ifdef __CUDA_ARCH__
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
#else
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
  }
  __host__ __device__ void wait() {
    if (++polls % 256 == 0 && now() - start > SPIN_SECONDS * 1000000000ull) {
#ifdef __CUDA_ARCH__
      __trap();
#else
      std::printf("the host lost its patience\n");
      std::_Exit(12);
#endif
    }
  }
#else
  __host__ __device__ void wait() {}
#endif
};
