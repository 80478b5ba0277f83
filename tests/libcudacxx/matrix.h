// The matrix of types for one thread scope: every operation in host threads, in device threads on
// objects of global, shared and local memory, and in both at the same time on objects of their own.
#pragma once

#include "operations.h"

#include <cstdint>
#include <thread>
#include <vector>

template <class T, cuda::thread_scope scope> __global__ void on_device(Objects<T, scope>* global, Tally* tallies) {
  __shared__ alignas(8) unsigned char storage[sizeof(Objects<T, scope>)];
  Tally tally;
  // Each thread has an object in global memory; one of them uses shared memory, all their own local memory.
  global[threadIdx.x].check(tally);
  if (threadIdx.x == 0) {
    reinterpret_cast<Objects<T, scope>*>(storage)->check(tally);
  }
  Objects<T, scope> local;
  local.check(tally);
  tallies[threadIdx.x] = tally;
}

template <class T, cuda::thread_scope scope> bool check_type(const char* name) {
  constexpr int device_threads = 3, host_threads = 2;
  Tally host_only, device_only;
  {
    Objects<T, scope> object;
    object.check(host_only);
  }
  Objects<T, scope>* objects;
  Tally* tallies;
  CUDA_OK(cudaMallocManaged(&objects, device_threads * sizeof(Objects<T, scope>)));
  CUDA_OK(cudaMallocManaged(&tallies, device_threads * sizeof(Tally)));
  on_device<<<1, device_threads>>>(objects, tallies);
  // Host threads run the same function meanwhile.
  std::vector<Tally> host(host_threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < host_threads; ++i) {
    threads.emplace_back([&, i] {
      Objects<T, scope> object;
      object.check(host[i]);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < device_threads; ++i) {
    device_only.add(tallies[i]);
  }
  for (const Tally& tally : host) {
    host_only.add(tally);
  }
  CUDA_OK(cudaFree(objects));
  CUDA_OK(cudaFree(tallies));
  char line[80];
  std::snprintf(line, sizeof line, "%s on the host", name);
  bool failed = print(line, host_only);
  std::snprintf(line, sizeof line, "%s on the device", name);
  return print(line, device_only) || failed;
}

template <cuda::thread_scope scope> int check_scope() {
  bool failed = false;
  failed |= check_type<std::int8_t, scope>("int8_t");
  failed |= check_type<std::uint8_t, scope>("uint8_t");
  failed |= check_type<std::int16_t, scope>("int16_t");
  failed |= check_type<std::uint16_t, scope>("uint16_t");
  failed |= check_type<std::int32_t, scope>("int32_t");
  failed |= check_type<std::uint32_t, scope>("uint32_t");
  failed |= check_type<std::int64_t, scope>("int64_t");
  failed |= check_type<std::uint64_t, scope>("uint64_t");
  failed |= check_type<bool, scope>("bool");
  failed |= check_type<float, scope>("float");
  failed |= check_type<double, scope>("double");
  failed |= check_type<int*, scope>("int*");
  failed |= check_type<Pair16, scope>("struct of 2 bytes");
  failed |= check_type<Pair32, scope>("struct of 4 bytes");
  failed |= check_type<Pair64, scope>("struct of 8 bytes");
  return failed ? 1 : 0;
}
