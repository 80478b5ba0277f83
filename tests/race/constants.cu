// Variables of the device that the host sets by name, constant or not, while a kernel uses them.
#include "cases.h"

__constant__ int table[32];
__device__ int variable[32];
__global__ void from_table(int* out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void from_variable(int* out) { out[threadIdx.x] = variable[threadIdx.x]; }

cudaStream_t stream() {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}

CASE(constant, "cudaMemcpyToSymbol") {
  int values[32] = {1};
  int* out = device_memory<int>(32);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream();
  must(cudaMemcpyToSymbol(table, values, sizeof values));
  must(cudaDeviceSynchronize());
  from_table<<<1, 32, 0, s>>>(out);
  if (right) {
    must(cudaStreamSynchronize(s));
  }
  must(cudaMemcpyToSymbol(table, values, sizeof values));
}

CASE(constant_in_order, "cudaMemcpyToSymbolAsync") {
  static int* values;
  must(cudaMallocHost(&values, 128));
  int* out = device_memory<int>(32);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream(), t = right ? s : stream();
  from_table<<<1, 32, 0, s>>>(out);
  must(cudaMemcpyToSymbolAsync(table, values, 128, 0, cudaMemcpyHostToDevice, t));
}

CASE(variable_of_the_device, "cudaMemcpyToSymbol") {
  int values[32] = {1};
  int* out = device_memory<int>(32);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream();
  from_variable<<<1, 32, 0, s>>>(out);
  if (right) {
    must(cudaStreamSynchronize(s));
  }
  must(cudaMemcpyToSymbol(variable, values, sizeof values));
}
