// Reductions, scans and histograms of every age: all of them right.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// The series of the old tutorial, without the unsynchronised last warp.
__global__ void reduce0(const int* in, int* out, unsigned n) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = (i < n) ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if ((tid % (2 * s)) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
__global__ void reduce1(const int* in, int* out, unsigned n) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = (i < n) ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
template <class T, unsigned blockSize, bool nIsPow2> __global__ void reduce6(const T* in, T* out, unsigned n) {
  __shared__ T sdata[blockSize];
  unsigned tid = threadIdx.x, gridSize = blockSize * gridDim.x;
  T sum = 0;
  if (nIsPow2) {
    unsigned i = blockIdx.x * blockSize * 2 + threadIdx.x;
    gridSize = gridSize << 1;
    while (i < n) {
      sum += in[i];
      if (i + blockSize < n) sum += in[i + blockSize];
      i += gridSize;
    }
  } else {
    unsigned i = blockIdx.x * blockSize + threadIdx.x;
    while (i < n) { sum += in[i]; i += gridSize; }
  }
  sdata[tid] = sum;
  __syncthreads();
  if ((blockSize >= 512) && (tid < 256)) sdata[tid] = sum = sum + sdata[tid + 256];
  __syncthreads();
  if ((blockSize >= 256) && (tid < 128)) sdata[tid] = sum = sum + sdata[tid + 128];
  __syncthreads();
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] = sum = sum + sdata[tid + 64];
    __syncthreads();
  }
  if (tid < 32) {
    if (blockSize >= 64) sum += sdata[tid + 32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (tid == 0) out[blockIdx.x] = sum;
}
template __global__ void reduce6<int, 512, true>(const int*, int*, unsigned);
template __global__ void reduce6<double, 64, false>(const double*, double*, unsigned);

// Shuffles, the number of warps known at run time only.
__inline__ __device__ float warp_reduce(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
  return v;
}
__inline__ __device__ float block_reduce(float v) {
  static __shared__ float shared[32];
  int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
  v = warp_reduce(v);
  if (lane == 0) shared[wid] = v;
  __syncthreads();
  v = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : 0.0f;
  if (wid == 0) v = warp_reduce(v);
  return v;
}
template <int N> __inline__ __device__ void block_reduce_n(float (&v)[N]) {
  static __shared__ float shared[N][33];
  int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
  for (int i = 0; i < N; i++) v[i] = warp_reduce(v[i]);
  if (lane == 0)
    for (int i = 0; i < N; i++) shared[i][wid] = v[i];
  __syncthreads();
  const bool mine = threadIdx.x < (blockDim.x / 32.f);
  for (int i = 0; i < N; i++) v[i] = mine ? shared[i][lane] : 0.f;
  for (int i = 0; i < N; i++) v[i] = warp_reduce(v[i]);
}
__global__ void layernorm(const float* in, const float* gamma, const float* beta, float* out, int n, float eps) {
  __shared__ float s_mean, s_var;
  const int row = blockIdx.x;
  float v[2] = {0.f, 0.f};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float x = in[row * n + i];
    v[0] += x;
    v[1] += x * x;
  }
  if (blockDim.x <= 32) {
    v[0] = warp_reduce(v[0]);
    v[1] = warp_reduce(v[1]);
  } else {
    block_reduce_n<2>(v);
  }
  if (threadIdx.x == 0) {
    s_mean = v[0] / n;
    s_var = rsqrtf(v[1] / n - s_mean * s_mean + eps);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[row * n + i] = (in[row * n + i] - s_mean) * s_var * gamma[i] + beta[i];
}
__global__ void softmax_rows(const float* x, float* y, int rows, int cols) {
  __shared__ float s_max, s_sum;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float m = -1e30f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, x[row * cols + i]);
    m = block_reduce(m);
    if (threadIdx.x == 0) s_max = m;
    __syncthreads();
    float s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += expf(x[row * cols + i] - s_max);
    s = block_reduce(s);
    if (threadIdx.x == 0) s_sum = s;
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[row * cols + i] = expf(x[row * cols + i] - s_max) / s_sum;
    __syncthreads();
  }
}

