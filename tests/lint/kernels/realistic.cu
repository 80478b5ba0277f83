// Kernels as people write them, all of them right: nothing may be reported here.
#define TILE 16
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[TILE][TILE], sb[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    int ac = t * TILE + threadIdx.x, br = t * TILE + threadIdx.y;
    sa[threadIdx.y][threadIdx.x] = (row < m && ac < k) ? a[row * k + ac] : 0.0f;
    sb[threadIdx.y][threadIdx.x] = (br < k && col < n) ? b[br * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

__global__ void scan_block(const int* in, int* out, int* sums, int n) {
  extern __shared__ int temp[];
  int rank = threadIdx.x, offset = 1;
  int base = 2 * blockIdx.x * blockDim.x;
  temp[2 * rank] = base + 2 * rank < n ? in[base + 2 * rank] : 0;
  temp[2 * rank + 1] = base + 2 * rank + 1 < n ? in[base + 2 * rank + 1] : 0;
  for (int d = blockDim.x; d > 0; d >>= 1) {
    __syncthreads();
    if (rank < d) {
      int ai = offset * (2 * rank + 1) - 1, bi = offset * (2 * rank + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (rank == 0) {
    sums[blockIdx.x] = temp[2 * blockDim.x - 1];
    temp[2 * blockDim.x - 1] = 0;
  }
  for (int d = 1; d < 2 * blockDim.x; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (rank < d) {
      int ai = offset * (2 * rank + 1) - 1, bi = offset * (2 * rank + 2) - 1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  if (base + 2 * rank < n) out[base + 2 * rank] = temp[2 * rank];
  if (base + 2 * rank + 1 < n) out[base + 2 * rank + 1] = temp[2 * rank + 1];
}

__global__ void hillis_steele(const float* in, float* out, int n) {
  extern __shared__ float buffer[];
  int tid = threadIdx.x, pout = 0, pin = 1;
  buffer[tid] = tid > 0 ? in[tid - 1] : 0;
  __syncthreads();
  for (int offset = 1; offset < n; offset <<= 1) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (tid >= offset) buffer[pout * n + tid] = buffer[pin * n + tid] + buffer[pin * n + tid - offset];
    else buffer[pout * n + tid] = buffer[pin * n + tid];
    __syncthreads();
  }
  out[tid] = buffer[pout * n + tid];
}

__global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  return v;
}
__device__ float block_sum(float v) {
  static __shared__ float shared[32];
  int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
  v = warp_sum(v);
  if (lane == 0) shared[wid] = v;
  __syncthreads();
  v = (threadIdx.x < blockDim.x / 32) ? shared[lane] : 0;
  if (wid == 0) v = warp_sum(v);
  return v;
}
__global__ void layer_norm(const float* x, float* y, int cols) {
  __shared__ float mean, rstd;
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += x[blockIdx.x * cols + i];
  s = block_sum(s);
  if (threadIdx.x == 0) mean = s / cols;
  __syncthreads();
  float q = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float d = x[blockIdx.x * cols + i] - mean;
    q += d * d;
  }
  q = block_sum(q);
  if (threadIdx.x == 0) rstd = rsqrtf(q / cols + 1e-5f);
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = (x[blockIdx.x * cols + i] - mean) * rstd;
}

__global__ void stencil(const float* in, float* out, int n, int steps) {
  __shared__ float tile[2][258];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int cur = 0;
  tile[0][threadIdx.x + 1] = i < n ? in[i] : 0;
  if (threadIdx.x == 0) tile[0][0] = i > 0 ? in[i - 1] : 0;
  if (threadIdx.x == blockDim.x - 1) tile[0][257] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  for (int t = 0; t < steps; ++t) {
    tile[1 - cur][threadIdx.x + 1] = 0.5f * (tile[cur][threadIdx.x] + tile[cur][threadIdx.x + 2]);
    cur ^= 1;
    __syncthreads();
  }
  if (i < n) out[i] = tile[cur][threadIdx.x + 1];
}

__global__ void bitonic(int* data, int n) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = data[i];
  __syncthreads();
  for (int k = 2; k <= n; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int l = i ^ j;
        if (l > i) {
          bool up = (i & k) == 0;
          if ((s[i] > s[l]) == up) {
            int t = s[i];
            s[i] = s[l];
            s[l] = t;
          }
        }
      }
      __syncthreads();
    }
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = s[i];
}

__global__ void nbody(const float4* p, float4* a, int n) {
  extern __shared__ float4 sh[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i < n ? i : 0];
  float4 acc = make_float4(0, 0, 0, 0);
  for (int tile = 0; tile * blockDim.x < n; ++tile) {
    int idx = tile * blockDim.x + threadIdx.x;
    sh[threadIdx.x] = idx < n ? p[idx] : make_float4(0, 0, 0, 0);
    __syncthreads();
    int count = min((int)blockDim.x, n - tile * (int)blockDim.x);
    for (int j = 0; j < count; ++j) {
      acc.x += sh[j].x - me.x;
      acc.y += sh[j].y - me.y;
    }
    __syncthreads();
  }
  if (i < n) a[i] = acc;
}

__global__ void csr_block_per_row(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows) {
  __shared__ float part[256];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int j = row_ptr[row] + threadIdx.x; j < row_ptr[row + 1]; j += blockDim.x) sum += val[j] * x[col[j]];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
      if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
      __syncthreads();
    }
    if (threadIdx.x == 0) y[row] = part[0];
    __syncthreads();
  }
}

