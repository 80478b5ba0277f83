// What the files of this folder have in common: run_kinds() runs one of a file's programs and prints a
// sum of its result's words, which must not depend on how the kernels are executed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int threads = 256;

/// A binomial tree, one step after the other, from its leaves; behind it value[0] is the root's.
__forceinline__ __device__ void fold_tree(float* value) {
  const int t = threadIdx.x;
  for (int step = threads - 1; step > 0; --step) {
    __syncthreads();
    const float next = t < step ? 0.5f * value[t + 1] + 0.499f * value[t] : 0;
    __syncthreads();
    if (t < step) value[t] = next;
  }
}

/// `run` launches kernels that make n words of `out` of n floats in [0, 1) of `in`.
struct Kind {
  const char* name;
  int n;
  void (*run)(float* out, float* in, int n);
};

/// Arguments: a name, and how many rounds; without any: prints the names.
template <int count> int run_kinds(const Kind (&kinds)[count], int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 16;
  for (const Kind& kind : kinds) {
    if (argc < 2) {
      std::puts(kind.name);
    } else if (std::strcmp(argv[1], kind.name) == 0) {
      std::vector<float> host(kind.n);
      for (int i = 0; i < kind.n; ++i) host[i] = (i * 2654435761u >> 8) * (1.0f / 16777216);
      float *in, *out;
      cudaMalloc(&in, kind.n * sizeof(float));
      cudaMalloc(&out, kind.n * sizeof(float));
      cudaMemcpy(in, host.data(), kind.n * sizeof(float), cudaMemcpyHostToDevice);
      cudaMemset(out, 0, kind.n * sizeof(float));
      for (int round = 0; round < rounds; ++round) kind.run(out, in, kind.n);
      cudaMemcpy(host.data(), out, kind.n * sizeof(float), cudaMemcpyDeviceToHost);
      uint64_t sum = 0;
      for (const float& v : host) {
        uint32_t word;
        std::memcpy(&word, &v, sizeof word);
        sum = sum * 31 + word;
      }
      const cudaError_t error = cudaDeviceSynchronize();
      std::printf("%s %016llx %s\n", kind.name, static_cast<unsigned long long>(sum), cudaGetErrorString(error));
      return error == cudaSuccess ? 0 : 1;
    }
  }
  return 0;
}
