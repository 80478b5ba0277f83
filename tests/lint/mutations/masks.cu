// Collectives of a warp as they were before somebody mended them, and the mended versions.
__device__ int warp_sum(int v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
__global__ void half_warp_bad(int* x) {
  int v = x[threadIdx.x];
  if (threadIdx.x % 32 < 16) {
    v += __shfl_down_sync(0xffffffffu, v, 8, 16); // expect: inactive_thread_in_mask
    x[threadIdx.x] = v;
  }
  x[threadIdx.x + 1024] = v;
}
__global__ void half_warp_good(int* x) {
  int v = x[threadIdx.x];
  if (threadIdx.x % 32 < 16) {
    v += __shfl_down_sync(0x0000ffffu, v, 8, 16);
    x[threadIdx.x] = v;
  }
  x[threadIdx.x + 1024] = v;
}
__global__ void tail_bad(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int v = in[i];
    v += __shfl_xor_sync(0xffffffffu, v, 1); // expect: potentially_inactive_thread_in_mask
    out[i] = v;
  }
  __syncwarp();
}
__global__ void tail_good(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i < n) {
    int v = in[i];
    v += __shfl_xor_sync(active, v, 1);
    out[i] = v;
  }
  __syncwarp();
}
__global__ void even_lanes_bad(int* x) {
  const int lane = threadIdx.x & 31;
  if ((lane & 1) == 0) {
    x[threadIdx.x] = 1;
    __syncwarp(); // expect: inactive_thread_in_mask
    x[threadIdx.x] += x[threadIdx.x + 2];
  } else {
    x[threadIdx.x] = 2;
  }
  x[threadIdx.x + 64] = 0;
}
__global__ void wrong_mask_bad(int* x) {
  const int lane = threadIdx.x & 31;
  if (lane >= 16) {
    x[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 16); // expect: calling_thread_not_in_mask
  }
}
__global__ void source_bad(int* x) {
  const int lane = threadIdx.x & 31;
  int v = lane;
  if (lane >= 8) v = __shfl_sync(0xffffff00u, v, 0); // expect: source_lane_not_in_collective
  x[threadIdx.x] = v;
}
__global__ void first_warp_good(int* x) {
  __shared__ int s[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int v = warp_sum(x[threadIdx.x]);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int t = lane < blockDim.x / 32 ? s[lane] : 0;
    t = warp_sum(t);
    if (lane == 0) x[0] = t;
  }
}
__global__ void first_warp_also_good(int* x) {
  if (threadIdx.x < 32) x[threadIdx.x] = warp_sum(x[threadIdx.x]);
}
// Partial masks, each lane is named in its own; the launch is not to be seen.
__global__ void segments_good(int* x) {
  const unsigned lane = threadIdx.x % 32, group = lane / 8;
  const unsigned mask = 0xffu << (group * 8);
  int v = x[threadIdx.x];
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(mask, v, d, 8);
  x[threadIdx.x] = v;
}
// Right for blocks of one thread, and for those only: nobody knows here.
__global__ void single_lane(int* x) {
  x[0] = 1;
  __syncwarp(1); // expect: potentially_calling_thread_not_in_mask
  x[1] = x[0];
}
__global__ void single_lane_launched(int* x) {
  x[0] = 1;
  __syncwarp(1);
  x[1] = x[0];
}
__global__ void single_lane_launched_wrong(int* x) {
  x[0] = 1;
  __syncwarp(1); // expect: calling_thread_not_in_mask
  x[1] = x[0];
}
__global__ void __launch_bounds__(16) half_warp_block(int* x) {
  int v = x[threadIdx.x];
  v += __shfl_xor_sync(0xffffu, v, 8);
  x[threadIdx.x] = v;
}
__global__ void half_warp_unknown(int* x) {
  int v = x[threadIdx.x];
  v += __shfl_xor_sync(0xffffu, v, 8); // expect: potentially_calling_thread_not_in_mask
  x[threadIdx.x] = v;
}
int main() {
  single_lane_launched<<<1, 1>>>(nullptr);
  single_lane_launched_wrong<<<1, 64>>>(nullptr);
  return 0;
}
