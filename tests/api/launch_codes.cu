// What launches answer that the device cannot do, and the calls about kernels.
//@ exercises: launch limits, cudaFuncSetAttribute, kernel handles, cudaFuncGetParamInfo, last error
#include "codes.h"

__device__ int variable[16];
__global__ void k() {}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void big_shared() {
  __shared__ int s[8192];
  s[threadIdx.x] = 1;
  variable[0] = s[0];
}
extern __shared__ int dynamic[];
__global__ void dynamic_shared(int* p) {
  dynamic[threadIdx.x] = 1;
  if (p) *p = dynamic[0];
}
struct Big {
  char c[100];
};
__global__ void parameters(char, double, Big) {}

int main() {
  LAUNCH(k<<<0, 1>>>());
  LAUNCH(k<<<1, 0>>>());
  LAUNCH(k<<<1, 1024>>>());
  LAUNCH(k<<<1, 1025>>>());
  LAUNCH(k<<<1, dim3(1, 1, 64)>>>());
  LAUNCH(k<<<1, dim3(1, 1, 65)>>>());
  LAUNCH(k<<<1, dim3(32, 32, 2)>>>());
  LAUNCH(k<<<dim3(1, 65536), 1>>>());
  LAUNCH(k<<<dim3(1, 65535), 1>>>());
  LAUNCH(k<<<dim3(0x80000000u), 1>>>());
  LAUNCH(k<<<1, 1, 49152>>>());
  LAUNCH(k<<<1, 1, 49153>>>());
  LAUNCH(k<<<1, 1, 300000>>>());
  LAUNCH(bounded<<<1, 128>>>());
  LAUNCH(bounded<<<1, 129>>>());
  LAUNCH(big_shared<<<1, 1, 16384>>>());
  LAUNCH(big_shared<<<1, 1, 16385>>>());

  int unknown[4];
  const void* const nothing = nullptr;
  CODE(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  CODE(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  CODE(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -5));
  LAUNCH(dynamic_shared<<<1, 1, 232448>>>(nullptr));
  LAUNCH(dynamic_shared<<<1, 1, 232449>>>(nullptr));
  CODE(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  CODE(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 199680));
  CODE(cudaFuncSetAttribute(dynamic_shared, static_cast<cudaFuncAttribute>(77), 1));
  CODE(cudaFuncSetAttribute((const void*)unknown, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  CODE(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  CODE(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 150));
  CODE(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 50));

  cudaFuncAttributes a;
  CODE(cudaFuncGetAttributes(&a, (const void*)unknown));
  CODE(cudaFuncGetAttributes(&a, nothing));
  CODE(cudaFuncGetAttributes(nullptr, (const void*)k));
  const void* kernels[] = {(const void*)k, (const void*)bounded, (const void*)big_shared,
                           (const void*)dynamic_shared};
  for (const void* kernel : kernels) {
    CODE(cudaFuncGetAttributes(&a, kernel));
    std::printf("shared %zu, threads %d, PTX %d, binary %d, dynamic %d, carve-out %d\n",
                a.sharedSizeBytes, a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion,
                a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
  }

  void* arguments[] = {unknown};
  CODE(cudaLaunchKernel(nothing, dim3(1), dim3(1), arguments, 0, 0));
  CODE(cudaLaunchKernel((const void*)unknown, dim3(1), dim3(1), arguments, 0, 0));
  CODE(cudaLaunchKernel((const void*)k, dim3(1), dim3(1), nullptr, 0, 0));
  CODE(cudaLaunchKernel((const void*)k, dim3(0), dim3(1), nullptr, 0, 0));
  CODE(cudaLaunchKernel((const void*)k, dim3(1), dim3(1), nullptr, 0, (cudaStream_t)unknown));
  cudaKernel_t kernel;
  cudaFunction_t function;
  CODE(cudaGetKernel(&kernel, (const void*)unknown));
  CODE(cudaGetKernel(&kernel, nothing));
  CODE(cudaGetKernel(&kernel, (const void*)k));
  CODE(cudaGetFuncBySymbol(&function, (const void*)unknown));
  CODE(cudaGetFuncBySymbol(&function, (const void*)k));
  CODE(cudaLaunchKernel((const void*)kernel, dim3(1), dim3(1), arguments, 0, 0));
  CODE(cudaLaunchKernel((const void*)function, dim3(1), dim3(1), arguments, 0, 0));
  const char* name;
  CODE(cudaFuncGetName(&name, (const void*)parameters));
  std::printf("%s\n", name);
  CODE(cudaFuncGetName(nullptr, (const void*)parameters));
  for (int i = 0; i < 4; ++i) {
    std::size_t offset = 0;
    std::size_t size = 0;
    CODE(cudaFuncGetParamInfo((const void*)parameters, i, &offset, &size));
    std::printf("%zu %zu\n", offset, size);
  }
  CODE(cudaDeviceSynchronize());

  // What becomes of an error when good calls follow it, and of two errors.
  int* p;
  cudaMalloc(&p, 1ULL << 50);
  cudaMalloc(&p, 4);
  CODE(cudaPeekAtLastError());
  k<<<0, 1>>>();
  k<<<1, 1>>>();
  std::printf("%d\n", cudaGetLastError());
  cudaMalloc(&p, 1ULL << 50);
  cudaSetDevice(77);
  std::printf("%d\n", cudaGetLastError());
}
