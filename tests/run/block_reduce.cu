// Sums, minima and maxima of a block and of a grid, in the ways people write them.
//@ exercises: shared memory trees, __shfl_down_sync, __shfl_xor_sync, last-block-done with __threadfence, templates
//@ also-flags: -G
#include "support.h"

__global__ void reduce_interleaved(const int* in, int* out, int n) {
  extern __shared__ int data[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (threadIdx.x % (2 * stride) == 0) {
      data[threadIdx.x] += data[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = data[0];
  }
}

template <int block> __global__ void reduce_sequential(const int* in, int* out, int n) {
  __shared__ int data[block];
  int sum = 0;
  for (int i = blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block) {
    sum += in[i];
  }
  data[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int stride = block / 2; stride > 32; stride /= 2) {
    if (threadIdx.x < stride) {
      data[threadIdx.x] += data[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    if constexpr (block >= 64) {
      data[threadIdx.x] += data[threadIdx.x + 32];
    }
    __syncwarp();
    int value = data[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) {
      value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x == 0) {
      out[blockIdx.x] = value;
    }
  }
}

template <class T, class Op> __device__ T warp_all(T value, Op op) {
  for (int mask = 16; mask > 0; mask /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffffu, value, mask));
  }
  return value;
}

__global__ void minmax(const long long* in, int n, long long* out) {
  __shared__ long long low[32], high[32];
  long long smallest = 0x7fffffffffffffffll, largest = -smallest - 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    smallest = min(smallest, in[i]);
    largest = max(largest, in[i]);
  }
  auto less = [](long long a, long long b) { return a < b ? a : b; };
  auto greater = [](long long a, long long b) { return a > b ? a : b; };
  smallest = warp_all(smallest, less);
  largest = warp_all(largest, greater);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  if (lane == 0) {
    low[warp] = smallest;
    high[warp] = largest;
  }
  __syncthreads();
  if (warp == 0) {
    smallest = warp_all(lane < warps ? low[lane] : low[0], less);
    largest = warp_all(lane < warps ? high[lane] : high[0], greater);
    if (lane == 0) {
      out[0] = smallest;
      out[1] = largest;
    }
  }
}

__device__ unsigned blocks_done;

__global__ void reduce_single_pass(const int* in, int n, int* partial, int* result) {
  __shared__ bool is_last;
  __shared__ int data[128];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  data[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = 64; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      data[threadIdx.x] += data[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = data[0];
    __threadfence();
    is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    int total = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
      total += static_cast<volatile int*>(partial)[block];
    }
    *result = total;
  }
}

int main() {
  constexpr int n = 20011;
  std::vector<int> in(n);
  std::vector<long long> wide(n);
  Lcg random{7};
  long long sum = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<int>(random.next() % 2001) - 1000;
    wide[i] = (static_cast<long long>(in[i]) << 33) + i;
    sum += in[i];
  }
  Buffer<int> din(in);

  auto total = [&](Buffer<int>& partial) {
    long long result = 0;
    for (int value : partial.get()) {
      result += value;
    }
    return result;
  };
  {
    Buffer<int> partial((n + 255) / 256);
    reduce_interleaved<<<(n + 255) / 256, 256, 256 * sizeof(int)>>>(din, partial, n);
    SYNC_OK();
    std::printf("interleaved %lld\n", total(partial));
    EXPECT(total(partial) == sum);
  }
  {
    Buffer<int> partial(9);
    reduce_sequential<32><<<9, 32>>>(din, partial, n);
    SYNC_OK();
    EXPECT(total(partial) == sum);
    reduce_sequential<64><<<9, 64>>>(din, partial, n);
    SYNC_OK();
    EXPECT(total(partial) == sum);
    reduce_sequential<512><<<9, 512>>>(din, partial, n);
    SYNC_OK();
    std::printf("sequential %lld\n", total(partial));
    EXPECT(total(partial) == sum);
  }
  {
    Buffer<long long> dwide(wide), out(2);
    minmax<<<1, 224>>>(dwide, n, out);
    SYNC_OK();
    auto result = out.get();
    std::printf("minimum %lld maximum %lld\n", result[0], result[1]);
  }
  {
    Buffer<int> partial(16), result(1);
    // Twice: atomicInc must have wrapped back to zero.
    for (int round = 0; round < 2; ++round) {
      reduce_single_pass<<<16, 128>>>(din, n, partial, result);
      SYNC_OK();
      std::printf("single pass %d\n", result.get()[0]);
      EXPECT(result.get()[0] == sum);
    }
  }
}
