// Kernels of the kinds that benchmark collections have.
#include "kinds.h"

namespace {

__global__ void mandelbrot(float* out, const float*, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float cx = (i % 512) / 256.0f - 1.5f, cy = (i / 512) / 256.0f - 1.0f;
  float x = 0, y = 0;
  int round = 0;
  while (round < 64 && x * x + y * y < 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++round;
  }
  if (i < n) out[i] = round;
}

__global__ void black_scholes(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = 5 + 25 * in[i], x = 1 + 99 * in[(i + 7) % n], t = 0.25f + 9 * in[(i + 13) % n];
  const float root = sqrtf(t), d1 = (logf(s / x) + (0.02f + 0.045f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
  const auto phi = [](float d) {
    const float k = 1 / (1 + 0.2316419f * fabsf(d));
    const float c = 0.39894228f * expf(-0.5f * d * d) * k * (0.31938153f + k * (-0.356563782f + k * 1.781477937f));
    return d > 0 ? 1 - c : c;
  };
  out[i] = s * phi(d1) - x * expf(-0.02f * t) * phi(d2);
}

__global__ void histogram(float* out, const float* in, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[static_cast<unsigned>(in[i] * 255) & 255], 1U);
  }
  __syncthreads();
  atomicAdd(reinterpret_cast<unsigned*>(out) + threadIdx.x, bins[threadIdx.x]);
}

__global__ void softmax(float* out, const float* in, int n) { // a warp for each row of 256
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row * 256 >= n) return;
  float most = -1e30f, sum = 0;
  for (int k = lane; k < 256; k += 32) most = fmaxf(most, in[row * 256 + k]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, d));
  for (int k = lane; k < 256; k += 32) sum += expf(in[row * 256 + k] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0U, sum, d);
  for (int k = lane; k < 256; k += 32) out[row * 256 + k] = expf(in[row * 256 + k] - most) / sum;
}

__global__ void transpose(float* out, const float* in, int n) { // of 1024 columns
  __shared__ float tile[32][33];
  const int x = blockIdx.x % 32 * 32, y = blockIdx.x / 32 * 32, rows = n / 1024;
  for (int k = threadIdx.x / 32; k < 32; k += 8) tile[k][threadIdx.x % 32] = in[(y + k) * 1024 + x + threadIdx.x % 32];
  __syncthreads();
  for (int k = threadIdx.x / 32; k < 32; k += 8) out[(x + k) * rows + y + threadIdx.x % 32] = tile[threadIdx.x % 32][k];
}

__global__ void stencil(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % 1024, y = i / 1024, rows = n / 1024;
  if (x == 0 || y == 0 || x == 1023 || y >= rows - 1) return;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - 1024] + in[i + 1024]);
}

__global__ void sparse(float* out, const float* in, int n) { // rows of different lengths
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int k = 0, count = row % 37; k < count; ++k) sum += in[(row * 17 + k * k * 31) % n] * 0.5f;
  out[row] = sum;
}

__global__ void cipher(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t a = __float_as_uint(in[i]), b = i, sum = 0;
  for (int round = 0; round < 32; ++round) {
    a += ((b << 4 ^ b >> 5) + b) ^ (sum + 0x1234u * (sum & 3));
    sum += 0x9e3779b9u;
    b += ((a << 4 ^ a >> 5) + a) ^ (sum + 0x4321u * (sum >> 11 & 3));
  }
  out[i] = __uint_as_float((a ^ b) & 0x3fffffff);
}

__global__ void monte_carlo(float* out, const float*, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t state = i * 747796405u + 1;
  int inside = 0;
  for (int k = 0; k < 32; ++k) {
    float xy[2];
    for (float& v : xy) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      v = (state >> 8) * (1.0f / 16777216);
    }
    if (xy[0] * xy[0] + xy[1] * xy[1] < 1) ++inside;
  }
  out[i] = inside;
}

__global__ void sort_block(float* out, const float* in, int) { // bitonic, 256 of them
  __shared__ float s[threads];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * threads + t];
  __syncthreads();
  for (int k = 2; k <= threads; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t && ((t & k) == 0) == (s[t] > s[other])) {
        const float swap = s[t];
        s[t] = s[other];
        s[other] = swap;
      }
      __syncthreads();
    }
  }
  out[blockIdx.x * threads + t] = s[t];
}

__global__ void scan_block(float* out, const float* in, int) {
  __shared__ float sums[8];
  const int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = in[i];
  for (int d = 1; d < 32; d *= 2) {
    const float below = __shfl_up_sync(~0U, v, d);
    if (lane >= d) v += below;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0 && lane < 8) {
    float s = sums[lane];
    for (int d = 1; d < 8; d *= 2) {
      const float below = __shfl_up_sync(0xffU, s, d);
      if (lane >= d) s += below;
    }
    sums[lane] = s;
  }
  __syncthreads();
  out[i] = v + (warp > 0 ? sums[warp - 1] : 0);
}

__global__ void doubles(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i], sum = 0;
  for (int k = 1; k <= 24; ++k) {
    sum += x / k;
    x = x * in[(i + k) % n] - 0.125;
  }
  out[i] = static_cast<float>(sum + sqrt(fabs(x)));
}

template <auto kernel, int per_thread = 1> void over(float* out, float* in, int n) {
  kernel<<<n / threads / per_thread, threads>>>(out, in, n);
}

const Kind kinds[] = {
    {"mandelbrot", 1 << 18, over<mandelbrot>},       {"black_scholes", 1 << 18, over<black_scholes>},
    {"histogram", 1 << 20, over<histogram, 16>},     {"softmax", 1 << 20, over<softmax, 8>},
    {"transpose", 1 << 20, over<transpose, 4>},      {"stencil", 1 << 20, over<stencil>},
    {"sparse", 1 << 18, over<sparse>},               {"cipher", 1 << 18, over<cipher>},
    {"monte_carlo", 1 << 17, over<monte_carlo>},     {"sort_block", 1 << 19, over<sort_block>},
    {"scan_block", 1 << 20, over<scan_block>},       {"doubles", 1 << 17, over<doubles>},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