__global__ void bfs_level(const int* row, const int* col, int* dist, int* queue, int* qsize, int n) {
  __shared__ int head, tail;
  if (threadIdx.x == 0) {
    head = 0;
    tail = *qsize;
  }
  __syncthreads();
  while (head < tail) {
    int h = head, t = tail;
    __syncthreads();
    for (int i = h + threadIdx.x; i < t; i += blockDim.x) {
      int v = queue[i];
      for (int e = row[v]; e < row[v + 1]; ++e) {
        int w = col[e];
        if (atomicCAS(&dist[w], -1, dist[v] + 1) == -1) queue[atomicAdd(&tail, 1)] = w;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) head = t;
    __syncthreads();
  }
}

template <typename T, int BLOCK, int ITEMS> __global__ void block_load_process(const T* in, T* out, int n) {
  __shared__ T stage[BLOCK * ITEMS];
  const int tile = BLOCK * ITEMS;
  const int tiles = (n + tile - 1) / tile;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int begin = t * tile;
    const bool full = begin + tile <= n;
    if (full) {
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) stage[i * BLOCK + threadIdx.x] = in[begin + i * BLOCK + threadIdx.x];
      __syncthreads();
    } else {
      for (int i = threadIdx.x; i < n - begin; i += BLOCK) stage[i] = in[begin + i];
      __syncthreads();
    }
    for (int i = threadIdx.x; i < (full ? tile : n - begin); i += BLOCK) out[begin + i] = stage[tile - 1 - i];
    __syncthreads();
  }
}
template __global__ void block_load_process<float, 128, 4>(const float*, float*, int);

__global__ void radix_pass(unsigned* keys, unsigned* out, int n) {
  __shared__ unsigned flags[512];
  __shared__ unsigned total;
  unsigned key = threadIdx.x < n ? keys[threadIdx.x] : 0xffffffffu;
  for (int bit = 0; bit < 32; ++bit) {
    unsigned b = (key >> bit) & 1;
    flags[threadIdx.x] = 1 - b;
    __syncthreads();
    for (int o = 1; o < blockDim.x; o *= 2) {
      unsigned v = threadIdx.x >= o ? flags[threadIdx.x - o] : 0;
      __syncthreads();
      flags[threadIdx.x] += v;
      __syncthreads();
    }
    if (threadIdx.x == blockDim.x - 1) total = flags[threadIdx.x];
    __syncthreads();
    unsigned pos = b ? threadIdx.x - flags[threadIdx.x] + total : flags[threadIdx.x] - 1;
    out[pos] = key;
    __syncthreads();
    key = out[threadIdx.x];
    __syncthreads();
  }
}

__global__ void convergence(float* x, const float* b, int n, int max_iterations, float eps) {
  __shared__ float err;
  float delta = 0;
  for (int it = 0; it < max_iterations; ++it) {
    if (threadIdx.x == 0) err = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      float nx = 0.5f * (x[i] + b[i]);
      delta = fabsf(nx - x[i]);
      x[i] = nx;
      if (delta > eps) err = delta;
    }
    __syncthreads();
    float e = err;
    __syncthreads();
    if (e < eps) break;
  }
  x[threadIdx.x] += delta;
}

__global__ void warp_specialized(float* p, int n) {
  __shared__ float buf[2][128];
  int warp = threadIdx.x / 32;
  for (int i = 0; i < n; ++i) {
    if (warp == 0) {
      for (int k = threadIdx.x; k < 128; k += 32) buf[i & 1][k] = p[i * 128 + k];
    }
    __syncthreads();
    if (warp != 0) p[i * 128 + threadIdx.x] = buf[i & 1][threadIdx.x & 127];
    __syncthreads();
  }
}

struct Smem {
  int count;
  float data[128];
};
__global__ void struct_in_shared(float* out, const int* counts) {
  __shared__ Smem s;
  if (threadIdx.x == 0) s.count = counts[blockIdx.x];
  s.data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int i = 0; i < s.count; ++i) {
    s.data[threadIdx.x] += 1.0f;
    __syncthreads();
  }
  out[threadIdx.x] = s.data[threadIdx.x];
}

__global__ void pipeline(const float* in, float* out, int n) {
  __shared__ float stage[3][256];
  int chunks = n / 256;
  for (int c = 0; c < 2 && c < chunks; ++c) stage[c][threadIdx.x] = in[c * 256 + threadIdx.x];
  for (int c = 0; c < chunks; ++c) {
    __syncthreads();
    if (c + 2 < chunks) stage[(c + 2) % 3][threadIdx.x] = in[(c + 2) * 256 + threadIdx.x];
    out[c * 256 + threadIdx.x] = stage[c % 3][255 - threadIdx.x];
  }
}
