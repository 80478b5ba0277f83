// Shuffles whose mask names lanes that have ended, and nothing uses what such a lane gives: no warning.
//@ exercises: [WARP-MASK], lanes that have ended
//@ heddle: --warnings-as-errors
#include <cstdio>

constexpr unsigned full = 0xffffffffU;

/// Lanes that have ended are asked, and the condition drops what they give.
__global__ void sum_of(int* out, int lanes) {
  if (threadIdx.x >= lanes) {
    return;
  }
  int value = threadIdx.x + 1;
  for (int offset = 16; offset > 0; offset /= 2) {
    const int other = __shfl_down_sync(full, value, offset);
    value += threadIdx.x + offset < lanes ? other : 0;
  }
  if (threadIdx.x == 0) {
    *out = value;
  }
}

/// Half of the warp is left, and half of the warp is summed up: nobody asks a lane of the other half for
/// what lane 0 has in the end.
__global__ void sum_of_half(int* out) {
  if (threadIdx.x >= 16) {
    return;
  }
  int value = threadIdx.x + 1;
  for (int offset = 8; offset > 0; offset /= 2) {
    value += __shfl_down_sync(full, value, offset);
  }
  if (threadIdx.x == 0) {
    *out = value;
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 512);
  sum_of<<<1, 32>>>(out, 10);
  sum_of<<<1, 32>>>(out, 20);
  sum_of_half<<<1, 32>>>(out);
  sum_of_half<<<1, 16>>>(out);
  std::printf("%d\n", static_cast<int>(cudaDeviceSynchronize()));
}
