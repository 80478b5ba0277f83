// Constant memory: initialised and copied to, by symbol and by address, indexed per thread, structures with pointers.
//@ exercises: __constant__, cudaMemcpyToSymbol with offset, cudaMemcpyFromSymbol, cudaGetSymbolAddress/Size, constants holding addresses
#include "support.h"

struct Shape {
  int kind;
  float size[3];
  const char* name;
  long long id;
};

__device__ int counter_values[4] = {10, 20, 30, 40};
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ double coefficients[5];
__constant__ Shape shapes[2] = {{1, {1.0f, 2.0f, 3.0f}, "box", 77}, {2, {4.5f, 0.0f, 0.0f}, "ball", -5}};
__constant__ int* pointer_to_global = &counter_values[2];
__constant__ unsigned char bytes[16] = {1, 2, 3};
namespace nested {
__constant__ short offset = -12;
}

__global__ void read(double* out) {
  int i = threadIdx.x;
  double x = i * 0.5, value = 0;
  for (int k = 4; k >= 0; --k) {
    value = value * x + coefficients[k];
  }
  out[i] = value + primes[i % 8] * 1000 + nested::offset;
}

__global__ void inspect(long long* out) {
  const Shape& shape = shapes[threadIdx.x];
  long long letters = 0;
  for (const char* c = shape.name; *c; ++c) {
    letters = letters * 256 + *c;
  }
  out[threadIdx.x * 4 + 0] = shape.kind * 100 + static_cast<int>(shape.size[0] * 10);
  out[threadIdx.x * 4 + 1] = letters;
  out[threadIdx.x * 4 + 2] = shape.id;
  out[threadIdx.x * 4 + 3] = *pointer_to_global + bytes[threadIdx.x + 1];
}

int main() {
  double host[5] = {1, -2, 0.5, 0.25, 3};
  CUDA_OK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
  Buffer<double> out(32);
  read<<<1, 32>>>(out);
  SYNC_OK();
  auto result = out.get();
  std::printf("%.6f %.6f %.6f\n", result[0], result[5], result[31]);

  double changed[2] = {100, 200};
  CUDA_OK(cudaMemcpyToSymbol(coefficients, changed, sizeof changed, 2 * sizeof(double)));
  int new_prime = 23;
  CUDA_OK(cudaMemcpyToSymbol(primes, &new_prime, sizeof new_prime, 7 * sizeof(int)));
  read<<<1, 32>>>(out);
  SYNC_OK();
  result = out.get();
  std::printf("%.6f %.6f %.6f\n", result[0], result[5], result[31]);

  double back[5];
  CUDA_OK(cudaMemcpyFromSymbol(back, coefficients, sizeof back));
  std::printf("back: %g %g %g %g %g\n", back[0], back[1], back[2], back[3], back[4]);
  int back_primes[3];
  CUDA_OK(cudaMemcpyFromSymbol(back_primes, primes, sizeof back_primes, 5 * sizeof(int)));
  std::printf("primes: %d %d %d\n", back_primes[0], back_primes[1], back_primes[2]);

  void* address = nullptr;
  std::size_t size = 0;
  CUDA_OK(cudaGetSymbolAddress(&address, shapes));
  CUDA_OK(cudaGetSymbolSize(&size, shapes));
  std::printf("size %zu\n", size);
  Shape copy[2];
  CUDA_OK(cudaMemcpy(copy, address, sizeof copy, cudaMemcpyDeviceToHost));
  std::printf("shape %d %g %lld\n", copy[1].kind, copy[1].size[0], copy[1].id);
  copy[1].id = 99;
  CUDA_OK(cudaMemcpy(address, copy, sizeof copy, cudaMemcpyHostToDevice));

  Buffer<long long> words(8);
  inspect<<<1, 2>>>(words);
  SYNC_OK();
  for (long long word : words.get()) {
    std::printf("%lld ", word);
  }
  std::printf("\n");
}
