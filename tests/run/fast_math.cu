// Fast math: the intrinsics and what -use_fast_math turns the library calls into, to the digits their documentation promises.
//@ exercises: sin.approx cos.approx ex2.approx lg2.approx rcp.approx rsqrt.approx tanh.approx, __powf, __fdividef, .ftz everywhere
//@ flags: -use_fast_math
#include "support.h"

#include <cmath>

__global__ void fast(const float* in, float* out, int n) {
  int i = threadIdx.x;
  float x = in[i], y = in[(i + 1) % n];
  float* row = out + i * 16;
  row[0] = __sinf(x);
  row[1] = __cosf(x);
  row[2] = __tanf(x);
  row[3] = __expf(x);
  row[4] = __exp10f(x);
  row[5] = __logf(y);
  row[6] = __log2f(y);
  row[7] = __log10f(y);
  row[8] = __powf(y, x);
  row[9] = __fdividef(x, y);
  row[10] = sinf(x) + cosf(x);
  row[11] = x / y + sqrtf(y);
  row[12] = expf(-x) * logf(y);
  row[13] = powf(y, 2.5f);
  row[14] = tanhf(x);
  row[15] = rsqrtf(y) + 1e-39f; // flushed
}

int main() {
  std::vector<float> values;
  for (int i = 0; i < 32; ++i) {
    values.push_back(0.05f + 0.093f * i);
  }
  int n = static_cast<int>(values.size());
  Buffer<float> in(values), out(n * 16);
  fast<<<1, n>>>(in, out, n);
  SYNC_OK();
  auto result = out.get();
  const char* names[16] = {"sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow", "divide", "sincos", "quotient", "mixed", "power", "tanh", "rsqrt"};
  for (int k = 0; k < 16; ++k) {
    double worst = 0;
    for (int i = 0; i < n; ++i) {
      double x = values[i], y = values[(i + 1) % n];
      double exact[16] = {std::sin(x), std::cos(x), std::tan(x), std::exp(x), std::pow(10, x), std::log(y), std::log2(y), std::log10(y),
                          std::pow(y, x), x / y, std::sin(x) + std::cos(x), x / y + std::sqrt(y), std::exp(-x) * std::log(y),
                          std::pow(y, 2.5), std::tanh(x), 1 / std::sqrt(y)};
      worst = std::max(worst, std::abs(result[i * 16 + k] - exact[k]) / std::max(1.0, std::abs(exact[k])));
    }
    // tanh.approx promises 2^-11 relative error, tan gets large near pi/2; the others stay below 1e-5.
    double limit = k == 14 ? 6e-4 : k == 2 ? 1e-4 : 1e-5;
    std::printf("%s %s %.3f\n", names[k], worst < limit ? "ok" : "off", result[10 * 16 + k]);
  }
}
