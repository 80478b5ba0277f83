// Stencils, images, dynamic programming along wavefronts: all of it right.
#define BLOCK 16
#define BLOCK_X 256
#define HALO 1
#define IN_RANGE(x, lo, hi) ((x) >= (lo) && (x) <= (hi))
#define CLAMP(x, lo, hi) (((x) < (lo)) ? (lo) : ((x) > (hi)) ? (hi) : (x))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
#define RADIUS 4

// The shortest way down a grid, several rows a launch.
__global__ void dynproc(int iteration, const int* wall, const int* src, int* results, int cols, int rows, int start, int border) {
  __shared__ int prev[BLOCK_X];
  __shared__ int result[BLOCK_X];
  int bx = blockIdx.x, tx = threadIdx.x;
  int small = BLOCK_X - iteration * HALO * 2;
  int left = small * bx - border, right = left + BLOCK_X - 1;
  int xidx = left + tx;
  int validXmin = (left < 0) ? -left : 0;
  int validXmax = (right > cols - 1) ? BLOCK_X - 1 - (right - cols + 1) : BLOCK_X - 1;
  int W = tx - 1, E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool valid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = src[xidx];
  __syncthreads();
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_X - i - 2) && valid) {
      computed = true;
      int shortest = MIN(prev[W], prev[tx]);
      shortest = MIN(shortest, prev[E]);
      result[tx] = shortest + wall[cols * (start + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) results[xidx] = result[tx];
}

// Temperatures of a chip.
__global__ void hotspot(int iteration, const float* power, float* src, float* dst, int cols, int rows, int border_cols, int border_rows, float cap, float rx, float ry, float rz, float step) {
  __shared__ float on_cuda[BLOCK][BLOCK], power_on_cuda[BLOCK][BLOCK], t[BLOCK][BLOCK];
  const float amb = 80.0f, step_div_cap = step / cap, rx1 = 1 / rx, ry1 = 1 / ry, rz1 = 1 / rz;
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int small_rows = BLOCK - iteration * 2, small_cols = BLOCK - iteration * 2;
  int top = small_rows * by - border_rows, left = small_cols * bx - border_cols;
  int bottom = top + BLOCK - 1, right = left + BLOCK - 1;
  int y = top + ty, x = left + tx, index = cols * y + x;
  if (IN_RANGE(y, 0, rows - 1) && IN_RANGE(x, 0, cols - 1)) {
    on_cuda[ty][tx] = src[index];
    power_on_cuda[ty][tx] = power[index];
  }
  __syncthreads();
  int ymin = (top < 0) ? -top : 0, ymax = (bottom > rows - 1) ? BLOCK - 1 - (bottom - rows + 1) : BLOCK - 1;
  int xmin = (left < 0) ? -left : 0, xmax = (right > cols - 1) ? BLOCK - 1 - (right - cols + 1) : BLOCK - 1;
  int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
  N = (N < ymin) ? ymin : N;
  S = (S > ymax) ? ymax : S;
  W = (W < xmin) ? xmin : W;
  E = (E > xmax) ? xmax : E;
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK - i - 2) && IN_RANGE(ty, i + 1, BLOCK - i - 2) && IN_RANGE(tx, xmin, xmax) && IN_RANGE(ty, ymin, ymax)) {
      computed = true;
      t[ty][tx] = on_cuda[ty][tx] + step_div_cap * (power_on_cuda[ty][tx] + (on_cuda[S][tx] + on_cuda[N][tx] - 2.0f * on_cuda[ty][tx]) * ry1 +
                  (on_cuda[ty][E] + on_cuda[ty][W] - 2.0f * on_cuda[ty][tx]) * rx1 + (amb - on_cuda[ty][tx]) * rz1);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) on_cuda[ty][tx] = t[ty][tx];
    __syncthreads();
  }
  if (computed) dst[index] = t[ty][tx];
}

