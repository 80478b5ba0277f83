// CUDA-2.1, CUDA-2.3, cuda-syncwarp-missing.
#define FULL 0xffffffffu
__global__ void half_bad(int* p) {
  int v = p[threadIdx.x];
  if (threadIdx.x < 16) {
    v += __shfl_down_sync(FULL, v, 8); // expect: inactive_thread_in_mask
  }
  p[threadIdx.x] = v;
}
__global__ void half(int* p) {
  int v = p[threadIdx.x];
  if (threadIdx.x < 16) {
    v += __shfl_down_sync(0xffffu, v, 8);
  }
  p[threadIdx.x] = v;
}
__global__ void whole_warp(int* p) {
  int v = p[threadIdx.x];
  if (threadIdx.x < 32) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(FULL, v, o);
    if (threadIdx.x == 0) p[0] = v;
  }
}
__global__ void warp_leader_bad(int* p) {
  int lane = threadIdx.x % 32;
  if (lane == 0) {
    p[threadIdx.x] = __ballot_sync(FULL, p[1]); // expect: inactive_thread_in_mask
  }
  p[1] = 2;
}
__global__ void warp_leader(int* p) {
  int lane = threadIdx.x % 32;
  int all = __ballot_sync(FULL, p[1]);
  if (lane == 0) {
    p[threadIdx.x] = all;
  }
}
__global__ void leader_syncs_alone(int* p) {
  if ((threadIdx.x & 31) == 0) {
    p[threadIdx.x] = 1;
    __syncwarp(1);
    p[threadIdx.x + 1] = 1;
  }
}
__global__ void odd_bad(int* p) {
  int v = 0;
  if (threadIdx.x & 1) v = __any_sync(FULL, p[threadIdx.x]); // expect: inactive_thread_in_mask
  p[threadIdx.x] = v;
}
__global__ void odd(int* p) {
  int v = 0;
  if (threadIdx.x & 1) v = __any_sync(0xaaaaaaaau, p[threadIdx.x]);
  p[threadIdx.x] = v;
}
__global__ void both_sides(int* p) {
  if (threadIdx.x % 32 < 16) {
    p[threadIdx.x] = 1;
    __syncwarp();
  } else {
    p[threadIdx.x] = 2;
    __syncwarp();
  }
  p[threadIdx.x] += p[threadIdx.x ^ 1];
}
__global__ void mask_of_branch(int* p, int n) {
  unsigned mask = __ballot_sync(FULL, threadIdx.x < n);
  if (threadIdx.x < n) p[threadIdx.x] = __shfl_down_sync(mask, p[threadIdx.x], 1);
}
__global__ void computed_mask(int* p) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0 && lane < (blockDim.x / 32)) {
    int mask = (1 << (blockDim.x / 32)) - 1;
    p[lane] = __shfl_up_sync(mask, p[lane], 1);
  }
}
__global__ void chosen_mask(int* p) {
  unsigned mask = FULL;
  if (threadIdx.x % 32 < 8) mask = 0xff;
  else mask = 0xffffff00u;
  if (threadIdx.x % 32 < 8) p[threadIdx.x] = __ballot_sync(mask, 1);
  else p[threadIdx.x] = __ballot_sync(mask, 0);
}
__global__ void guard_with_full_mask(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = __shfl_xor_sync(FULL, p[i], 1); // expect: potentially_inactive_thread_in_mask
}
__global__ void small_block(int* p) {
  if (threadIdx.x < 16) p[threadIdx.x] = __shfl_xor_sync(FULL, p[threadIdx.x], 1);
}
void launch_small(int* p) { small_block<<<4, 16>>>(p); }

// CUDA-2.3: the document's examples and some more.
__global__ void not_named_bad() {
  __syncwarp(1u); // expect: potentially_calling_thread_not_in_mask
}
__global__ void source_bad() {
  if (threadIdx.x == 0) return;
  else __shfl_sync(~1u, 1, 0); // expect: source_lane_not_in_collective
  int x = __shfl_sync(~0u, 1, 0); // expect: source_lane_not_in_collective
}
__global__ void source() {
  int x = __shfl_sync(~0u, 1, 0);
  if (threadIdx.x % 32 > 0) x += __shfl_sync(~1u, x, 1);
}
__global__ void quarter_bad(int* p) {
  if (threadIdx.x % 32 < 12) p[threadIdx.x] = __all_sync(0xff, p[0]); // expect: potentially_calling_thread_not_in_mask
}
__global__ void quarter(int* p) {
  if (threadIdx.x % 32 < 8) p[threadIdx.x] = __all_sync(0xff, p[0]);
}
__global__ void own_bit(int* p) {
  int lane = threadIdx.x & 31;
  unsigned group = 0xfu << (lane & 28);
  p[threadIdx.x] = __ballot_sync(group, p[threadIdx.x] > 0);
}
__global__ void other_bit_bad(int* p) {
  int lane = threadIdx.x & 31;
  unsigned group = 0xfu << ((lane + 4) & 28);
  p[threadIdx.x] = __ballot_sync(group, p[threadIdx.x] > 0); // expect: calling_thread_not_in_mask
}

// Lanes that take their warp to run in lockstep.
__global__ void unrolled_bad(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    volatile int* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16]; // expect: cuda_syncwarp_missing
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[0] = s[0];
}
__global__ void unrolled(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    int v = s[t];
    v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 8]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 1]; __syncwarp(); s[t] = v;
  }
  if (t == 0) out[0] = s[0];
}
__global__ void exchange_bad(int* p) {
  __shared__ int s[8][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  s[warp][lane] = p[threadIdx.x];
  p[threadIdx.x] = s[warp][31 - lane]; // expect: cuda_syncwarp_missing
}
__global__ void exchange(int* p) {
  __shared__ int s[8][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  s[warp][lane] = p[threadIdx.x];
  __syncwarp();
  p[threadIdx.x] = s[warp][31 - lane];
}
__global__ void own_element(int* p) {
  __shared__ int s[256];
  s[threadIdx.x] = p[threadIdx.x];
  p[threadIdx.x] = s[threadIdx.x] + 1;
}
__global__ void leader_writes(int* p) {
  __shared__ int s[8];
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x / 32];
}
__global__ void leader_writes_bad(int* p) {
  __shared__ int s[8];
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = p[threadIdx.x];
  p[threadIdx.x] = s[threadIdx.x / 32]; // expect: cuda_syncwarp_missing
}
// Enumerators of a template (as in CUB's ranking of digits).
template <int Threads> struct Ranks {
  enum { first = Threads, WARP_MASK = ~0 };
  __device__ void rank(int* p) {
    __syncwarp(WARP_MASK);
    p[0] = __shfl_sync(WARP_MASK, p[1], 3);
  }
};
