// Programs with regular accesses: grids, matrices, images, transforms, ciphers, and the functions of the
// mathematical library.
#include "kinds.h"

#include <cuda_fp16.h>

namespace {

// --- Grids

__global__ void heat_block(float* out, const float* in, int n) { // four steps in shared memory, 16 by 16
  __shared__ float now[18][18];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, x = blockIdx.x % 32 * 16 + tx, y = blockIdx.x / 32 * 16 + ty;
  const int rows = n / 512;
  const auto at = [&](int c, int r) { return in[min(max(r, 0), rows - 1) * 512 + min(max(c, 0), 511)]; };
  now[ty + 1][tx + 1] = at(x, y);
  if (tx == 0) now[ty + 1][0] = at(x - 1, y);
  if (tx == 15) now[ty + 1][17] = at(x + 1, y);
  if (ty == 0) now[0][tx + 1] = at(x, y - 1);
  if (ty == 15) now[17][tx + 1] = at(x, y + 1);
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    const float next = now[ty + 1][tx + 1] + 0.1f * (now[ty][tx + 1] + now[ty + 2][tx + 1] + now[ty + 1][tx] +
                                                      now[ty + 1][tx + 2] - 4 * now[ty + 1][tx + 1]);
    __syncthreads();
    now[ty + 1][tx + 1] = next;
    __syncthreads();
  }
  out[y * 512 + x] = now[ty + 1][tx + 1];
}

__global__ void volume(float* out, const float* in, int n) { // 3D, a column of 32 for each thread, registers queue
  const int x = threadIdx.x % 32 + blockIdx.x % 2 * 32, y = threadIdx.x / 32 + blockIdx.x / 2 % 8 * 8;
  const int part = blockIdx.x / 16 * 64 * 64 * 32;
  if (x == 0 || y == 0 || x == 63 || y == 63) return;
  float below = in[part + y * 64 + x], here = in[part + 4096 + y * 64 + x];
  for (int z = 1; z < 31; ++z) {
    const int i = part + z * 4096 + y * 64 + x;
    const float above = in[i + 4096];
    out[i] = 0.5f * here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - 64] + in[i + 64]);
    below = here;
    here = above;
  }
}

__global__ void boltzmann(float* out, const float* in, int n) { // D2Q9, one collision
  const int cells = n / 9, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  float f[9], density = 0, ux = 0, uy = 0;
  for (int k = 0; k < 9; ++k) {
    f[k] = in[k * cells + (i + ex[k] + ey[k] * 256 + cells) % cells];
    density += f[k];
    ux += ex[k] * f[k];
    uy += ey[k] * f[k];
  }
  ux /= density, uy /= density;
  for (int k = 0; k < 9; ++k) {
    const float w = k == 0 ? 4 / 9.0f : k < 5 ? 1 / 9.0f : 1 / 36.0f, eu = ex[k] * ux + ey[k] * uy;
    out[k * cells + i] = f[k] - 0.6f * (f[k] - w * density * (1 + 3 * eu + 4.5f * eu * eu - 1.5f * (ux * ux + uy * uy)));
  }
}

__global__ void jacobi_step(float* next, const float* x, const float* b, unsigned long long* residual, int n) {
  __shared__ unsigned long long sums[threads];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 ? x[i - 1] : 0, right = i < n - 1 ? x[i + 1] : 0;
  next[i] = 0.25f * (b[i] + left + right);
  sums[threadIdx.x] = fabsf(next[i] - x[i]) * 1e6f;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(residual, sums[0]);
}
void jacobi(float* out, float* in, int n) {
  float* other;
  unsigned long long* residual;
  cudaMalloc(&other, n * 4);
  cudaMemset(other, 0, n * 4);
  cudaMalloc(&residual, 8);
  for (int round = 0; round < 6; ++round) {
    unsigned long long host = 0;
    cudaMemset(residual, 0, 8);
    jacobi_step<<<n / threads, threads>>>(round % 2 == 0 ? out : other, round % 2 == 0 ? other : out, in, residual, n);
    cudaMemcpy(&host, residual, 8, cudaMemcpyDeviceToHost);
    if (host == 0) break;
  }
  cudaMemcpy(out, other, n * 4, cudaMemcpyDeviceToDevice);
}

__global__ void life(uint8_t* out, const uint8_t* in, int n) {
  const int width = 1024, rows = n / width, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int x = i % width, y = i / width;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) alive += in[(y + dy + rows) % rows * width + (x + dx + width) % width] & 1;
  out[i] = alive == 3 || (alive == 2 && (in[i] & 1));
}

