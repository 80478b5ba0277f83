// Shuffles: every mode, width and type, partial masks, out-of-range sources, segment boundaries.
//@ exercises: shfl.sync.idx/up/down/bfly with widths 1..32, 64-bit and half types, lanes named by mask only, predicate result
//@ also-flags: -G
#include "support.h"

#include <cuda_fp16.h>

__global__ void modes(int* out) {
  int lane = threadIdx.x, k = 0;
  int value = lane * lane + 1;
  int* column = out + lane;
  for (int width = 1; width <= 32; width *= 2) {
    for (int by : {0, 1, 3, 7, 16, 31, 33}) {
      column[32 * k++] = __shfl_sync(0xffffffffu, value, by, width);
      column[32 * k++] = __shfl_up_sync(0xffffffffu, value, by & 31, width);
      column[32 * k++] = __shfl_down_sync(0xffffffffu, value, by & 31, width);
      column[32 * k++] = __shfl_xor_sync(0xffffffffu, value, by & 31, width);
    }
  }
  column[32 * k++] = __shfl_sync(0xffffffffu, value, lane * 5 + 3); // a different source for each lane
  column[32 * k++] = __shfl_sync(0xffffffffu, value, -1);
}

__global__ void types(unsigned long long* out) {
  int lane = threadIdx.x;
  unsigned long long h = __shfl_down_sync(0xffffffffu, 0x100000000ull * lane + 7, 3);
  h ^= static_cast<unsigned long long>(__double_as_longlong(__shfl_xor_sync(0xffffffffu, lane * 1.5, 9))) * 3;
  h ^= __float_as_uint(__shfl_up_sync(0xffffffffu, lane * 0.25f, 2));
  h ^= static_cast<unsigned long long>(__half_as_ushort(__shfl_sync(0xffffffffu, __float2half(lane), 31 - lane))) << 40;
  h += static_cast<long long>(__shfl_sync(0xffffffffu, static_cast<long>(-lane), 4));
  h += static_cast<unsigned>(__shfl_xor_sync(0xffffffffu, static_cast<unsigned>(lane) * 77, 1));
  out[lane] = h;
}

__global__ void masks(int* out) {
  int lane = threadIdx.x;
  out[lane] = -1;
  // Two halves of the warp shuffle on their own, in different code.
  if (lane % 2) {
    out[lane] = __shfl_down_sync(0xaaaaaaaau, lane * 10, 2);
  } else {
    out[lane] = __shfl_xor_sync(0x55555555u, lane * 100, 2);
  }
  __syncwarp();
  if (lane < 7) {
    out[32 + lane] = __shfl_sync(0x7fu, lane + 50, (lane + 1) % 7);
  } else {
    out[32 + lane] = 0;
  }
  // The predicate says whether the source lane was in range.
  unsigned value, valid;
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 4, 0x1800, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(value), "=r"(valid)
               : "r"(lane));
  out[64 + lane] = value * 2 + valid;
}

__global__ void butterfly(const float* in, float* out) {
  float a = in[threadIdx.x];
  for (int mask = 1; mask < 32; mask *= 2) {
    float b = __shfl_xor_sync(0xffffffffu, a, mask);
    a = threadIdx.x & mask ? b - a : a + b; // Walsh-Hadamard transform
  }
  out[threadIdx.x] = a;
}

int main() {
  constexpr int rows = 6 * 7 * 4 + 2;
  Buffer<int> out(32 * rows);
  modes<<<1, 32>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int row = 0; row < rows; ++row) {
    if (row % 28 == 0 || row >= rows - 2) {
      std::printf("row %d: %d %d %d %d\n", row, result[row * 32], result[row * 32 + 1], result[row * 32 + 17], result[row * 32 + 31]);
    }
  }
  std::printf("modes %016llx\n", static_cast<unsigned long long>(digest(result)));
  Buffer<unsigned long long> wide(32);
  types<<<1, 32>>>(wide);
  SYNC_OK();
  std::printf("types %016llx\n", static_cast<unsigned long long>(digest(wide.get())));
  Buffer<int> masked(96);
  masks<<<1, 32>>>(masked);
  SYNC_OK();
  auto m = masked.get();
  // A down shuffle past the end of the warp returns the lane's own value: lanes 30 and 31 here.
  std::printf("masks %d %d %d %d %d %d %016llx\n", m[1], m[31], m[0], m[32], m[64 + 3], m[64 + 20],
              static_cast<unsigned long long>(digest(m)));
  std::vector<float> in(32);
  for (int i = 0; i < 32; ++i) {
    in[i] = static_cast<float>(i % 5);
  }
  Buffer<float> fin(in), fout(32);
  butterfly<<<1, 32>>>(fin, fout);
  SYNC_OK();
  std::printf("butterfly %g %g %g\n", fout.get()[0], fout.get()[1], fout.get()[31]);
}
