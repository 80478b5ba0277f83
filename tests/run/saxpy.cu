// y = a x + y with fused and with separate rounding; the two differ in the last bit for some inputs.
//@ exercises: fma contraction, __fmul_rn/__fadd_rn, __fma_rn, double precision, scalars by value
#include "support.h"

template <class T> __global__ void axpy(int n, T a, const T* __restrict__ x, T* __restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a * x[i] + y[i];
  }
}

__global__ void axpy_separate(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
  }
}

__global__ void axpy_fused(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = __fmaf_rn(a, x[i], y[i]);
  }
}

int main() {
  constexpr int n = 5000;
  std::vector<float> x(n), y(n);
  std::vector<double> xd(n), yd(n);
  for (int i = 0; i < n; ++i) {
    x[i] = 1.0f / static_cast<float>(i + 1);
    y[i] = static_cast<float>(i) * 0.37f;
    xd[i] = 1.0 / (i + 3);
    yd[i] = i * 0.11;
  }
  const float a = 2.718281f;

  Buffer<float> dx(x), dy(y);
  axpy_separate<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
  SYNC_OK();
  auto separate = dy.get();
  dy.put(y);
  axpy_fused<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
  SYNC_OK();
  auto fused = dy.get();
  int differ = 0;
  for (int i = 0; i < n; ++i) {
    differ += separate[i] != fused[i];
  }
  std::printf("separate %016llx\nfused    %016llx\ndifferent %d\n",
              static_cast<unsigned long long>(digest(separate)),
              static_cast<unsigned long long>(digest(fused)), differ);
  std::printf("y[1234] = %.9g, %.9g\n", separate[1234], fused[1234]);

  dy.put(y);
  axpy<float><<<(n + 255) / 256, 256>>>(n, a, dx, dy);
  SYNC_OK();
  // nvcc fuses the plain expression by default (-fmad=true).
  EXPECT(dy.get() == fused);

  Buffer<double> dxd(xd), dyd(yd);
  axpy<double><<<(n + 255) / 256, 256>>>(n, 3.141592653589793, dxd, dyd);
  SYNC_OK();
  auto result = dyd.get();
  std::printf("double   %016llx, y[77] = %.17g\n", static_cast<unsigned long long>(digest(result)),
              result[77]);
}