// Alignment of two sequences by diagonals.
__device__ __host__ int maximum(int a, int b, int c) {
  int k;
  if (a <= b) k = b;
  else k = a;
  if (k <= c) return c;
  else return k;
}
__global__ void needle_1(const int* reference, int* matrix, int cols, int penalty, int i, int block_width) {
  int bx = blockIdx.x, tx = threadIdx.x;
  int b_x = bx, b_y = i - 1 - bx;
  int index = cols * BLOCK * b_y + BLOCK * b_x + tx + (cols + 1);
  int index_w = cols * BLOCK * b_y + BLOCK * b_x + cols, index_nw = cols * BLOCK * b_y + BLOCK * b_x;
  __shared__ int temp[BLOCK + 1][BLOCK + 1];
  __shared__ int ref[BLOCK][BLOCK];
  if (tx == 0) temp[tx][0] = matrix[index_nw];
  for (int ty = 0; ty < BLOCK; ty++) ref[ty][tx] = reference[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = matrix[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = matrix[index - cols];
  __syncthreads();
  for (int m = 0; m < BLOCK; m++) {
    if (tx <= m) {
      int t_x = tx + 1, t_y = m - tx + 1;
      temp[t_y][t_x] = maximum(temp[t_y - 1][t_x - 1] + ref[t_y - 1][t_x - 1], temp[t_y][t_x - 1] - penalty, temp[t_y - 1][t_x] - penalty);
    }
    __syncthreads();
  }
  for (int m = BLOCK - 2; m >= 0; m--) {
    if (tx <= m) {
      int t_x = tx + BLOCK - m, t_y = BLOCK - tx;
      temp[t_y][t_x] = maximum(temp[t_y - 1][t_x - 1] + ref[t_y - 1][t_x - 1], temp[t_y][t_x - 1] - penalty, temp[t_y - 1][t_x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < BLOCK; ty++) matrix[index + ty * cols] = temp[ty + 1][tx + 1];
}

// Smith-Waterman: one block an alignment of its own length, along anti-diagonals.
__global__ void smith_waterman(const char* queries, const int* offsets, const char* target, int target_length, int* scores) {
  extern __shared__ short diagonals[];
  __shared__ int best;
  const int begin = offsets[blockIdx.x], length = offsets[blockIdx.x + 1] - begin;
  short* now = diagonals;
  short* last = now + length + 1;
  short* before = last + length + 1;
  if (threadIdx.x == 0) best = 0;
  for (int i = threadIdx.x; i <= length; i += blockDim.x) now[i] = last[i] = before[i] = 0;
  __syncthreads();
  for (int d = 0; d < length + target_length - 1; ++d) {
    const int lo = max(0, d - target_length + 1), hi = min(length - 1, d);
    for (int i = lo + threadIdx.x; i <= hi; i += blockDim.x) {
      int match = queries[begin + i] == target[d - i] ? 2 : -1;
      int s = max(0, max(before[i] + match, max(last[i], last[i + 1]) - 1));
      now[i + 1] = s;
      if (s > best) atomicMax(&best, s);
    }
    __syncthreads();
    short* t = before;
    before = last;
    last = now;
    now = t;
  }
  if (threadIdx.x == 0) scores[blockIdx.x] = best;
}

// 3D finite differences: a plane in shared memory, the third axis in registers.
template <int R> __global__ void finite_difference_3d(float* output, const float* input, const float* coefficients, int dimx, int dimy, int dimz) {
  __shared__ float tile[BLOCK + 2 * R][BLOCK + 2 * R];
  bool validr = true, validw = true;
  const int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;
  const int ltx = threadIdx.x, lty = threadIdx.y, workx = blockDim.x, worky = blockDim.y;
  const int stride_y = dimx + 2 * R, stride_z = stride_y * (dimy + 2 * R);
  int in = R * stride_y + R + gy * stride_y + gx, out = 0;
  float infront[R], behind[R], current;
  if ((gx >= dimx + R) || (gy >= dimy + R)) validr = false;
  if ((gx >= dimx) || (gy >= dimy)) validw = false;
  for (int i = R - 2; i >= 0; i--) {
    if (validr) behind[i] = input[in];
    in += stride_z;
  }
  if (validr) current = input[in];
  out = in;
  in += stride_z;
  for (int i = 0; i < R; i++) {
    if (validr) infront[i] = input[in];
    in += stride_z;
  }
#pragma unroll 9
  for (int iz = 0; iz < dimz; iz++) {
    for (int i = R - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
    for (int i = 0; i < R - 1; i++) infront[i] = infront[i + 1];
    if (validr) infront[R - 1] = input[in];
    in += stride_z;
    out += stride_z;
    __syncthreads();
    if (lty < R) {
      tile[lty][ltx + R] = input[out - R * stride_y];
      tile[lty + worky + R][ltx + R] = input[out + worky * stride_y];
    }
    if (ltx < R) {
      tile[lty + R][ltx] = input[out - R];
      tile[lty + R][ltx + workx + R] = input[out + workx];
    }
    tile[lty + R][ltx + R] = current;
    __syncthreads();
    float value = coefficients[0] * current;
    for (int i = 1; i <= R; i++) value += coefficients[i] * (infront[i - 1] + behind[i - 1] + tile[lty + R - i][ltx + R] + tile[lty + R + i][ltx + R]);
    if (validw) output[out] = value;
  }
}
template __global__ void finite_difference_3d<4>(float*, const float*, const float*, int, int, int);

// 1D stencil: ghost cells at both ends.
__global__ void stencil_1d(const int* in, int* out, int n) {
  __shared__ int temp[BLOCK_X + 2 * RADIUS];
  int g = threadIdx.x + blockIdx.x * blockDim.x + RADIUS, l = threadIdx.x + RADIUS;
  temp[l] = in[g];
  if (threadIdx.x < RADIUS) {
    temp[l - RADIUS] = in[g - RADIUS];
    temp[l + BLOCK_X] = in[g + BLOCK_X];
  }
  __syncthreads();
  int result = 0;
  for (int o = -RADIUS; o <= RADIUS; o++) result += temp[l + o];
  if (g < n + RADIUS) out[g - RADIUS] = result;
}

// Separable convolution, constant weights.
__constant__ float c_kernel[2 * RADIUS + 1];
__global__ void convolution_columns(float* dst, const float* src, int w, int h, int pitch) {
  __shared__ float s[16][(8 + 2 * 1) * 8 + 1];
  const int x = blockIdx.x * 16 + threadIdx.x, y = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
  src += y * pitch + x;
  dst += y * pitch + x;
#pragma unroll
  for (int i = 1; i < 1 + 8; i++) s[threadIdx.x][threadIdx.y + i * 8] = src[i * 8 * pitch];
  for (int i = 0; i < 1; i++) s[threadIdx.x][threadIdx.y + i * 8] = (y >= -i * 8) ? src[i * 8 * pitch] : 0;
  for (int i = 1 + 8; i < 1 + 8 + 1; i++) s[threadIdx.x][threadIdx.y + i * 8] = (h - y > i * 8) ? src[i * 8 * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = 1; i < 1 + 8; i++) {
    float sum = 0;
    for (int j = -RADIUS; j <= RADIUS; j++) sum += c_kernel[RADIUS - j] * s[threadIdx.x][threadIdx.y + i * 8 + j];
    dst[i * 8 * pitch] = sum;
  }
}

// Box filter with a helper that fills the tile, borders clamped.
__device__ void load_tile(const unsigned char* in, unsigned char (*tile)[BLOCK + 2], int w, int h) {
  for (int y = threadIdx.y; y < BLOCK + 2; y += blockDim.y) {
    for (int x = threadIdx.x; x < BLOCK + 2; x += blockDim.x) {
      int gx = CLAMP((int)(blockIdx.x * BLOCK) + x - 1, 0, w - 1), gy = CLAMP((int)(blockIdx.y * BLOCK) + y - 1, 0, h - 1);
      tile[y][x] = in[gy * w + gx];
    }
  }
  __syncthreads();
}
__global__ void box_filter(const unsigned char* in, unsigned char* out, int w, int h, int rounds) {
  __shared__ unsigned char tile[BLOCK + 2][BLOCK + 2];
  const int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y * BLOCK + threadIdx.y;
  for (int r = 0; r < rounds; ++r) {
    load_tile(in, tile, w, h);
    int sum = 0;
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx) sum += tile[threadIdx.y + dy][threadIdx.x + dx];
    __syncthreads();
    if (x >= w || y >= h) continue;
    out[y * w + x] = sum / 9;
  }
}

// Diffusion that corrects its own error until a whole tile is calm.
__global__ void srad_tile(const float* in, float* out, int w, float q0, float lambda, int limit) {
  __shared__ float t[BLOCK][BLOCK], c[BLOCK][BLOCK];
  const int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y * BLOCK + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  int calm = 0, round = 0;
  do {
    float j = t[threadIdx.y][threadIdx.x];
    float n = threadIdx.y == 0 ? j : t[threadIdx.y - 1][threadIdx.x];
    float s = threadIdx.y == BLOCK - 1 ? j : t[threadIdx.y + 1][threadIdx.x];
    float g = (n - j) * (n - j) + (s - j) * (s - j);
    c[threadIdx.y][threadIdx.x] = 1.0f / (1.0f + g / q0);
    __syncthreads();
    float next = j + lambda * c[threadIdx.y][threadIdx.x] * (n + s - 2 * j);
    calm = __syncthreads_and(fabsf(next - j) < 1e-3f);
    t[threadIdx.y][threadIdx.x] = next;
    __syncthreads();
  } while (!calm && ++round < limit);
  out[y * w + x] = t[threadIdx.y][threadIdx.x];
}
int main() { return 0; }
