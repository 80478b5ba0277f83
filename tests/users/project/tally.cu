#include "tally.h"

#include <cub/device/device_reduce.cuh>

int sum_on_device(const int* values, int count) {
  int* result = nullptr;
  cudaMalloc(&result, sizeof(int));
  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(scratch, bytes, values, result, count);
  cudaMalloc(&scratch, bytes);
  cub::DeviceReduce::Sum(scratch, bytes, values, result, count);
  int sum = 0;
  cudaMemcpy(&sum, result, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(scratch);
  cudaFree(result);
  return sum;
}
