// What pairs.cu, flags.cu and devices.cu have in common: streams, events and memory of `count` numbers.
#pragma once

#include "../race/cases.h"

constexpr int count = 32, bytes = count * sizeof(int);

static cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, flags));
  return s;
}
static cudaEvent_t event() {
  cudaEvent_t e = nullptr;
  must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  return e;
}
static int* managed(int n = count) {
  int* p = nullptr;
  must(cudaMallocManaged(&p, n * sizeof(int)));
  return p;
}
static int* pinned(int n = count) {
  int* p = nullptr;
  must(cudaMallocHost(&p, n * sizeof(int)));
  return p;
}
static int* zeros() {
  int* p = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  return p;
}
static void use(long value) {
  static volatile long sink;
  sink = value;
}
