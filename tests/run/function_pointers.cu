// Function pointers: tables in device and constant memory, pointers fetched by the host, passed as arguments, different per lane.
//@ exercises: indirect call with .callprototype, function addresses in initialisers, cudaMemcpyFromSymbol of a pointer, kernels by pointer, member pointers
//@ also-flags: -G
#include "support.h"

using Binary = int (*)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int power(int a, int b) {
  int result = 1;
  while (b-- > 0) {
    result *= a;
  }
  return result;
}
__device__ Binary table[] = {plus, minus, times, power};
__constant__ Binary constant_table[] = {power, times, minus, plus};

using Wide = double (*)(double, float, long long, const int*);
__device__ double weigh(double a, float b, long long c, const int* d) { return a + b * 10 + c * 100 + *d * 1000; }
__device__ Wide wide = weigh;

struct Big {
  int values[6];
};
using BigFunction = Big (*)(Big, int);
__device__ Big rotate(Big big, int by) {
  Big result;
  for (int i = 0; i < 6; ++i) {
    result.values[i] = big.values[(i + by) % 6];
  }
  return result;
}
__device__ BigFunction big_function = rotate;

struct Counter {
  int value;
  __device__ int up(int n) { return value += n; }
  __device__ int down(int n) { return value -= n; }
};

__global__ void with_table(int* out) {
  // Each lane calls another function.
  out[threadIdx.x] = table[threadIdx.x % 4](threadIdx.x, 3) * 1000 + constant_table[threadIdx.x % 4](2, 5);
}

__global__ void with_argument(Binary function, int* out) { out[threadIdx.x] = function(threadIdx.x, 7); }

__global__ void others(double* out) {
  int four = 4;
  out[0] = wide(1, 2, 3, &four);
  Big big = {{1, 2, 3, 4, 5, 6}};
  big = big_function(big, 2);
  out[1] = big.values[0] * 10 + big.values[5];
  int (Counter::*member)(int) = threadIdx.x == 0 ? &Counter::up : &Counter::down;
  Counter counter{100};
  (counter.*member)(30);
  out[2] = counter.value;
}

__global__ void kernel_a(int* out) { *out = 111; }
__global__ void kernel_b(int* out) { *out = 222; }

int main() {
  Buffer<int> out(64);
  with_table<<<1, 64>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int i = 0; i < 8; ++i) {
    std::printf("%d ", result[i]);
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(digest(result)));

  Binary host_table[4];
  CUDA_OK(cudaMemcpyFromSymbol(host_table, table, sizeof host_table));
  for (Binary function : host_table) {
    with_argument<<<1, 10>>>(function, out);
    SYNC_OK();
    std::printf("%d %d\n", out.get()[2], out.get()[9]);
  }

  Buffer<double> doubles(3);
  others<<<1, 1>>>(doubles);
  SYNC_OK();
  for (double value : doubles.get()) {
    std::printf("%g ", value);
  }
  std::printf("\n");

  void (*kernels[])(int*) = {kernel_a, kernel_b};
  for (auto kernel : kernels) {
    kernel<<<1, 1>>>(out);
    SYNC_OK();
    std::printf("%d ", out.get()[0]);
  }
  int* address = out;
  void* arguments[] = {&address};
  CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernels[0]), dim3(1), dim3(1), arguments, 0, nullptr));
  SYNC_OK();
  std::printf("%d\n", out.get()[0]);
}
