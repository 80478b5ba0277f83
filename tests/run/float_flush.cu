// The same arithmetic compiled with flush-to-zero, approximate division and square root, and no contraction.
//@ exercises: .ftz forms, div.approx/div.full, sqrt.approx within their error, -fmad=false
//@ flags: -ftz=true -prec-div=false -prec-sqrt=false -fmad=false
#include "support.h"

#include <cmath>

__global__ void flush(const float* in, float* out) {
  int i = threadIdx.x;
  float a = in[i];
  out[i * 4] = a + a * 0.25f;
  out[i * 4 + 1] = a * 0.5f;
  out[i * 4 + 2] = a - in[i + 1];
  out[i * 4 + 3] = fminf(a, 1e-40f);
}

__global__ void approximate(const float* in, float* out) {
  int i = threadIdx.x;
  out[i * 3] = in[i] / in[i + 1];
  out[i * 3 + 1] = sqrtf(in[i]);
  out[i * 3 + 2] = 1.0f / in[i];
}

int main() {
  std::vector<float> small = {1e-38f, 1.2e-38f, 2e-38f, 2.3e-38f, 4e-38f, 1e-40f, -1e-40f, -1.3e-38f, 1.0f};
  Buffer<float> input(small), out(8 * 4);
  flush<<<1, 8>>>(input, out);
  SYNC_OK();
  auto result = out.get();
  for (int i = 0; i < 8; ++i) {
    std::printf("%g: %g %g %g %g\n", small[i], result[i * 4], result[i * 4 + 1], result[i * 4 + 2], result[i * 4 + 3]);
  }
  std::vector<float> values;
  for (int i = 0; i < 65; ++i) {
    values.push_back(0.37f * (i + 1) * (i % 2 ? 1 : 1000));
  }
  Buffer<float> more(values), quotients(64 * 3);
  approximate<<<1, 64>>>(more, quotients);
  SYNC_OK();
  result = quotients.get();
  double worst[3] = {};
  for (int i = 0; i < 64; ++i) {
    double exact[3] = {static_cast<double>(values[i]) / values[i + 1], std::sqrt(static_cast<double>(values[i])), 1.0 / values[i]};
    for (int k = 0; k < 3; ++k) {
      worst[k] = std::max(worst[k], std::abs(result[i * 3 + k] / exact[k] - 1));
    }
  }
  std::printf("within 2 ulp: %d %d %d\n", worst[0] < 2.4e-7, worst[1] < 2.4e-7, worst[2] < 2.4e-7);
}