__global__ void pathfinder(int* out, const float* in, int n) { // rows of 256 columns, ghost cells
  __shared__ int row[threads];
  const int t = threadIdx.x, column = blockIdx.x * 192 + t - 32;
  const int columns = gridDim.x * 192;
  int best = 0;
  for (int step = 0; step < 30; ++step) {
    row[t] = best;
    __syncthreads();
    if (t > step && t < threads - 1 - step && column >= 0 && column < columns) {
      best = min(row[t], min(row[t - 1], row[t + 1])) + static_cast<int>(in[(step * columns + column) % n] * 10);
    }
    __syncthreads();
  }
  if (t >= 32 && t < 224) out[column] = best;
}

__global__ void align_block(int* out, const float* in, int n) { // Needleman-Wunsch, 64 by 64, by diagonals
  __shared__ int score[65][65];
  const int t = threadIdx.x, base = blockIdx.x * 64;
  score[0][t + 1] = -(t + 1);
  score[t + 1][0] = -(t + 1);
  if (t == 0) score[0][0] = 0;
  __syncthreads();
  for (int d = 0; d < 127; ++d) {
    const int row = t + 1, column = d - t + 1;
    if (column >= 1 && column <= 64) {
      const bool same = static_cast<int>(in[(base + row) % n] * 4) == static_cast<int>(in[(base + column * 7) % n] * 4);
      score[row][column] = max(score[row - 1][column - 1] + (same ? 2 : -1), max(score[row - 1][column], score[row][column - 1]) - 1);
    }
    __syncthreads();
  }
  out[base + t] = score[t + 1][64];
}

// --- Matrices

