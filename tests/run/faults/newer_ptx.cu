// PTX of a version that Heddle has not been tried with runs, with a warning; an instruction that it does not
// know names itself.
//@ exercises: the version of a module, cuModuleLoadData of a text with an unknown instruction
//@ flags: -lcuda
//@ exit: 2
//@ expect: 'frobnicate' is not an instruction
//@ expect: heddle: warning: the program has PTX 99.1, and Heddle is tested with versions up to
#include <cstdio>
#include <cuda.h>

static const char* const head = ".version 99.1\n.target sm_90\n.address_size 64\n";

static int load(const char* body) {
  char text[512];
  std::snprintf(text, sizeof text, "%s%s", head, body);
  CUmodule module;
  const CUresult result = cuModuleLoadData(&module, text);
  CUfunction kernel;
  if (result != CUDA_SUCCESS || cuModuleGetFunction(&kernel, module, "k") != CUDA_SUCCESS) {
    return 1;
  }
  cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  return cuCtxSynchronize();
}

int main() {
  CUdevice device;
  CUcontext context;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  std::printf("unknown: %d\n", load(".visible .entry k() { frobnicate.b32; ret; }"));
  std::printf("known: %d\n", load(".visible .entry k() { ret; }"));
}
