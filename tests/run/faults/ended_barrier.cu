// A barrier that threads do not come to which have ended: fine by PTX, not by the CUDA guide.
//@ exercises: [BAR-3] [BAR-GUIDE], the warning with both places
//@ flags: -lineinfo
//@ expect: ended_barrier.cu:16:.* warning\[barrier-divergence\]: a barrier of the block is skipped by threads that have already ended
//@ expect: 16 \|     __syncthreads\(\);
//@ expect: \(1\) thread
//@ expect: 12 \|   if \(threadIdx.x == 0\) \{
//@ expect: \(2\) the other threads skip the barrier here
#include <cstdio>

__global__ void run(int* out) {
  if (threadIdx.x == 0) {
    out[0] = 1;
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x + 64] = out[65 - threadIdx.x];
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 512);
  run<<<1, 64>>>(out);
  std::printf("%d\n", static_cast<int>(cudaDeviceSynchronize()));
}
