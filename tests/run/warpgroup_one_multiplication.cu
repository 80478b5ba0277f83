// A warp of a warpgroup that has waited for a multiplication writes the matrices at once: the other three warps still get the product of what was there.
//@ exercises: wgmma.mma_async, wgmma.wait_group by one warp long before the others, A in shared memory and in registers; code for sm_90a
//@ flags: -gencode=arch=compute_90a,code=[sm_90a,compute_90a]
#include "../support/warpgroup.h"
#include "support.h"

constexpr int rounds = 4;

/// In each round another warp comes first, and the others much later.
__global__ void products(float* out, unsigned* late) {
  __shared__ alignas(128) __half a[64 * 16], b[32 * 16];
  int warp = threadIdx.x / 32;
  unsigned spent = 0;
  for (int round = 0; round < rounds; ++round) {
    __half value = __float2half(round + 1);
    for (int i = threadIdx.x; i < 64 * 16; i += 128) a[i] = value;
    for (int i = threadIdx.x; i < 32 * 16; i += 128) b[i] = value;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (warp != round) {
      for (int i = 0; i < 3000; ++i) spent = spent * 1664525U + threadIdx.x;
    }
    float d[16], e[16];
    unsigned ones[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
    wgmma_fence();
    multiply<0, 0>(d, matrix_at(a, 128, 256, 0), matrix_at(b, 128, 256, 0), false);
    multiply<0>(e, ones, matrix_at(b, 128, 256, 0), false);
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = threadIdx.x % 32; i < 64 * 16; i += 32) a[i] = __float2half(100);
    for (int i = threadIdx.x % 32; i < 32 * 16; i += 32) b[i] = __float2half(100);
    float sum = 0, sum_e = 0;
    for (int i = 0; i < 16; ++i) {
      sum += d[i];
      sum_e += e[i];
    }
    out[(round * 128 + threadIdx.x) * 2] = sum;
    out[(round * 128 + threadIdx.x) * 2 + 1] = sum_e;
    __syncthreads();
  }
  late[threadIdx.x] = spent;
}

int main() {
  float* out;
  unsigned* late;
  CUDA_OK(cudaMallocManaged(&out, rounds * 256 * sizeof *out));
  CUDA_OK(cudaMallocManaged(&late, 128 * sizeof *late));
  products<<<1, 128>>>(out, late);
  SYNC_OK();
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 256; i += 2) {
      float x = static_cast<float>(round + 1);
      EXPECT(out[round * 256 + i] == 16 * 16 * x * x);
      EXPECT(out[round * 256 + i + 1] == 16 * 16 * x);
    }
  }
  std::printf("all rounds\n");
}
