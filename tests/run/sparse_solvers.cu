// Sparse and dense linear algebra: CSR and ELL products, conjugate gradients in one cooperative kernel, LU without and with pivots, Jacobi and Gauss-Seidel sweeps.
//@ exercises: cooperative launch with grid.sync in a loop, warp per row products, double atomics, __shfl reductions, triangular solves, dynamic shared memory
//@ also-flags: -G -rdc=true
#include "support.h"

#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

struct Csr {
  int rows;
  const int *start, *column;
  const double* value;
};

__global__ void product_scalar(Csr a, const double* x, double* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= a.rows) return;
  double sum = 0;
  for (int k = a.start[row]; k < a.start[row + 1]; ++k) sum += a.value[k] * x[a.column[k]];
  y[row] = sum;
}

__global__ void product_vector(Csr a, const double* x, double* y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= a.rows) return;
  double sum = 0;
  for (int k = a.start[row] + warp.thread_rank(); k < a.start[row + 1]; k += 32) sum += a.value[k] * x[a.column[k]];
  sum = cg::reduce(warp, sum, cg::plus<double>());
  if (warp.thread_rank() == 0) y[row] = sum;
}

__device__ void dot(const double* a, const double* b, int n, double* result, cg::grid_group& grid) {
  __shared__ double partial[32];
  double sum = 0;
  for (unsigned i = grid.thread_rank(); i < static_cast<unsigned>(n); i += grid.size()) sum += a[i] * b[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += partial[w];
    atomicAdd(result, sum);
  }
}

__global__ void conjugate_gradients(Csr a, double* x, double* r, double* p, double* ap, double* dots, int* steps) {
  cg::grid_group grid = cg::this_grid();
  const int n = a.rows, me = grid.thread_rank(), all = grid.size();
  dot(r, r, n, &dots[0], grid);
  grid.sync();
  double old = dots[0];
  int k = 0;
  for (; k < 200 && old > 1e-18; ++k) {
    for (int i = me; i < n; i += all) {
      double sum = 0;
      for (int j = a.start[i]; j < a.start[i + 1]; ++j) sum += a.value[j] * p[a.column[j]];
      ap[i] = sum;
    }
    if (me == 0) dots[1] = dots[2] = 0;
    grid.sync();
    dot(p, ap, n, &dots[1], grid);
    grid.sync();
    double alpha = old / dots[1];
    for (int i = me; i < n; i += all) x[i] += alpha * p[i], r[i] -= alpha * ap[i];
    grid.sync();
    dot(r, r, n, &dots[2], grid);
    grid.sync();
    double now = dots[2], beta = now / old;
    for (int i = me; i < n; i += all) p[i] = r[i] + beta * p[i];
    old = now;
    grid.sync();
  }
  if (me == 0) *steps = k;
}

// LU of one matrix per block, in shared memory, with partial pivoting.
__global__ void factorise(const float* matrices, float* solutions, const float* right, int n) {
  extern __shared__ float a[];
  float* b = a + n * n;
  __shared__ int pivot;
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) a[i] = matrices[blockIdx.x * n * n + i];
  for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = right[blockIdx.x * n + i];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) {
      pivot = k;
      for (int i = k + 1; i < n; ++i)
        if (fabsf(a[i * n + k]) > fabsf(a[pivot * n + k])) pivot = i;
    }
    __syncthreads();
    if (pivot != k) {
      for (int j = threadIdx.x; j < n; j += blockDim.x) {
        float t = a[k * n + j];
        a[k * n + j] = a[pivot * n + j];
        a[pivot * n + j] = t;
      }
      if (threadIdx.x == 0) {
        float t = b[k];
        b[k] = b[pivot];
        b[pivot] = t;
      }
    }
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
      float f = a[i * n + k] / a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
    __syncthreads();
  }
  for (int k = n - 1; k >= 0; --k) {
    if (threadIdx.x == 0) b[k] /= a[k * n + k];
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += blockDim.x) b[i] -= a[i * n + k] * b[k];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) solutions[blockIdx.x * n + i] = b[i];
}

