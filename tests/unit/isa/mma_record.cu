// Prints mma_h200.inc: what a GPU answers to mma_cases.h. Not built with Heddle:
//   nvcc -std=c++20 -o record tests/unit/isa/mma_record.cu && ./record > tests/unit/isa/mma_h200.inc
#include "mma_cases.h"

#include <cstdio>

using namespace heddle::test;

int main() {
  std::uint32_t* in = nullptr;
  std::uint32_t* out = nullptr;
  cudaMalloc(&in, mma_in_words * 4);
  cudaMalloc(&out, mma_out_words * 4);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::printf("// Recorded on: %s, driver API %d; by mma_record.cu. One row per case, one digest per round.\n",
              properties.name, driver);
  for (std::size_t c = 0; c < std::size(mma_cases); ++c) {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    const std::string ptx = mma_ptx(mma_cases[c]);
    cudaError_t error =
        cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess) {
      error = cudaLibraryGetKernel(&kernel, library, "k");
    }
    std::printf("{");
    for (int round = 0; round < mma_rounds && error == cudaSuccess; ++round) {
      const auto words = mma_input(c, round);
      cudaMemcpy(in, words.data(), mma_in_words * 4, cudaMemcpyHostToDevice);
      cudaMemset(out, 0, mma_out_words * 4);
      void* arguments[] = {&out, &in};
      error = cudaLaunchKernel((const void*)kernel, dim3(1), dim3(32), arguments, 0, nullptr);
      std::vector<std::uint32_t> result(mma_out_words);
      if (error == cudaSuccess) {
        error = cudaMemcpy(result.data(), out, mma_out_words * 4, cudaMemcpyDeviceToHost);
      }
      std::printf("0x%016llxU,%s", (unsigned long long)mma_digest(result.data()), round % 4 == 3 ? "\n " : " ");
    }
    std::printf("}, // %s\n", std::string(mma_cases[c].name).c_str());
    if (error != cudaSuccess) {
      std::fprintf(stderr, "%s: %s\n", std::string(mma_cases[c].name).c_str(), cudaGetErrorString(error));
    }
  }
}