__global__ void product_double(double* c, const double* a, const double* b, int n) {
  __shared__ double as[16][16], bs[16][16];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  double sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += as[ty][j] * bs[j][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void product_simple(float* c, const float* a, int n) { // no tiles
  const int row = blockIdx.x * blockDim.x / n, column = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * a[k * n + column];
  c[row * n + column] = sum;
}
__global__ void product_half(__half2* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 sum = __float2half2_rn(0);
  for (int k = 0; k < 64; ++k) {
    sum = __hfma2(__floats2half2_rn(in[(i + k) % n], in[(i * 3 + k) % n]), __float2half2_rn(0.25f), sum);
  }
  out[i] = sum;
}
__global__ void lu_blocks(float* out, const float* in, int) { // 16 by 16 each
  __shared__ float m[16][17];
  const int r = threadIdx.x / 16, c = threadIdx.x % 16;
  m[r][c] = in[blockIdx.x * threads + threadIdx.x] + (r == c ? 16 : 0);
  __syncthreads();
  for (int k = 0; k < 15; ++k) {
    if (r > k && c == k) m[r][k] /= m[k][k];
    __syncthreads();
    if (r > k && c > k) m[r][c] -= m[r][k] * m[k][c];
    __syncthreads();
  }
  out[blockIdx.x * threads + threadIdx.x] = m[r][c];
}
__global__ void gauss_row(float* m, int k, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / size, column = i % size;
  if (row <= k || column <= k) return;
  m[i] -= m[row * size + k] / m[k * size + k] * m[k * size + column];
}
void gauss(float* out, float* in, int n) {
  const int size = 128;
  cudaMemcpy(out, in, size * size * 4, cudaMemcpyDeviceToDevice);
  for (int k = 0; k < size - 1; ++k) gauss_row<<<size * size / threads, threads>>>(out, k, size);
}

// --- Images

__constant__ float weights[25];
__global__ void convolution(float* out, const float* in, int n) {
  const int width = 512, rows = n / width, i = blockIdx.x * blockDim.x + threadIdx.x, x = i % width, y = i / width;
  float sum = 0;
  for (int r = -2; r <= 2; ++r)
    for (int c = -2; c <= 2; ++c) {
      if (x + c >= 0 && x + c < width && y + r >= 0 && y + r < rows) sum += weights[(r + 2) * 5 + c + 2] * in[i + r * width + c];
    }
  out[i] = sum;
}
void convolve(float* out, float* in, int n) {
  float host[25];
  for (int k = 0; k < 25; ++k) host[k] = k * 0.01f;
  cudaMemcpyToSymbol(weights, host, sizeof host);
  convolution<<<n / threads, threads>>>(out, in, n);
}
__global__ void median(float* out, const float* in, int n) {
  const int width = 512, rows = n / width, i = blockIdx.x * blockDim.x + threadIdx.x, x = i % width, y = i / width;
  if (x == 0 || y == 0 || x == width - 1 || y == rows - 1) return;
  float v[9];
  for (int k = 0; k < 9; ++k) v[k] = in[i + (k / 3 - 1) * width + k % 3 - 1];
  for (int a = 0; a < 5; ++a)
    for (int b = a + 1; b < 9; ++b) {
      const float low = fminf(v[a], v[b]);
      v[b] = fmaxf(v[a], v[b]);
      v[a] = low;
    }
  out[i] = v[4];
}
__global__ void sobel(uint8_t* out, const uint8_t* in, int n) {
  const int width = 1024, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width + 1 || i >= n - width - 1) return;
  const int gx = in[i - width + 1] + 2 * in[i + 1] + in[i + width + 1] - in[i - width - 1] - 2 * in[i - 1] - in[i + width - 1];
  const int gy = in[i + width - 1] + 2 * in[i + width] + in[i + width + 1] - in[i - width - 1] - 2 * in[i - width] - in[i - width + 1];
  out[i] = min(255, static_cast<int>(sqrtf(static_cast<float>(gx * gx + gy * gy))));
}
__global__ void bilateral(float* out, const float* in, int n) {
  const int width = 512, i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, total = 0;
  for (int r = -2; r <= 2; ++r)
    for (int c = -2; c <= 2; ++c) {
      const float v = in[(i + r * width + c + n) % n], d = v - in[i];
      const float w = expf(-(r * r + c * c) * 0.2f - d * d * 10);
      sum += w * v;
      total += w;
    }
  out[i] = sum / total;
}
__global__ void cosines(float* out, const float* in, int) { // DCT of 8 by 8
  __shared__ float block[4][8][9], half[4][8][9];
  const int which = threadIdx.x / 64, r = threadIdx.x / 8 % 8, c = threadIdx.x % 8;
  block[which][r][c] = in[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += block[which][r][k] * cosf((2 * k + 1) * c * 0.19634954f);
  half[which][r][c] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += half[which][k][c] * cosf((2 * k + 1) * r * 0.19634954f);
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

// --- Transforms

__global__ void fourier(float2* out, const float2* in, int) { // 512 each, radix 2, in shared memory
  __shared__ float2 s[512];
  const int t = threadIdx.x;
  for (int k = t; k < 512; k += threads) s[__brev(k) >> 23] = in[blockIdx.x * 512 + k];
  __syncthreads();
  for (int half = 1; half < 512; half *= 2) {
    const int j = t % half, at = t / half * 2 * half + j;
    float sine, cosine;
    sincosf(-3.14159265f * j / half, &sine, &cosine);
    const float2 a = s[at], b = s[at + half];
    const float2 w = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
    s[at] = {a.x + w.x, a.y + w.y};
    s[at + half] = {a.x - w.x, a.y - w.y};
    __syncthreads();
  }
  for (int k = t; k < 512; k += threads) out[blockIdx.x * 512 + k] = s[k];
}
__global__ void walsh(float* out, const float* in, int) {
  __shared__ float s[2 * threads];
  const int t = threadIdx.x, base = blockIdx.x * 2 * threads;
  s[t] = in[base + t];
  s[t + threads] = in[base + t + threads];
  for (int half = threads; half > 0; half /= 2) {
    __syncthreads();
    const int at = t / half * 2 * half + t % half;
    const float a = s[at], b = s[at + half];
    s[at] = a + b;
    s[at + half] = a - b;
  }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + threads] = s[t + threads];
}

// --- Ciphers

__device__ uint32_t turn(uint32_t v, int by) { return __funnelshift_l(v, v, by); }
__global__ void md5(uint32_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t m[16], a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  for (int k = 0; k < 16; ++k) m[k] = __float_as_uint(in[(i + k) % n]);
  for (int k = 0; k < 64; ++k) {
    const int round = k / 16;
    const uint32_t f = round == 0 ? (b & c) | (~b & d) : round == 1 ? (d & b) | (~d & c) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
    const int g = round == 0 ? k : round == 1 ? (5 * k + 1) % 16 : round == 2 ? (3 * k + 5) % 16 : 7 * k % 16;
    const uint32_t next = b + turn(a + f + m[g] + 0x9e3779b9u * (k + 1), 7 + k % 4 * 5);
    a = d, d = c, c = b, b = next;
  }
  out[i] = a ^ b ^ c ^ d;
}
__global__ void sha(uint32_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t w[16], h[8];
  for (int k = 0; k < 16; ++k) w[k] = __float_as_uint(in[(i + k) % n]);
  for (int k = 0; k < 8; ++k) h[k] = 0x6a09e667u * (k + 1);
#pragma unroll 16
  for (int k = 0; k < 64; ++k) {
    const uint32_t s1 = turn(h[4], 26) ^ turn(h[4], 21) ^ turn(h[4], 7), choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
    const uint32_t one = h[7] + s1 + choice + 0x428a2f98u * (k | 1) + w[k % 16];
    const uint32_t s0 = turn(h[0], 30) ^ turn(h[0], 19) ^ turn(h[0], 10), most = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
    for (int j = 7; j > 0; --j) h[j] = h[j - 1];
    h[4] += one;
    h[0] = one + s0 + most;
    w[k % 16] += turn(w[(k + 1) % 16], 25) + w[(k + 9) % 16] + turn(w[(k + 14) % 16], 15);
  }
  out[i] = h[0] ^ h[3] ^ h[7];
}
__global__ void substitution(uint32_t* out, const float* in, int n) { // a table in shared memory
  __shared__ uint32_t table[256];
  table[threadIdx.x] = threadIdx.x * 2654435761u;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t a = __float_as_uint(in[i]), b = i;
  for (int round = 0; round < 14; ++round) {
    const uint32_t next = table[a & 255] ^ table[b >> 8 & 255] ^ table[a >> 16 & 255] ^ table[b >> 24];
    a = b;
    b = next ^ round;
  }
  out[i] = a ^ b;
}
__global__ void crc(uint32_t* out, const uint8_t* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t c = ~0u;
  for (int k = 0; k < 8; ++k) {
    c ^= in[(i * 4 + k) % (n * 4)];
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
  }
  out[i] = c;
}

// --- Functions

__global__ void functions(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i] * 4 + 0.1f;
  out[i] = sinf(x) + cosf(x) + tanf(x) + powf(x, 1.3f) + atan2f(x, 2) + erff(x) + lgammaf(x) + cbrtf(x) + tanhf(x) + log1pf(x);
}
__global__ void quick_functions(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i] + 0.1f;
  for (int k = 0; k < 8; ++k) x = __fdividef(__sinf(x) + 1.5f, __expf(x) + __logf(x + 2)) + rsqrtf(x + 0.1f) + exp2f(-x);
  out[i] = x;
}
__global__ void double_functions(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double x = in[i] * 3 + 0.2;
  out[i] = static_cast<float>(exp(-x) + log(x) + sin(x) + sqrt(x) + pow(x, 0.7) + atan(x) + 1 / x);
}
__global__ void binomial(float* out, const float* in, int n) { // a block for each option, in shared memory
  __shared__ float value[threads];
  const int t = threadIdx.x;
  const float s = 5 + 25 * in[blockIdx.x], v = 0.1f;
  value[t] = fmaxf(s * expf(v * (2 * t - 255) * 0.0625f) - 20, 0.0f);
  fold_tree(value);
  if (t == 0) out[blockIdx.x] = value[0];
}
__global__ void diffusion(float* out, const float* in, int n) { // SRAD
  const int width = 512, i = blockIdx.x * blockDim.x + threadIdx.x, x = i % width, y = i / width, rows = n / width;
  const float c = in[i] + 0.1f;
  const float north = in[y > 0 ? i - width : i] - c, south = in[y < rows - 1 ? i + width : i] - c;
  const float west = in[x > 0 ? i - 1 : i] - c, east = in[x < width - 1 ? i + 1 : i] - c;
  const float g2 = (north * north + south * south + west * west + east * east) / (c * c), l = (north + south + west + east) / c;
  const float num = 0.5f * g2 - 0.0625f * l * l, den = 1 + 0.25f * l, q = num / (den * den);
  const float k = 1 / (1 + (q - 0.05f) / (0.05f * 1.05f));
  out[i] = k < 0 ? 0 : k > 1 ? 1 : k;
}
__global__ void molecules(float4* out, const float* in, int n) { // pairs within a distance
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float fx = 0, fy = 0, energy = 0;
  for (int k = 1; k <= 48; ++k) {
    const int j = (i + k * 31) % n;
    const float x = in[i] - in[j], y = in[(i + 1) % n] - in[(j + 1) % n], r2 = x * x + y * y + 1e-3f;
    if (r2 < 0.2f) {
      const float inverse = 1 / r2, six = inverse * inverse * inverse * 1e-6f;
      fx += x * six * (six - 0.5f);
      fy += y * six * (six - 0.5f);
      energy += expf(-r2);
    }
  }
  out[i] = {fx, fy, energy, 0};
}
__global__ void fractal_double(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double cx = (i % 256) / 128.0 - 1.5, cy = (i / 256) / 64.0 - 1;
  double x = 0, y = 0;
  int round = 0;
  for (; round < 96 && x * x + y * y < 4; ++round) {
    const double next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  out[i] = round;
}

template <auto kernel> void over(float* out, float* in, int n) { kernel<<<n / threads, threads>>>(out, in, n); }
template <auto kernel> void words(float* out, float* in, int n) {
  kernel<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), in, n);
}
template <auto kernel> void of_bytes(float* out, float* in, int n) { // n words are 4 n bytes
  kernel<<<4 * n / threads, threads>>>(reinterpret_cast<uint8_t*>(out), reinterpret_cast<uint8_t*>(in), 4 * n);
}

