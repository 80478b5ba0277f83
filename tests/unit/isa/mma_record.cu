// Prints mma_h200.inc, wgmma_h200.inc or wmma_layout_h200.inc: what a GPU answers to mma_cases.h,
// wgmma_cases.h or wmma_layout_cases.h. Not built with Heddle:
//   nvcc -std=c++20 -o record tests/unit/isa/mma_record.cu
//   ./record mma > tests/unit/isa/mma_h200.inc;  ./record wgmma > tests/unit/isa/wgmma_h200.inc
//   ./record layout > tests/unit/isa/wmma_layout_h200.inc
// A second argument is a file for the results themselves, 32-bit words, case after case.
#include "wgmma_cases.h"
#include "wmma_layout_cases.h"

#include <cstdio>
#include <cstring>
#include <span>

using namespace heddle::test;

namespace {

std::FILE* results = nullptr;

template <class Case> struct Kind {
  int rounds, threads;
  std::size_t in_words, out_words;
  std::string (*ptx)(const Case&);
  std::vector<std::uint32_t> (*input)(std::size_t, int);
};

template <class Case> void record(std::span<const Case> cases, const Kind<Case>& kind) {
  std::uint32_t* in = nullptr;
  std::uint32_t* out = nullptr;
  cudaMalloc(&in, kind.in_words * 4);
  cudaMalloc(&out, kind.out_words * 4);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::printf("// Recorded on: %s, driver API %d; by mma_record.cu. One row per case, one digest per round.\n",
              properties.name, driver);
  for (std::size_t c = 0; c < cases.size(); ++c) {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    const std::string ptx = kind.ptx(cases[c]);
    cudaError_t error =
        cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess) {
      error = cudaLibraryGetKernel(&kernel, library, "k");
    }
    std::printf("{");
    for (int round = 0; round < kind.rounds && error == cudaSuccess; ++round) {
      const auto words = kind.input(c, round);
      cudaMemcpy(in, words.data(), kind.in_words * 4, cudaMemcpyHostToDevice);
      cudaMemset(out, 0, kind.out_words * 4);
      void* arguments[] = {&out, &in};
      error = cudaLaunchKernel((const void*)kernel, dim3(1), dim3(kind.threads), arguments, 0, nullptr);
      std::vector<std::uint32_t> result(kind.out_words);
      if (error == cudaSuccess) {
        error = cudaMemcpy(result.data(), out, kind.out_words * 4, cudaMemcpyDeviceToHost);
      }
      std::printf("0x%016llxU,%s", (unsigned long long)mma_digest(result.data(), kind.out_words),
                  round % 4 == 3 ? "\n " : " ");
      if (results != nullptr) {
        std::fwrite(result.data(), 4, kind.out_words, results);
      }
    }
    std::printf("}, // %s\n", std::string(cases[c].name).c_str());
    if (error != cudaSuccess) {
      std::fprintf(stderr, "%s: %s\n", std::string(cases[c].name).c_str(), cudaGetErrorString(error));
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    results = std::fopen(argv[2], "wb");
  }
  if (argc > 1 && std::strcmp(argv[1], "mma") == 0) {
    record<MmaCase>(mma_cases, Kind<MmaCase>{mma_rounds, 32, mma_in_words, mma_out_words, mma_ptx, mma_input});
  } else if (argc > 1 && std::strcmp(argv[1], "layout") == 0) {
    record<WmmaLayoutCase>(wmma_layout_cases(),
                           Kind<WmmaLayoutCase>{wmma_layout_rounds, 32, wmma_layout_in_words, wmma_layout_out_words,
                                                wmma_layout_ptx, wmma_layout_input});
  } else {
    record<WgmmaCase>(wgmma_cases, Kind<WgmmaCase>{wgmma_rounds, 128, wgmma_in_words, wgmma_out_words, wgmma_ptx, wgmma_input});
  }
  if (results != nullptr) {
    std::fclose(results);
  }
}
