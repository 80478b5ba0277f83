// The calls that follow a fault of a kernel.
#pragma once

#include "codes.h"

__global__ void nothing() {}

inline void after_fault() {
  int n;
  int* p;
  void* h;
  cudaStream_t s;
  cudaEvent_t e;
  cudaDeviceProp properties;
  cudaFuncAttributes a;
  CODE(cudaDeviceSynchronize());
  CODE(cudaGetLastError());
  CODE(cudaMalloc(&p, 4));
  CODE(cudaGetDevice(&n));
  CODE(cudaGetDeviceCount(&n));
  CODE(cudaSetDevice(0));
  CODE(cudaGetDeviceProperties(&properties, 0));
  CODE(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
  CODE(cudaStreamCreate(&s));
  CODE(cudaEventCreate(&e));
  CODE(cudaStreamQuery(0));
  CODE(cudaMallocHost(&h, 4));
  CODE(cudaFree(0));
  LAUNCH(nothing<<<1, 1>>>());
  CODE(cudaFuncGetAttributes(&a, nothing));
  CODE(cudaRuntimeGetVersion(&n));
  CODE(cudaDeviceReset());
  CODE(cudaMalloc(&p, 4));
  LAUNCH(nothing<<<1, 1>>>());
  CODE(cudaDeviceSynchronize());
}