// The last block adds up; the flag is in shared memory.
__device__ unsigned retired = 0;
__shared__ bool am_last;
template <unsigned B> __device__ void reduce_block(volatile float* s, float sum, unsigned tid) {
  s[tid] = sum;
  __syncthreads();
  for (unsigned k = B / 2; k > 0; k >>= 1) {
    if (tid < k) s[tid] = sum = sum + s[tid + k];
    __syncthreads();
  }
}
template <unsigned B> __global__ void reduce_single_pass(const float* in, volatile float* out, unsigned n) {
  __shared__ float s[B];
  unsigned tid = threadIdx.x;
  float sum = 0;
  for (unsigned i = blockIdx.x * B + tid; i < n; i += B * gridDim.x) sum += in[i];
  reduce_block<B>(s, sum, tid);
  if (tid == 0) out[blockIdx.x] = s[0];
  if (gridDim.x > 1) {
    __threadfence();
    if (tid == 0) {
      unsigned ticket = atomicInc(&retired, gridDim.x);
      am_last = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (am_last) {
      float rest = 0;
      for (unsigned i = tid; i < gridDim.x; i += B) rest += out[i];
      reduce_block<B>(s, rest, tid);
      if (tid == 0) {
        out[0] = s[0];
        retired = 0;
      }
    }
  }
}
template __global__ void reduce_single_pass<128>(const float*, volatile float*, unsigned);

// Cooperative groups, any size of the block.
__global__ void reduce_groups(const double* in, double* out, size_t n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  extern __shared__ double part[];
  double v = 0;
  for (size_t i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += block.size() * gridDim.x) v += in[i];
  part[block.thread_rank()] = v;
  cg::sync(block);
  for (int i = block.size() / 2; i >= 32; i >>= 1) {
    if (block.thread_rank() < i) part[block.thread_rank()] += part[block.thread_rank() + i];
    cg::sync(block);
  }
  if (warp.meta_group_rank() == 0) {
    v = part[warp.thread_rank()];
    for (int i = warp.size() / 2; i > 0; i /= 2) v += warp.shfl_down(v, i);
    if (warp.thread_rank() == 0) out[blockIdx.x] = v;
  }
}

// Blelloch, two elements a thread, padded.
#define OFFSET(n) ((n) >> 5)
__global__ void prescan(float* g_odata, const float* g_idata, float* sums, int n) {
  extern __shared__ float temp[];
  int rank = threadIdx.x, offset = 1;
  int ai = rank, bi = rank + (n / 2);
  int bankA = OFFSET(ai), bankB = OFFSET(bi);
  temp[ai + bankA] = g_idata[ai];
  temp[bi + bankB] = g_idata[bi];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (rank < d) {
      int a = offset * (2 * rank + 1) - 1, b = offset * (2 * rank + 2) - 1;
      a += OFFSET(a);
      b += OFFSET(b);
      temp[b] += temp[a];
    }
    offset <<= 1;
  }
  if (rank == 0) {
    if (sums) sums[blockIdx.x] = temp[n - 1 + OFFSET(n - 1)];
    temp[n - 1 + OFFSET(n - 1)] = 0;
  }
  for (int d = 1; d < n; d <<= 1) {
    offset >>= 1;
    __syncthreads();
    if (rank < d) {
      int a = offset * (2 * rank + 1) - 1, b = offset * (2 * rank + 2) - 1;
      a += OFFSET(a);
      b += OFFSET(b);
      float t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  g_odata[ai] = temp[ai + bankA];
  g_odata[bi] = temp[bi + bankB];
}

// Inclusive scan by warps; the total of each chunk is carried on.
__global__ void scan_long(const int* in, int* out, int n) {
  __shared__ int warp_sums[32];
  __shared__ int carry;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int base = 0; base < n; base += blockDim.x) {
    const int i = base + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
      int up = __shfl_up_sync(0xffffffff, v, d);
      if (lane >= d) v += up;
    }
    if (lane == 31) warp_sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
      int s = lane < warps ? warp_sums[lane] : 0;
      for (int d = 1; d < 32; d *= 2) {
        int up = __shfl_up_sync(0xffffffff, s, d);
        if (lane >= d) s += up;
      }
      if (lane < warps) warp_sums[lane] = s;
    }
    __syncthreads();
    const int before = carry + (warp > 0 ? warp_sums[warp - 1] : 0);
    if (i < n) out[i] = v + before;
    __syncthreads();
    if (threadIdx.x == 0) carry += warp_sums[warps - 1];
    __syncthreads();
  }
}

// Compaction in one pass: the offset of the block comes from a counter.
__global__ void compact(const int* in, int* out, int* counter, int n) {
  __shared__ int total, base;
  for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int i = start + threadIdx.x;
    const bool keep = i < n && in[i] > 0;
    int at = 0;
    if (keep) at = atomicAdd(&total, 1);
    __syncthreads();
    const int found = total;
    __syncthreads();
    if (found == 0) continue;
    if (threadIdx.x == 0) base = atomicAdd(counter, found);
    __syncthreads();
    if (keep) out[base + at] = in[i];
    __syncthreads();
  }
}

__global__ void histogram_warps(const unsigned* data, unsigned* partial, unsigned n) {
  __shared__ unsigned s_hist[6 * 256];
  unsigned* warp_hist = s_hist + (threadIdx.x >> 5) * 256;
#pragma unroll
  for (unsigned i = 0; i < 8; i++) s_hist[threadIdx.x + i * 192] = 0;
  __syncthreads();
  for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < n; pos += blockDim.x * gridDim.x) {
    unsigned d = data[pos];
    atomicAdd(warp_hist + (d & 0xff), 1u);
    atomicAdd(warp_hist + (d >> 8 & 0xff), 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += 192) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 6; i++) sum += s_hist[bin + i * 256];
    partial[blockIdx.x * 256 + bin] = sum;
  }
}

__global__ void argmax_rows(const float* x, int* index, int cols) {
  extern __shared__ char memory[];
  float* best = reinterpret_cast<float*>(memory);
  int* at = reinterpret_cast<int*>(memory + blockDim.x * sizeof(float));
  float v = -1e30f;
  int k = -1;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (x[blockIdx.x * cols + c] > v) { v = x[blockIdx.x * cols + c]; k = c; }
  best[threadIdx.x] = v;
  at[threadIdx.x] = k;
  for (int s = blockDim.x >> 1; s; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s && best[threadIdx.x + s] > best[threadIdx.x]) {
      best[threadIdx.x] = best[threadIdx.x + s];
      at[threadIdx.x] = at[threadIdx.x + s];
    }
  }
  if (threadIdx.x == 0) index[blockIdx.x] = at[0];
}

int main() {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  layernorm<<<4, 256>>>(a, a, a, b, 256, 1e-5f);
  softmax_rows<<<4, 128>>>(a, b, 4, 256);
  return cudaDeviceSynchronize();
}
