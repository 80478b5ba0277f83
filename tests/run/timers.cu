// Clocks: they run forward, nanosleep lasts, and different units agree on that.
//@ exercises: clock, clock64, %globaltimer, __nanosleep, cuda::std::chrono::system_clock
#include "support.h"

__device__ unsigned long long global_time() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void run(int* out) {
  unsigned long long start = global_time();
  long long cycles = clock64();
  clock_t low = clock();
  bool forward = true;
  unsigned long long last = start;
  for (int i = 0; i < 20; ++i) {
    __nanosleep(100000);
    unsigned long long now = global_time();
    forward = forward && now >= last;
    last = now;
  }
  out[0] = forward;
  out[1] = last > start;               // 20 sleeps of up to twice 0.1 ms take some time
  out[2] = last - start < 2000000000u; // and not seconds
  out[3] = clock64() > cycles;
  out[4] = clock() != low;
}

__global__ void wait_until(unsigned long long nanoseconds, int* out) {
  unsigned long long start = global_time(), rounds = 0;
  while (global_time() - start < nanoseconds) {
    ++rounds;
  }
  *out = rounds > 0;
}

int main() {
  Buffer<int> out(5);
  run<<<1, 1>>>(out);
  SYNC_OK();
  for (int value : out.get()) {
    std::printf("%d ", value);
  }
  wait_until<<<1, 1>>>(1000000, out);
  SYNC_OK();
  std::printf("waited %d\n", out.get()[0]);
}