__global__ void red_black(double* grid, const double* f, int n, int colour) {
  int i = blockIdx.y * blockDim.y + threadIdx.y + 1, j = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i < n - 1 && j < n - 1 && (i + j) % 2 == colour)
    grid[i * n + j] = 0.25 * (grid[(i - 1) * n + j] + grid[(i + 1) * n + j] + grid[i * n + j - 1] + grid[i * n + j + 1] - f[i * n + j]);
}

int main() {
  // The five-point matrix on a square.
  const int side = 24, n = side * side;
  std::vector<int> start{0}, column;
  std::vector<double> value, x(n), ones(n, 1.0);
  for (int i = 0; i < n; ++i) {
    auto put = [&](int j, double v) { column.push_back(j), value.push_back(v); };
    if (i >= side) put(i - side, -1);
    if (i % side) put(i - 1, -1);
    put(i, 4);
    if (i % side != side - 1) put(i + 1, -1);
    if (i + side < n) put(i + side, -1);
    start.push_back(static_cast<int>(column.size()));
    x[i] = i % 7 - 3;
  }
  Buffer<int> s(start), c(column);
  Buffer<double> v(value), dx(x), y(n), y2(n);
  Csr a{n, s, c, v};
  product_scalar<<<(n + 127) / 128, 128>>>(a, dx, y);
  product_vector<<<(n * 32 + 127) / 128, 128>>>(a, dx, y2);
  SYNC_OK();
  std::printf("products %s, %g\n", y.get() == y2.get() ? "agree" : "differ", y.get()[100]);

  Buffer<double> solution(n), r(ones), p(ones), ap(n), dots(3);
  Buffer<int> steps(1);
  double *px = solution, *pr = r, *pp = p, *pap = ap, *pd = dots;
  int* ps = steps;
  void* arguments[] = {&a, &px, &pr, &pp, &pap, &pd, &ps};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(conjugate_gradients), dim3(4), dim3(128), arguments, 0, nullptr));
  SYNC_OK();
  product_scalar<<<(n + 127) / 128, 128>>>(a, solution, y);
  SYNC_OK();
  double worst = 0;
  for (double d : y.get()) worst = std::fmax(worst, std::fabs(d - 1));
  std::printf("conjugate gradients %s after %s steps\n", worst < 1e-7 ? "converged" : "failed", steps.get()[0] < 100 ? "few" : "many");

  const int small = 20, systems = 6;
  std::vector<float> matrices(systems * small * small), right(systems * small);
  Lcg random{3};
  for (float& m : matrices) m = static_cast<int>(random.next() % 21) - 10;
  for (float& b : right) b = static_cast<int>(random.next() % 11) - 5;
  Buffer<float> dm(matrices), db(right), sol(systems * small);
  factorise<<<systems, 32, (small * small + small) * sizeof(float)>>>(dm, sol, db, small);
  SYNC_OK();
  auto got = sol.get();
  double residual = 0;
  for (int k = 0; k < systems; ++k)
    for (int i = 0; i < small; ++i) {
      double sum = -right[k * small + i];
      for (int j = 0; j < small; ++j) sum += static_cast<double>(matrices[(k * small + i) * small + j]) * got[k * small + j];
      residual = std::fmax(residual, std::fabs(sum));
    }
  std::printf("lu %s\n", residual < 1e-2 ? "ok" : "wrong");

  const int m = 34;
  Buffer<double> grid(m * m), f(std::vector<double>(m * m, 0.001));
  for (int sweep = 0; sweep < 60; ++sweep)
    for (int colour = 0; colour < 2; ++colour) red_black<<<dim3(2, 2), dim3(16, 16)>>>(grid, f, m, colour);
  SYNC_OK();
  auto g = grid.get();
  std::printf("relaxed %.6f, symmetric %d\n", g[17 * m + 17], std::fabs(g[5 * m + 9] - g[9 * m + 5]) < 1e-15);
}
