// Kernels that the program compiles while it runs, and loads as PTX and as what it takes for a cubin.
//@ exercises: nvrtcCompileProgram, nvrtcGetPTX, nvrtcGetCUBIN, nvrtcGetLoweredName, cuModuleLoadData, cudaLibraryLoadData
//@ flags: -lcuda -lnvrtc
//@ needs: nvrtc.h
//@ hardware: the cubin is PTX here
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>

static const char* const source = R"cuda(
template <class T> __global__ void fill(T* p, T first, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = first + T(i);
}
extern "C" __global__ void sum(const int* p, int n, int* result) {
  __shared__ int part;
  if (threadIdx.x == 0)
    part = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    atomicAdd(&part, p[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    *result = part;
}
)cuda";

int main() {
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source, "kernels.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    return 1;
  nvrtcAddNameExpression(program, "fill<int>");
  const char* options[] = {"--gpu-architecture=sm_90", "-std=c++17"};
  if (nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) {
    std::printf("does not compile\n");
    return 1;
  }
  const char* lowered = nullptr;
  nvrtcGetLoweredName(program, "fill<int>", &lowered);
  const std::string fill_name = lowered;
  std::size_t bytes = 0;
  nvrtcGetPTXSize(program, &bytes);
  std::vector<char> ptx(bytes);
  nvrtcGetPTX(program, ptx.data());
  nvrtcGetCUBINSize(program, &bytes);
  std::vector<char> binary(bytes);
  nvrtcGetCUBIN(program, binary.data());
  nvrtcDestroyProgram(&program);

  cuInit(0);
  CUdevice device;
  cuDeviceGet(&device, 0);
  CUcontext context;
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  CUmodule first, second;
  std::printf("PTX: %d\n", cuModuleLoadData(&first, ptx.data()));
  std::printf("binary: %d\n", cuModuleLoadDataEx(&second, binary.data(), 0, nullptr, nullptr));
  CUfunction fill, sum;
  std::printf("fill: %d\n", cuModuleGetFunction(&fill, first, fill_name.c_str()));
  std::printf("sum: %d\n", cuModuleGetFunction(&sum, second, "sum"));

  int n = 100, start = 1;
  int *p, *result;
  cudaMalloc(&p, n * sizeof(int));
  cudaMallocManaged(&result, sizeof(int));
  void* fill_arguments[] = {&p, &start, &n};
  void* sum_arguments[] = {&p, &n, &result};
  cuLaunchKernel(fill, 4, 1, 1, 32, 1, 1, 0, nullptr, fill_arguments, nullptr);
  cuLaunchKernel(sum, 1, 1, 1, 64, 1, 1, 0, nullptr, sum_arguments, nullptr);
  std::printf("ran: %d\n", cuCtxSynchronize());
  std::printf("sum %d\n", *result);

  cudaLibrary_t library;
  cudaKernel_t kernel;
  std::printf("library: %d\n", cudaLibraryLoadData(&library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  std::printf("kernel: %d\n", cudaLibraryGetKernel(&kernel, library, "sum"));
  n = 10;
  std::printf("launched: %d\n", cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(32), sum_arguments, 0, nullptr));
  std::printf("ran: %d\n", cudaDeviceSynchronize());
  std::printf("sum %d\n", *result);
  std::printf("unloaded: %d\n", cudaLibraryUnload(library));
  return 0;
}