const Kind kinds[] = {
    {"heat_block", 1 << 18, over<heat_block>},
    {"volume", 1 << 20, [](float* out, float* in, int n) { volume<<<n / 131072 * 16, threads>>>(out, in, n); }},
    {"boltzmann", 9 << 15, [](float* out, float* in, int n) { boltzmann<<<n / 9 / threads, threads>>>(out, in, n); }},
    {"jacobi", 1 << 17, jacobi},
    {"life", 1 << 17, of_bytes<life>},
    {"pathfinder", 192 << 9, [](float* out, float* in, int n) {
       pathfinder<<<n / 192, threads>>>(reinterpret_cast<int*>(out), in, n);
     }},
    {"align_block", 1 << 14, [](float* out, float* in, int n) {
       align_block<<<n / 64, 64>>>(reinterpret_cast<int*>(out), in, n);
     }},
    {"product_double", 1 << 17, [](float* out, float* in, int) {
       const auto* m = reinterpret_cast<const double*>(in);
       product_double<<<dim3(16, 16), threads>>>(reinterpret_cast<double*>(out), m, m, 256);
     }},
    {"product_simple", 1 << 16, [](float* out, float* in, int n) { product_simple<<<n / threads, threads>>>(out, in, 256); }},
    {"product_half", 1 << 16, [](float* out, float* in, int n) {
       product_half<<<n / threads, threads>>>(reinterpret_cast<__half2*>(out), in, n);
     }},
    {"lu_blocks", 1 << 18, over<lu_blocks>},
    {"gauss", 1 << 14, gauss},
    {"convolution", 1 << 18, convolve},
    {"median", 1 << 18, over<median>},
    {"sobel", 1 << 18, of_bytes<sobel>},
    {"bilateral", 1 << 16, over<bilateral>},
    {"cosines", 1 << 17, over<cosines>},
    {"fourier", 1 << 18, [](float* out, float* in, int n) {
       fourier<<<n / 1024, threads>>>(reinterpret_cast<float2*>(out), reinterpret_cast<float2*>(in), n);
     }},
    {"walsh", 1 << 19, [](float* out, float* in, int n) { walsh<<<n / 512, threads>>>(out, in, n); }},
    {"md5", 1 << 16, words<md5>},
    {"sha", 1 << 15, words<sha>},
    {"substitution", 1 << 18, words<substitution>},
    {"crc", 1 << 17, [](float* out, float* in, int n) {
       crc<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), reinterpret_cast<uint8_t*>(in), n);
     }},
    {"functions", 1 << 16, over<functions>},
    {"quick_functions", 1 << 18, over<quick_functions>},
    {"double_functions", 1 << 16, over<double_functions>},
    {"binomial", 512, [](float* out, float* in, int n) { binomial<<<n, threads>>>(out, in, n); }},
    {"diffusion", 1 << 19, over<diffusion>},
    {"molecules", 1 << 18, [](float* out, float* in, int n) {
       molecules<<<n / 4 / threads, threads>>>(reinterpret_cast<float4*>(out), in, n);
     }},
    {"fractal_double", 1 << 16, [](float* out, float*, int n) { fractal_double<<<n / threads, threads>>>(out, n); }},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
