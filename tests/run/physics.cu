// Simulations: double n-body, a 3D wave with registers along z, heat on a chip, k-means, a particle filter, an FFT, the N queens, quicksort with an explicit stack, reaction-diffusion with a captured graph.
//@ exercises: sincos, rsqrt, double shared tiles, complex numbers, ping-pong buffers, recursion and explicit stacks, curand uniform, stream capture in a loop, atomicAdd on double, launch bounds
//@ also-flags: -G -rdc=true
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cuComplex.h>
#include <curand_kernel.h>
#include <utility>

__global__ void __launch_bounds__(64) bodies(const double4_16a* p, double3* force, int n) {
  __shared__ double4_16a tile[64];
  double4_16a me = p[blockIdx.x * 64 + threadIdx.x];
  double3 f = make_double3(0, 0, 0);
  for (int start = 0; start < n; start += 64) {
    tile[threadIdx.x] = p[start + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 64; ++j) {
      double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      double inverse = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3);
      double s = tile[j].w * inverse * inverse * inverse;
      f.x += dx * s, f.y += dy * s, f.z += dz * s;
    }
    __syncthreads();
  }
  force[blockIdx.x * 64 + threadIdx.x] = f;
}

template <int Radius> __global__ void wave(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float plane[8 + 2 * Radius][16 + 2 * Radius];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + Radius, ty = threadIdx.y + Radius;
  auto at = [&](int i, int j, int k) { return in[(k * ny + (j + ny) % ny) * nx + (i + nx) % nx]; };
  float behind[Radius], ahead[Radius], here;
  for (int r = 0; r < Radius; ++r) behind[r] = 0, ahead[r] = at(x, y, r + 1);
  here = at(x, y, 0);
  for (int z = 0; z < nz; ++z) {
    plane[ty][tx] = here;
    if (threadIdx.x < Radius) plane[ty][threadIdx.x] = at(x - Radius, y, z), plane[ty][tx + 16] = at(x + 16, y, z);
    if (threadIdx.y < Radius) plane[threadIdx.y][tx] = at(x, y - Radius, z), plane[ty + 8][tx] = at(x, y + 8, z);
    __syncthreads();
    float value = here * 0.5f;
#pragma unroll
    for (int r = 1; r <= Radius; ++r)
      value += (plane[ty][tx - r] + plane[ty][tx + r] + plane[ty - r][tx] + plane[ty + r][tx] + behind[r - 1] + ahead[r - 1]) * (0.0625f / r);
    out[(z * ny + y) * nx + x] = value;
    __syncthreads();
    for (int r = Radius - 1; r > 0; --r) behind[r] = behind[r - 1];
    behind[0] = here;
    here = ahead[0];
    for (int r = 0; r < Radius - 1; ++r) ahead[r] = ahead[r + 1];
    ahead[Radius - 1] = z + Radius + 1 < nz ? at(x, y, z + Radius + 1) : 0;
  }
}

__global__ void assign(const float2* p, int n, const float2* centre, int k, int* cluster, float* sums, int* counts) {
  extern __shared__ float local[];
  for (int i = threadIdx.x; i < 3 * k; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float best = INFINITY;
    int mine = 0;
    for (int c = 0; c < k; ++c) {
      float d = hypotf(p[i].x - centre[c].x, p[i].y - centre[c].y);
      if (d < best) best = d, mine = c;
    }
    cluster[i] = mine;
    atomicAdd(&local[3 * mine], p[i].x);
    atomicAdd(&local[3 * mine + 1], p[i].y);
    atomicAdd(&local[3 * mine + 2], 1.0f);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < k; c += blockDim.x) {
    atomicAdd(&sums[2 * c], local[3 * c]);
    atomicAdd(&sums[2 * c + 1], local[3 * c + 1]);
    atomicAdd(&counts[c], static_cast<int>(local[3 * c + 2]));
  }
}

