// Dense linear algebra as collections of samples and benchmarks write it: all of it right.
#define BS 16
#define BLOCK_SIZE 32
#define CHECK(x) do { if ((x) != cudaSuccess) return 1; } while (0)

template <int TILE_M, int TILE_N, int TILE_K, int TM, int TN>
__global__ __launch_bounds__((TILE_M / TM) * (TILE_N / TN))
void sgemm_blocktiled(int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B, float beta, float* C) {
  const int threads = (TILE_M / TM) * (TILE_N / TN);
  const int tcol = threadIdx.x % (TILE_N / TN), trow = threadIdx.x / (TILE_N / TN);
  __shared__ float As[TILE_K * TILE_M];
  __shared__ float Bs[TILE_K * TILE_N];
  A += blockIdx.y * TILE_M * K;
  B += blockIdx.x * TILE_N;
  C += blockIdx.y * TILE_M * N + blockIdx.x * TILE_N;
  const int rowA = threadIdx.x / (TILE_K / 4), colA = threadIdx.x % (TILE_K / 4);
  const int rowB = threadIdx.x / (TILE_N / 4), colB = threadIdx.x % (TILE_N / 4);
  const int strideA = threads / (TILE_K / 4), strideB = threads / (TILE_N / 4);
  float acc[TM * TN] = {0.0f};
  float regM[TM], regN[TN];
  for (int k0 = 0; k0 < K; k0 += TILE_K) {
    for (int off = 0; off < TILE_M; off += strideA) {
      float4 t = reinterpret_cast<const float4*>(&A[(rowA + off) * K + colA * 4])[0];
      As[(colA * 4 + 0) * TILE_M + rowA + off] = t.x;
      As[(colA * 4 + 1) * TILE_M + rowA + off] = t.y;
      As[(colA * 4 + 2) * TILE_M + rowA + off] = t.z;
      As[(colA * 4 + 3) * TILE_M + rowA + off] = t.w;
    }
    for (int off = 0; off < TILE_K; off += strideB) {
      reinterpret_cast<float4*>(&Bs[(rowB + off) * TILE_N + colB * 4])[0] =
          reinterpret_cast<const float4*>(&B[(rowB + off) * N + colB * 4])[0];
    }
    __syncthreads();
    A += TILE_K;
    B += TILE_K * N;
    for (int d = 0; d < TILE_K; ++d) {
      for (int i = 0; i < TM; ++i) regM[i] = As[d * TILE_M + trow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[d * TILE_N + tcol * TN + i];
      for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) acc[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int n = 0; n < TN; ++n) {
      float* c = &C[(trow * TM + m) * N + tcol * TN + n];
      *c = alpha * acc[m * TN + n] + beta * *c;
    }
}
template __global__ void sgemm_blocktiled<128, 128, 8, 8, 8>(int, int, int, float, const float*, const float*, float, float*);

// Tiles that stop at the edge, counted down.
__global__ void matmul_tail(const double* A, const double* B, double* C, int m, int n, int k) {
  __shared__ double sA[BS][BS + 1], sB[BS][BS + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * blockDim.y + ty, col = blockIdx.x * blockDim.x + tx;
  double sum = 0;
  int left = k, at = 0;
  while (left > 0) {
    const int width = left < BS ? left : BS;
    if (row < m && tx < width) sA[ty][tx] = A[row * k + at + tx];
    else sA[ty][tx] = 0;
    if (col < n && ty < width) sB[ty][tx] = B[(at + ty) * n + col];
    else sB[ty][tx] = 0;
    __syncthreads();
    for (int i = 0; i < width; i++) sum += sA[ty][i] * sB[i][tx];
    __syncthreads();
    left -= width;
    at += width;
  }
  if (row < m && col < n) C[row * n + col] = sum;
}

// Double buffered: the next tile is fetched while this one is used.
__global__ void matmul_double_buffered(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[2][BS][BS], sb[2][BS][BS];
  int row = blockIdx.y * BS + threadIdx.y, col = blockIdx.x * BS + threadIdx.x;
  int buffer = 0;
  sa[0][threadIdx.y][threadIdx.x] = a[row * n + threadIdx.x];
  sb[0][threadIdx.y][threadIdx.x] = b[threadIdx.y * n + col];
  __syncthreads();
  float acc = 0;
  const int tiles = n / BS;
  for (int t = 0; t < tiles; ++t) {
    float ra, rb;
    const bool more = t + 1 < tiles;
    if (more) {
      ra = a[row * n + (t + 1) * BS + threadIdx.x];
      rb = b[((t + 1) * BS + threadIdx.y) * n + col];
    }
    for (int i = 0; i < BS; ++i) acc += sa[buffer][threadIdx.y][i] * sb[buffer][i][threadIdx.x];
    if (more) {
      buffer ^= 1;
      sa[buffer][threadIdx.y][threadIdx.x] = ra;
      sb[buffer][threadIdx.y][threadIdx.x] = rb;
      __syncthreads();
    }
  }
  c[row * n + col] = acc;
}

// LU of one diagonal block in shared memory.
__global__ void lud_diagonal(float* m, int dim, int offset) {
  __shared__ float shadow[BS][BS];
  int array_offset = offset * dim + offset;
  for (int i = 0; i < BS; i++) {
    shadow[i][threadIdx.x] = m[array_offset + threadIdx.x];
    array_offset += dim;
  }
  __syncthreads();
  for (int i = 0; i < BS - 1; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i) {
      for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    }
    __syncthreads();
  }
  array_offset = (offset + 1) * dim + offset;
  for (int i = 1; i < BS; i++) {
    m[array_offset + threadIdx.x] = shadow[i][threadIdx.x];
    array_offset += dim;
  }
}

__global__ void lud_perimeter(float* m, int dim, int offset) {
  __shared__ float dia[BS][BS], peri_row[BS][BS], peri_col[BS][BS];
  int idx;
  if (threadIdx.x < BS) {
    idx = threadIdx.x;
    int at = offset * dim + offset;
    for (int i = 0; i < BS / 2; i++) { dia[i][idx] = m[at + idx]; at += dim; }
    at = offset * dim + offset;
    for (int i = 0; i < BS; i++) { peri_row[i][idx] = m[at + (blockIdx.x + 1) * BS + idx]; at += dim; }
  } else {
    idx = threadIdx.x - BS;
    int at = (offset + BS / 2) * dim + offset;
    for (int i = BS / 2; i < BS; i++) { dia[i][idx] = m[at + idx]; at += dim; }
    at = (offset + (blockIdx.x + 1) * BS) * dim + offset;
    for (int i = 0; i < BS; i++) { peri_col[i][idx] = m[at + idx]; at += dim; }
  }
  __syncthreads();
  if (threadIdx.x < BS) {
    idx = threadIdx.x;
    for (int i = 1; i < BS; i++)
      for (int j = 0; j < i; j++) peri_row[i][idx] -= dia[i][j] * peri_row[j][idx];
  } else {
    idx = threadIdx.x - BS;
    for (int i = 0; i < BS; i++) {
      for (int j = 0; j < i; j++) peri_col[idx][i] -= peri_col[idx][j] * dia[j][i];
      peri_col[idx][i] /= dia[i][i];
    }
  }
  __syncthreads();
  if (threadIdx.x < BS) {
    idx = threadIdx.x;
    int at = (offset + 1) * dim + offset;
    for (int i = 1; i < BS; i++) { m[at + (blockIdx.x + 1) * BS + idx] = peri_row[i][idx]; at += dim; }
  }
}

// Right-looking Cholesky of a batch of small matrices, a block for each; stops at a bad pivot.
template <typename T, int NB> __device__ bool potf2_shared(T (*s)[NB + 1], int n, int tx) {
  for (int j = 0; j < n; ++j) {
    T pivot = s[j][j];
    __syncthreads();
    if (pivot <= T(0)) return false;
    if (tx == j) s[j][j] = sqrt(pivot);
    __syncthreads();
    if (tx > j && tx < n) s[tx][j] /= s[j][j];
    __syncthreads();
    if (tx > j && tx < n)
      for (int c = j + 1; c <= tx; ++c) s[tx][c] -= s[tx][j] * s[c][j];
    __syncthreads();
  }
  return true;
}
template <typename T, int NB> __global__ void cholesky_batched(T* const* matrices, const int* sizes, int lda, int* info) {
  __shared__ T s[NB][NB + 1];
  T* a = matrices[blockIdx.x];
  const int n = sizes[blockIdx.x], tx = threadIdx.x;
  if (n <= 0 || n > NB) return;
  if (tx < n)
    for (int c = 0; c <= tx; ++c) s[tx][c] = a[c * lda + tx];
  __syncthreads();
  const bool ok = potf2_shared<T, NB>(s, n, tx);
  if (!ok) {
    if (tx == 0) info[blockIdx.x] = 1;
    return;
  }
  __syncthreads();
  if (tx < n)
    for (int c = 0; c <= tx; ++c) a[c * lda + tx] = s[tx][c];
}
template __global__ void cholesky_batched<double, 32>(double* const*, const int*, int, int*);

// Gauss with a search for the pivot.
__global__ void gauss_pivot(double* a, int* permutation, int n, int lda) {
  extern __shared__ double row[];
  __shared__ int best;
  __shared__ double best_value;
  const int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    if (t == 0) {
      best = k;
      best_value = fabs(a[k * lda + k]);
      for (int i = k + 1; i < n; ++i) {
        double v = fabs(a[i * lda + k]);
        if (v > best_value) { best_value = v; best = i; }
      }
      permutation[k] = best;
    }
    __syncthreads();
    if (best_value == 0.0) break;
    if (best != k) {
      for (int c = t; c < n; c += blockDim.x) {
        double x = a[k * lda + c];
        a[k * lda + c] = a[best * lda + c];
        a[best * lda + c] = x;
      }
      __syncthreads();
    }
    for (int c = t; c < n; c += blockDim.x) row[c] = a[k * lda + c];
    __syncthreads();
    for (int i = k + 1 + t; i < n; i += blockDim.x) {
      double f = a[i * lda + k] / row[k];
      for (int c = k; c < n; ++c) a[i * lda + c] -= f * row[c];
    }
    __syncthreads();
  }
}

// Transposes, plain and with a loop over rows.
__global__ void transpose_coalesced(float* odata, const float* idata, int width, int height) {
  __shared__ float tile[BLOCK_SIZE][BLOCK_SIZE + 1];
  int x = blockIdx.x * BLOCK_SIZE + threadIdx.x, y = blockIdx.y * BLOCK_SIZE + threadIdx.y;
  for (int j = 0; j < BLOCK_SIZE; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * BLOCK_SIZE + threadIdx.x;
  y = blockIdx.x * BLOCK_SIZE + threadIdx.y;
  for (int j = 0; j < BLOCK_SIZE; j += 8)
    if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// y = A x with a tile of x for the whole block; the last one is shorter.
__global__ void gemv_tiled(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  extern __shared__ float xs[];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float dot = 0.f;
#pragma unroll 1
  for (unsigned int base = 0, rest = cols; base < cols; base += blockDim.x, rest -= blockDim.x) {
    const unsigned int now = min(rest, blockDim.x);
    if (threadIdx.x < now) xs[threadIdx.x] = x[base + threadIdx.x];
    __syncthreads();
    if (row < rows) {
      for (unsigned int i = 0; i < now; ++i) dot += A[row * cols + base + i] * xs[i];
    }
    __syncthreads();
  }
  if (row < rows) y[row] = dot;
}

// Householder step: a norm, then an update, both by the whole block; helpers carry the barriers.
template <int B> __device__ __forceinline__ float block_sum(float v, float* scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
#pragma unroll
  for (int s = B / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  float r = scratch[0];
  __syncthreads();
  return r;
}
template <int B> __global__ void householder(float* A, float* tau, int m, int n) {
  __shared__ float scratch[B];
  for (int k = 0; k < min(m, n); ++k) {
    float part = 0;
    for (int i = k + 1 + threadIdx.x; i < m; i += B) part += A[k * m + i] * A[k * m + i];
    float norm2 = block_sum<B>(part, scratch);
    if (norm2 < 1e-20f) {
      if (threadIdx.x == 0) tau[k] = 0;
      continue;
    }
    float alpha = A[k * m + k];
    float beta = alpha >= 0 ? -sqrtf(alpha * alpha + norm2) : sqrtf(alpha * alpha + norm2);
    float t = (beta - alpha) / beta;
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < m; i += B) A[k * m + i] /= alpha - beta;
    if (threadIdx.x == 0) { A[k * m + k] = beta; tau[k] = t; }
    __syncthreads();
    for (int c = k + 1; c < n; ++c) {
      float d = 0;
      for (int i = k + 1 + threadIdx.x; i < m; i += B) d += A[k * m + i] * A[c * m + i];
      d = block_sum<B>(d, scratch) + A[c * m + k];
      __syncthreads();
      for (int i = k + 1 + threadIdx.x; i < m; i += B) A[c * m + i] -= t * d * A[k * m + i];
      if (threadIdx.x == 0) A[c * m + k] -= t * d;
      __syncthreads();
    }
  }
}
template __global__ void householder<256>(float*, float*, int, int);

int main() {
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, 1 << 20));
  CHECK(cudaMalloc(&b, 1 << 20));
  CHECK(cudaMalloc(&c, 1 << 20));
  matmul_double_buffered<<<dim3(4, 4), dim3(BS, BS)>>>(a, b, c, 64);
  lud_diagonal<<<1, BS>>>(a, 64, 0);
  lud_perimeter<<<3, BS * 2>>>(a, 64, 0);
  transpose_coalesced<<<dim3(2, 2), dim3(BLOCK_SIZE, 8)>>>(a, b, 64, 64);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
