// cuBLAS: every kind of call that the stand-in has, against sums made on the host.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                     \
  do {                                                               \
    int code = (int)(call);                                          \
    if (code != 0) {                                                 \
      std::printf("line %d: %s: %d\n", __LINE__, #call, code);       \
      std::exit(1);                                                  \
    }                                                                \
  } while (0)

template <class T> struct Device {
  T* at = nullptr;
  std::size_t n;
  explicit Device(const std::vector<T>& values) : n(values.size()) {
    OK(cudaMalloc(&at, n * sizeof(T)));
    OK(cudaMemcpy(at, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> read() const {
    std::vector<T> values(n);
    OK(cudaMemcpy(values.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

template <class T> std::vector<T> some(std::size_t n, int seed) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = T(float((int)((i * 7 + seed * 13) % 11) - 5));
  }
  return values;
}

// Small whole numbers: every order of additions gives the same.
template <class T> void expect(const char* what, const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if ((double)(float)found[i] != (double)(float)expected[i]) {
      std::printf("%s: [%zu] is %g, expected %g\n", what, i, (double)(float)found[i], (double)(float)expected[i]);
      return;
    }
  }
  std::printf("%s\n", what);
}

template <class T>
std::vector<T> product(bool ta, bool tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
                       T beta, const T* c, int ldc) {
  std::vector<T> result(c, c + ldc * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) {
        sum += (float)(ta ? a[l + i * lda] : a[i + l * lda]) * (float)(tb ? b[j + l * ldb] : b[l + j * ldb]);
      }
      result[i + j * ldc] = T((float)alpha * sum + (float)beta * (float)c[i + j * ldc]);
    }
  }
  return result;
}

template <class T, class Gemm> void gemm(const char* what, Gemm call) {
  const int m = 5, n = 4, k = 3, lda = 7, ldb = 6, ldc = 8;
  for (int ta = 0; ta < 2; ++ta) {
    for (int tb = 0; tb < 2; ++tb) {
      const auto a = some<T>(lda * 5, 1), b = some<T>(ldb * 4, 2), c = some<T>(ldc * n, 3);
      Device<T> da(a), db(b), dc(c);
      T alpha(2.f), beta(3.f);
      OK(call(ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, da.at, lda, db.at, ldb,
              &beta, dc.at, ldc));
      expect(what, dc.read(), product<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc));
    }
  }
}

int main() {
  cublasHandle_t h;
  OK(cublasCreate(&h));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream(h, stream));
  gemm<float>("sgemm", [&](auto... x) { return cublasSgemm(h, x...); });
  gemm<double>("dgemm", [&](auto... x) { return cublasDgemm(h, x...); });
  gemm<__half>("hgemm", [&](auto... x) { return cublasHgemm(h, x...); });
  gemm<__half>("gemmEx", [&](cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, __half*, __half* a, int lda,
                             __half* b, int ldb, __half*, __half* c, int ldc) {
    float alpha = 2, beta = 3;
    return cublasGemmEx(h, ta, tb, m, n, k, &alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, &beta, c, CUDA_R_16F, ldc,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  });

  { // strided and batched
    const int size = 4, count = 3;
    const auto a = some<float>(16 * count, 1), b = some<float>(16 * count, 2);
    std::vector<float> expected;
    for (int i = 0; i < count; ++i) {
      std::vector<float> zero(16);
      const auto one = product<float>(false, false, size, size, size, 1, &a[16 * i], size, &b[16 * i], size, 0, zero.data(), size);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    const std::vector<float> bad(16 * count, NAN); // not read: beta is 0
    Device<float> da(a), db(b), dc(bad), dd(bad);
    float alpha = 1, beta = 0;
    OK(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &alpha, da.at, size, 16, db.at, size, 16,
                                 &beta, dc.at, size, 16, count));
    expect("strided", dc.read(), expected);
    std::vector<float*> as, bs, cs;
    for (int i = 0; i < count; ++i) {
      as.push_back(da.at + 16 * i);
      bs.push_back(db.at + 16 * i);
      cs.push_back(dd.at + 16 * i);
    }
    Device<float*> pa(as), pb(bs), pc(cs);
    Device<float> scalars({1, 0});
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, scalars.at, pa.at, size, pb.at, size,
                          scalars.at + 1, pc.at, size, count));
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    expect("batched", dd.read(), expected);
  }
  { // vectors
    const auto x = some<float>(30, 1), y = some<float>(20, 2);
    Device<float> dx(x), dy(y);
    float alpha = 3, found = 0, dot = 0, asum = 0;
    double squares = 0;
    auto sum = y;
    for (int i = 0; i < 10; ++i) {
      sum[2 * i] += alpha * x[3 * (9 - i)]; // a step of -3
      dot += x[3 * i] * y[2 * i];
      squares += x[3 * i] * x[3 * i];
      asum += std::fabs(x[3 * i]);
    }
    OK(cublasSdot(h, 10, dx.at, 3, dy.at, 2, &found));
    std::printf("dot %d\n", found == dot);
    OK(cublasSnrm2(h, 10, dx.at, 3, &found));
    std::printf("nrm2 %d\n", std::fabs(found - std::sqrt(squares)) < 1e-5);
    OK(cublasSasum(h, 10, dx.at, 3, &found));
    std::printf("asum %d\n", found == asum);
    OK(cublasSaxpy(h, 10, &alpha, dx.at, -3, dy.at, 2));
    expect("axpy", dy.read(), sum);
    OK(cublasSscal(h, 30, &alpha, dx.at, 1));
    auto scaled = x;
    for (float& value : scaled) value *= 3;
    expect("scal", dx.read(), scaled);
    int largest = 0;
    std::vector<float> peaks{1, -7, 7, 2};
    Device<float> dp(peaks);
    OK(cublasIsamax(h, 4, dp.at, 1, &largest));
    std::printf("amax %d\n", largest);
  }
  { // gemv, and complex numbers
    const auto a = some<double>(6 * 4, 1), x = some<double>(6, 2), y = some<double>(6, 3);
    Device<double> da(a), dx(x), dy(y);
    double alpha = 2, beta = -1;
    auto expected = y;
    for (int i = 0; i < 5; ++i) {
      double sum = 0;
      for (int j = 0; j < 4; ++j) sum += a[i + 6 * j] * x[j];
      expected[i] = alpha * sum + beta * y[i];
    }
    OK(cublasDgemv(h, CUBLAS_OP_N, 5, 4, &alpha, da.at, 6, dx.at, 1, &beta, dy.at, 1));
    expect("gemv", dy.read(), expected);
    // The same twice, the places in device memory; and of f16, transposed, with every second element.
    Device<double> dz(std::vector<double>{y[0], y[1], y[2], y[3], y[4], y[5], y[0], y[1], y[2], y[3], y[4], y[5]});
    Device<const double*> as({da.at, da.at}), xs({dx.at, dx.at});
    Device<double*> ys({dz.at, dz.at + 6});
    OK(cublasDgemvBatched(h, CUBLAS_OP_N, 5, 4, &alpha, as.at, 6, xs.at, 1, &beta, ys.at, 1, 2));
    auto twice = expected;
    twice.insert(twice.end(), expected.begin(), expected.end());
    expect("gemvBatched", dz.read(), twice);
    const auto f = some<__half>(2 * 12, 1), v = some<__half>(2 * 8, 2);
    Device<__half> df(f), dv(v);
    Device<float> dw(std::vector<float>(2 * 3));
    float one = 1, zero = 0;
    OK(cublasHSSgemvStridedBatched(h, CUBLAS_OP_T, 4, 3, &one, df.at, 4, 12, dv.at, 2, 8, &zero, dw.at, 1, 3, 2));
    std::vector<float> sums(2 * 3);
    for (int b = 0; b < 2; ++b)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 4; ++i) sums[3 * b + j] += (float)f[12 * b + i + 4 * j] * (float)v[8 * b + 2 * i];
    expect("HSSgemvStridedBatched", dw.read(), sums);
    Device<cuComplex> cx(std::vector<cuComplex>{{1, 2}, {3, -1}}), cy(std::vector<cuComplex>{{2, 0}, {0, 1}});
    cuComplex u, c;
    OK(cublasCdotu(h, 2, cx.at, 1, cy.at, 1, &u));
    OK(cublasCdotc(h, 2, cx.at, 1, cy.at, 1, &c));
    std::printf("cdot %g%+gi %g%+gi\n", u.x, u.y, c.x, c.y);
    cuComplex unit{1, 0}, nothing{0, 0};
    Device<cuComplex> cz(std::vector<cuComplex>(1));
    OK(cublasCgemm(h, CUBLAS_OP_C, CUBLAS_OP_N, 1, 1, 2, &unit, cx.at, 2, cy.at, 2, &nothing, cz.at, 1));
    std::printf("cgemm %g%+gi\n", cz.read()[0].x, cz.read()[0].y);
  }
  float* null = nullptr;
  float one = 1;
  std::printf("wrong %d %d\n", cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, null, 3, null, 4, &one, null, 4),
              cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, null, 4, null, 4, &one, null, 4));
  OK(cublasDestroy(h));
  return 0;
}