__global__ void fourier(const cuDoubleComplex* in, cuDoubleComplex* out, int bits) {
  extern __shared__ cuDoubleComplex a[];
  const int n = 1 << bits;
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[__brev(i) >> (32 - bits)] = in[i];
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
      int k = i % half, j = (i / half) * 2 * half + k;
      double s, c;
      sincospi(-static_cast<double>(k) / half, &s, &c);
      cuDoubleComplex t = cuCmul(make_cuDoubleComplex(c, s), a[j + half]), u = a[j];
      a[j] = cuCadd(u, t), a[j + half] = cuCsub(u, t);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = a[i];
}

__device__ int place(int n, int row, unsigned columns, unsigned left, unsigned right) {
  if (row == n) return 1;
  int count = 0;
  for (unsigned free = ~(columns | left | right) & ((1u << n) - 1); free; free &= free - 1) {
    unsigned bit = free & -free;
    count += place(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return count;
}
__global__ void queens(int n, int* total) {
  int i = threadIdx.x;
  if (i < n) atomicAdd(total, place(n, 1, 1u << i, 2u << i, (1u << i) >> 1));
}

__global__ void quicksort(int* data, int n) {
  int* mine = data + threadIdx.x * n;
  int stack[64], top = 0;
  stack[top++] = 0, stack[top++] = n - 1;
  while (top) {
    int high = stack[--top], low = stack[--top];
    while (low < high) {
      int pivot = mine[(low + high) / 2], i = low - 1, j = high + 1;
      for (;;) {
        do ++i; while (mine[i] < pivot);
        do --j; while (mine[j] > pivot);
        if (i >= j) break;
        int t = mine[i];
        mine[i] = mine[j], mine[j] = t;
      }
      if (j - low > high - j) stack[top++] = low, stack[top++] = j, low = j + 1;
      else stack[top++] = j + 1, stack[top++] = high, high = j;
    }
  }
}

__global__ void react(const float2* in, float2* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  auto at = [&](int i, int j) { return in[(j & (n - 1)) * n + (i & (n - 1))]; };
  float2 c = at(x, y), l = at(x - 1, y), r = at(x + 1, y), u = at(x, y - 1), d = at(x, y + 1);
  float uvv = c.x * c.y * c.y;
  out[y * n + x] = make_float2(c.x + 0.16f * (l.x + r.x + u.x + d.x - 4 * c.x) - uvv + 0.035f * (1 - c.x),
                               c.y + 0.08f * (l.y + r.y + u.y + d.y - 4 * c.y) + uvv - 0.1f * c.y);
}

__global__ void filter_step(float2* particles, double* sum, int n, unsigned long long seed, float seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, i, 0, &state);
  float4 r = curand_normal4(&state);
  float x = particles[i].x + 1 + 0.1f * r.x;
  float w = expf(-0.5f * (x - seen) * (x - seen));
  particles[i] = make_float2(x, w);
  atomicAdd(&sum[0], static_cast<double>(w));
  atomicAdd(&sum[1], static_cast<double>(w) * x);
}

int main() {
  const int n = 256;
  std::vector<double4_16a> p(n);
  Lcg random{17};
  for (auto& b : p) b = make_double4_16a(random.next() % 1000 / 1e3, random.next() % 1000 / 1e3, random.next() % 1000 / 1e3, 1);
  Buffer<double4_16a> bodies_in(p);
  Buffer<double3> force(n);
  bodies<<<n / 64, 64>>>(bodies_in, force, n);
  SYNC_OK();
  double3 total = make_double3(0, 0, 0);
  for (double3 f : force.get()) total.x += f.x, total.y += f.y, total.z += f.z;
  std::printf("momentum %s\n", std::fabs(total.x) + std::fabs(total.y) + std::fabs(total.z) < 1e-6 ? "kept" : "lost");

  const int nx = 32, ny = 16, nz = 12;
  std::vector<float> field(nx * ny * nz);
  for (auto& f : field) f = random.next() % 64 / 8.0f;
  Buffer<float> now(field), next(field);
  for (int step = 0; step < 2; ++step) wave<2><<<dim3(nx / 16, ny / 8), dim3(16, 8)>>>(step ? next : now, step ? now : next, nx, ny, nz);
  SYNC_OK();
  std::printf("wave %016llx\n", (unsigned long long)digest(now.get()));

  std::vector<float2> points(1000), centres{{0, 0}, {5, 5}, {9, 0}};
  for (auto& q : points) {
    int c = random.next() % 3;
    q = make_float2((c == 1 ? 10 : c == 2 ? 20 : 0) + random.next() % 100 / 64.0f, (c == 1 ? 10 : 0) + random.next() % 100 / 64.0f);
  }
  Buffer<float2> dp(points), dc(centres);
  Buffer<int> cluster(1000), counts(3);
  Buffer<float> sums(6);
  for (int round = 0; round < 6; ++round) {
    sums.clear(), counts.clear();
    assign<<<4, 64, 9 * sizeof(float)>>>(dp, 1000, dc, 3, cluster, sums, counts);
    auto s = sums.get();
    auto c = counts.get();
    for (int k = 0; k < 3; ++k)
      if (c[k]) centres[k] = make_float2(s[2 * k] / c[k], s[2 * k + 1] / c[k]);
    dc.put(centres);
  }
  auto c = counts.get();
  std::sort(c.begin(), c.end());
  std::printf("clusters %d %d %d\n", c[0], c[1], c[2]);

  const int bits = 9;
  std::vector<cuDoubleComplex> signal(1 << bits);
  for (int i = 0; i < 1 << bits; ++i) signal[i] = make_cuDoubleComplex(std::cos(2 * M_PI * 37 * i / 512) + 0.5 * std::sin(2 * M_PI * 100 * i / 512), 0);
  Buffer<cuDoubleComplex> time(signal), spectrum(1 << bits);
  fourier<<<1, 128, sizeof(cuDoubleComplex) << bits>>>(time, spectrum, bits);
  SYNC_OK();
  auto s = spectrum.get();
  std::printf("spectrum %.3f %.3f %.3f\n", cuCabs(s[37]), cuCabs(s[100]), cuCabs(s[5]));

  Buffer<int> solutions(1);
  queens<<<1, 32>>>(8, solutions);
  SYNC_OK();
  std::printf("queens %d\n", solutions.get()[0]);
  std::vector<int> numbers(32 * 100);
  for (int& v : numbers) v = random.next() % 1000;
  Buffer<int> arrays(numbers);
  quicksort<<<1, 32>>>(arrays, 100);
  SYNC_OK();
  for (int t = 0; t < 32; ++t) std::sort(numbers.begin() + t * 100, numbers.begin() + t * 100 + 100);
  std::printf("quicksort %s\n", arrays.get() == numbers ? "ok" : "wrong");

  const int side = 64;
  std::vector<float2> start(side * side, make_float2(1, 0));
  for (int y = 28; y < 36; ++y)
    for (int x = 28; x < 36; ++x) start[y * side + x] = make_float2(0.5f, 0.25f);
  Buffer<float2> u(start), v(start);
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int step = 0; step < 10; ++step) {
    react<<<dim3(4, 8), dim3(16, 8), 0, stream>>>(step % 2 ? v : u, step % 2 ? u : v, side);
  }
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 4; ++round) CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  auto image = u.get();
  std::printf("reaction %.4f %.4f\n", image[32 * side + 32].x, image[32 * side + 32].y);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));

  Buffer<float2> particles(512);
  Buffer<double> weights(2);
  double estimate = 0;
  for (int step = 1; step <= 10; ++step) {
    weights.clear();
    filter_step<<<4, 128>>>(particles, weights, 512, step, static_cast<float>(step));
    estimate = weights.get()[1] / weights.get()[0];
  }
  std::printf("filter %s\n", std::fabs(estimate - 10) < 0.2 ? "follows" : "lost");
}
