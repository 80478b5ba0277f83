// Calls that wait for devices with today's drivers, though nothing promises it ([API-WAIT]): a warning.
//@ find: implicit-wait 1
#include "cases.h"

#include <cstdlib>

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

constexpr int count = 32;
int* managed() {
  int* p = nullptr;
  must(cudaMallocManaged(&p, count * sizeof(int)));
  return p;
}
void use(int value) { static volatile int sink; sink = value; }

/// A kernel fills memory, a call is made, and the host reads.
template <bool right, class Call> void between(const Call& call) {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  if (right) {
    must(cudaDeviceSynchronize());
  }
  call();
  use(data[1]);
}

CASE(free, "only cudaFree stands between the two") {
  int* other = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  between<right>([&] { must(cudaFree(other)); });
}

CASE(free_host, "only cudaFreeHost stands between the two") {
  int* other = nullptr;
  must(cudaMallocHost(&other, 64));
  between<right>([&] { must(cudaFreeHost(other)); });
}

CASE(unregister, "only cudaHostUnregister stands between the two") {
  void* other = std::aligned_alloc(4096, 4096);
  must(cudaHostRegister(other, 4096, 0));
  between<right>([&] { must(cudaHostUnregister(other)); });
}

CASE(free_array, "only cudaFreeArray stands between the two") {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  must(cudaMallocArray(&array, &format, 16, 16));
  between<right>([&] { must(cudaFreeArray(array)); });
}

CASE(copy_to_pageable_memory, "only cudaMemcpyAsync stands between the two") {
  int local[count];
  int* from = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  between<right>([&] { must(cudaMemcpyAsync(local, from, sizeof local, cudaMemcpyDeviceToHost, 0)); });
}

CASE(set_of_managed_memory, "only cudaMemset stands between the two") {
  int* data = managed();
  must(cudaMemset(data, 0, count * sizeof(int)));
  if (right) {
    must(cudaDeviceSynchronize());
  }
  use(data[1]);
}

// It counts for what comes later, too: a launch in another stream.
CASE(free_before_a_launch, "only cudaFree stands between the two") {
  int* other = device_memory<int>(count);
  int* data = device_memory<int>(count);
  cudaStream_t s = nullptr, t = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  must(cudaDeviceSynchronize());
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) {
    must(cudaStreamSynchronize(s));
  }
  must(cudaFree(other));
  fill<<<1, count, 0, t>>>(data, 2);
}
