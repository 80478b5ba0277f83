// cuRAND's host interface: moments of each distribution, on the device and on the host; the same numbers
// again after the seed is set again.
#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                               \
  do {                                                         \
    int code = (int)(call);                                    \
    if (code != 0) {                                           \
      std::printf("line %d: %s: %d\n", __LINE__, #call, code); \
      std::exit(1);                                            \
    }                                                          \
  } while (0)

constexpr std::size_t n = 20000;

template <class T> void moments(const char* what, const T* values, double mean, double deviation) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) sum += values[i];
  for (std::size_t i = 0; i < n; ++i) squares += (values[i] - sum / n) * (values[i] - sum / n);
  const double found = std::sqrt(squares / n);
  std::printf("%s %d %d\n", what, std::fabs(sum / n - mean) < 0.05 * (1 + std::fabs(mean)), std::fabs(found - deviation) < 0.05 * deviation);
}

int main() {
  for (auto kind : {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MRG32K3A}) {
    curandGenerator_t g, host;
    OK(curandCreateGenerator(&g, kind));
    OK(curandCreateGeneratorHost(&host, kind));
    double* p;
    OK(cudaMallocManaged(&p, n * sizeof(double)));
    auto wait = [] { OK(cudaDeviceSynchronize()); };
    OK(curandSetPseudoRandomGeneratorSeed(g, 1234));
    OK(curandGenerateUniform(g, (float*)p, n));
    wait();
    moments("uniform", (float*)p, 0.5, std::sqrt(1 / 12.0));
    std::vector<float> first((float*)p, (float*)p + n), again(n);
    OK(curandGenerateUniform(g, (float*)p, n));
    wait();
    std::printf("goes on %d\n", first[0] != ((float*)p)[0]);
    OK(curandSetPseudoRandomGeneratorSeed(host, 1234));
    OK(curandGenerateUniform(host, again.data(), n));
    std::printf("the same %d\n", first == again);
    OK(curandGenerateUniformDouble(g, p, n));
    wait();
    moments("uniform double", p, 0.5, std::sqrt(1 / 12.0));
    OK(curandGenerateNormal(g, (float*)p, n, 3, 2));
    wait();
    moments("normal", (float*)p, 3, 2);
    OK(curandGenerateLogNormalDouble(g, p, n, 0, 0.5));
    wait();
    moments("log-normal", p, std::exp(0.125), std::sqrt((std::exp(0.25) - 1) * std::exp(0.25)));
    OK(curandGeneratePoisson(g, (unsigned*)p, n, 20));
    wait();
    moments("poisson", (unsigned*)p, 20, std::sqrt(20.0));
    OK(curandDestroyGenerator(g));
    OK(curandDestroyGenerator(host));
    OK(cudaFree(p));
  }
  return 0;
}
