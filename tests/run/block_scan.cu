// Prefix sums: Hillis-Steele, Blelloch, warp shuffles, and a scan of many blocks in three launches.
//@ exercises: double buffering in shared memory, __shfl_up_sync, several dependent launches
//@ also-flags: -G
#include "support.h"

__global__ void hillis_steele(const int* in, int* out) {
  extern __shared__ int buffer[]; // two halves
  int n = blockDim.x, i = threadIdx.x, from = 0, to = 1;
  buffer[i] = i > 0 ? in[i - 1] : 0; // exclusive
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    buffer[to * n + i] = buffer[from * n + i] + (i >= offset ? buffer[from * n + i - offset] : 0);
    int swap = to;
    to = from;
    from = swap;
    __syncthreads();
  }
  out[i] = buffer[from * n + i];
}

__global__ void blelloch(const int* in, int* out, int n) {
  extern __shared__ int buffer[];
  int i = threadIdx.x, offset = 1;
  buffer[2 * i] = in[2 * i];
  buffer[2 * i + 1] = in[2 * i + 1];
  for (int active = n / 2; active > 0; active /= 2) {
    __syncthreads();
    if (i < active) {
      buffer[offset * (2 * i + 2) - 1] += buffer[offset * (2 * i + 1) - 1];
    }
    offset *= 2;
  }
  if (i == 0) {
    buffer[n - 1] = 0;
  }
  for (int active = 1; active < n; active *= 2) {
    offset /= 2;
    __syncthreads();
    if (i < active) {
      int left = offset * (2 * i + 1) - 1, right = offset * (2 * i + 2) - 1;
      int moved = buffer[left];
      buffer[left] = buffer[right];
      buffer[right] += moved;
    }
  }
  __syncthreads();
  out[2 * i] = buffer[2 * i];
  out[2 * i + 1] = buffer[2 * i + 1];
}

__device__ int warp_inclusive(int value) {
  int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    int other = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) {
      value += other;
    }
  }
  return value;
}

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int warp_sums[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int value = warp_inclusive(i < n ? in[i] : 0);
  if (lane == 31) {
    warp_sums[warp] = value;
  }
  __syncthreads();
  if (warp == 0) {
    warp_sums[lane] = warp_inclusive(lane < blockDim.x / 32 ? warp_sums[lane] : 0);
  }
  __syncthreads();
  if (warp > 0) {
    value += warp_sums[warp - 1];
  }
  if (i < n) {
    out[i] = value;
  }
  if (threadIdx.x == blockDim.x - 1) {
    sums[blockIdx.x] = value;
  }
}

__global__ void add_offsets(int* out, const int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) {
    out[i] += sums[blockIdx.x - 1];
  }
}

int main() {
  constexpr int n = 30001;
  std::vector<int> in(n), inclusive(n);
  Lcg random{3};
  for (int i = 0, sum = 0; i < n; ++i) {
    in[i] = static_cast<int>(random.next() % 100);
    inclusive[i] = sum += in[i];
  }
  Buffer<int> din(in), out(n);

  hillis_steele<<<1, 1000, 2 * 1000 * sizeof(int)>>>(din, out);
  SYNC_OK();
  auto result = out.get();
  for (int i = 0; i < 1000; ++i) {
    EXPECT(result[i] == (i ? inclusive[i - 1] : 0));
  }
  std::printf("hillis-steele %d\n", result[999]);

  blelloch<<<1, 512, 1024 * sizeof(int)>>>(din, out, 1024);
  SYNC_OK();
  result = out.get();
  for (int i = 0; i < 1024; ++i) {
    EXPECT(result[i] == (i ? inclusive[i - 1] : 0));
  }
  std::printf("blelloch %d\n", result[1023]);

  int blocks = (n + 255) / 256;
  Buffer<int> sums(blocks), ignored(1);
  scan_blocks<<<blocks, 256>>>(din, out, sums, n);
  scan_blocks<<<1, 256>>>(sums, sums, ignored, blocks);
  add_offsets<<<blocks, 256>>>(out, sums, n);
  SYNC_OK();
  EXPECT(out.get() == inclusive);
  std::printf("three launches %d, digest %016llx\n", out.get().back(),
              static_cast<unsigned long long>(digest(out.get())));
}
