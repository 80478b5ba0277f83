// The device interface of cuRAND: generators, skip-ahead, distributions.
//@ exercises: XORWOW, MRG32k3a, Philox; curand, uniform, normal, log-normal, Poisson, vector forms; skipahead; generator state kept in memory between kernels
#include "support.h"

#include <curand_kernel.h>

#include <cmath>

template <class State> __global__ void setup(State* states, unsigned long long seed) {
  curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]);
}

template <class State> __global__ void raw(State* states, unsigned* out, int count) {
  State state = states[threadIdx.x];
  for (int i = 0; i < count; ++i) {
    out[threadIdx.x * count + i] = curand(&state);
  }
  states[threadIdx.x] = state;
}

template <class State> __global__ void distributions(State* states, float* out, int rounds) {
  State state = states[threadIdx.x];
  float uniform = 0, normal = 0, squares = 0, wide = 0, poisson = 0, inside = 0;
  for (int i = 0; i < rounds; ++i) {
    uniform += curand_uniform(&state);
    float sample = curand_normal(&state);
    normal += sample;
    squares += sample * sample;
    wide += static_cast<float>(curand_uniform_double(&state));
    poisson += static_cast<float>(curand_poisson(&state, 4.0));
    float x = curand_uniform(&state), y = curand_uniform(&state);
    inside += x * x + y * y < 1.0f;
  }
  float* row = out + threadIdx.x * 6;
  row[0] = uniform;
  row[1] = normal;
  row[2] = squares;
  row[3] = wide;
  row[4] = poisson;
  row[5] = inside;
}

template <class State> void test(const char* name) {
  constexpr int threads = 32, count = 16, rounds = 40;
  Buffer<State> states(threads);
  Buffer<unsigned> out(threads * count);
  setup<<<1, threads>>>(states.data(), 1234ull);
  raw<<<1, threads>>>(states.data(), out.data(), count);
  SYNC_OK();
  auto first = out.get();
  raw<<<1, threads>>>(states.data(), out.data(), count);
  SYNC_OK();
  auto second = out.get();
  std::printf("%s %08x %08x %016llx %016llx\n", name, first[0], first[count * 31 + 15], static_cast<unsigned long long>(digest(first)),
              static_cast<unsigned long long>(digest(second)));
  Buffer<float> sums(threads * 6);
  distributions<<<1, threads>>>(states.data(), sums.data(), rounds);
  SYNC_OK();
  auto result = sums.get();
  double total[6] = {};
  for (int i = 0; i < threads * 6; ++i) {
    total[i % 6] += result[i];
  }
  double n = threads * rounds;
  // Approximate functions stand behind the normal distribution: two digits are safe.
  std::printf("  uniform %.4f normal %.2f variance %.2f double %.4f poisson %.2f pi %.4f\n", total[0] / n, total[1] / n, total[2] / n,
              total[3] / n, total[4] / n, 4 * total[5] / n);
}

__global__ void philox(uint4* out, float* normals) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, threadIdx.x, 5, &state);
  out[threadIdx.x] = curand4(&state);
  float4 four = curand_normal4(&state);
  normals[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void skip(unsigned* out) {
  curandStateXORWOW_t a, b;
  curand_init(99, 3, 0, &a);
  curand_init(99, 3, 1000, &b);
  skipahead(1000, &a);
  out[0] = curand(&a) == curand(&b);
  curandStateMRG32k3a_t c, d;
  curand_init(99, 3, 0, &c);
  curand_init(99, 3, 50, &d);
  for (int i = 0; i < 50; ++i) {
    curand(&c);
  }
  out[1] = curand(&c) == curand(&d);
  out[2] = static_cast<unsigned>(curand_log_normal(&a, 0.0f, 0.25f) * 10);
}

int main() {
  test<curandStateXORWOW_t>("xorwow");
  test<curandStateMRG32k3a_t>("mrg32k3a");
  test<curandStatePhilox4_32_10_t>("philox");
  Buffer<uint4> words(32);
  Buffer<float> normals(32);
  philox<<<1, 32>>>(words, normals);
  Buffer<unsigned> same(3);
  skip<<<1, 1>>>(same);
  SYNC_OK();
  std::printf("philox4 %016llx %.2f\n", static_cast<unsigned long long>(digest(words.get())), normals.get()[9]);
  std::printf("skip %u %u %u\n", same.get()[0], same.get()[1], same.get()[2]);
}
