// Histograms with global atomics, with shared atomics, with one private copy per warp, and warp-aggregated.
//@ exercises: atomicAdd on global and shared memory, __match_any_sync aggregation, uchar4 loads
#include "support.h"

__global__ void with_global_atomics(const unsigned char* in, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[in[i]], 1u);
  }
}

__global__ void with_shared_atomics(const uchar4* in, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    local[i] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    uchar4 four = in[i];
    atomicAdd(&local[four.x], 1u);
    atomicAdd(&local[four.y], 1u);
    atomicAdd(&local[four.z], 1u);
    atomicAdd(&local[four.w], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    atomicAdd(&bins[i], local[i]);
  }
}

template <int warps> __global__ void with_private_copies(const unsigned char* in, int n, unsigned* bins) {
  __shared__ unsigned short local[warps][256];
  for (int i = threadIdx.x; i < warps * 256; i += blockDim.x) {
    local[i / 256][i % 256] = 0;
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int base = (blockIdx.x * warps + warp) * 32; base < n; base += gridDim.x * warps * 32) {
    unsigned active = __ballot_sync(0xffffffffu, base + lane < n);
    if (base + lane < n) {
      unsigned char value = in[base + lane];
      unsigned peers = __match_any_sync(active, value);
      if (__ffs(peers) - 1 == lane) {
        local[warp][value] += __popc(peers);
      }
    }
    __syncwarp();
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned sum = 0;
    for (int copy = 0; copy < warps; ++copy) {
      sum += local[copy][i];
    }
    if (sum) {
      atomicAdd(&bins[i], sum);
    }
  }
}

int main() {
  constexpr int n = 40000;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> expected(256);
  Lcg random{11};
  for (auto& value : in) {
    // Skewed, so that lanes of one warp collide.
    unsigned draw = random.next();
    value = static_cast<unsigned char>(draw % 3 ? draw % 7 : draw % 256);
    ++expected[value];
  }
  Buffer<unsigned char> din(in);
  Buffer<unsigned> bins(256);

  with_global_atomics<<<8, 128>>>(din, n, bins);
  SYNC_OK();
  EXPECT(bins.get() == expected);
  bins.clear();
  with_shared_atomics<<<5, 96>>>(reinterpret_cast<const uchar4*>(din.data()), n, bins);
  SYNC_OK();
  EXPECT(bins.get() == expected);
  bins.clear();
  with_private_copies<4><<<6, 128>>>(din, n, bins);
  SYNC_OK();
  EXPECT(bins.get() == expected);

  auto result = bins.get();
  for (int i = 0; i < 12; ++i) {
    std::printf("%d: %u\n", i, result[i]);
  }
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest(result)));
}
