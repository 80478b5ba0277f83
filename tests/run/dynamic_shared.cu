// Dynamic shared memory: carving one array into several types, sizes above 48 KB, static and dynamic together.
//@ exercises: extern __shared__, cudaFuncSetAttribute(MaxDynamicSharedMemorySize), launch refusal without it, cudaFuncGetAttributes
#include "support.h"

__global__ void carve(int n, double* out) {
  extern __shared__ unsigned char raw[];
  double* wide = reinterpret_cast<double*>(raw);
  float* middle = reinterpret_cast<float*>(wide + n);
  short* narrow = reinterpret_cast<short*>(middle + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    wide[i] = i * 0.5;
    middle[i] = i * 0.25f;
    narrow[i] = static_cast<short>(-i);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int j = n - 1 - i;
    out[i] = wide[j] + middle[j] + narrow[j];
  }
}

__global__ void large(int words, unsigned* out) {
  extern __shared__ unsigned data[];
  __shared__ unsigned partial[64];
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    data[i] = i ^ (i << 7);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    sum += data[(i * 97) % words];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned total = 0;
    for (int i = 0; i < blockDim.x; ++i) {
      total += partial[i];
    }
    *out = total;
  }
}

template <class T> __global__ void typed(T* out) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* data = reinterpret_cast<T*>(bytes);
  data[threadIdx.x] = static_cast<T>(threadIdx.x * 3);
  __syncthreads();
  out[threadIdx.x] = data[(threadIdx.x + 1) % blockDim.x];
}

__global__ void size_register(unsigned* out) {
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(*out));
}

int main() {
  {
    constexpr int n = 300;
    Buffer<double> out(n);
    carve<<<1, 128, n * (8 + 4 + 2)>>>(n, out);
    SYNC_OK();
    auto result = out.get();
    std::printf("carve %g %g %g\n", result[0], result[150], result[299]);
  }
  {
    constexpr int words = 25000; // 100,000 bytes
    Buffer<unsigned> out(1);
    large<<<1, 64, words * 4>>>(words, out);
    cudaError_t refused = cudaGetLastError();
    std::printf("without the attribute: %s\n", cudaGetErrorName(refused));
    CUDA_OK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4));
    large<<<1, 64, words * 4>>>(words, out);
    SYNC_OK();
    std::printf("with it: %u\n", out.get()[0]);
    cudaFuncAttributes attributes;
    CUDA_OK(cudaFuncGetAttributes(&attributes, large));
    std::printf("static %zu, dynamic limit %d\n", attributes.sharedSizeBytes, attributes.maxDynamicSharedSizeBytes);
    std::printf("too much: %s\n", cudaGetErrorName(cudaFuncSetAttribute(
                                      large, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024)));
    (void)cudaGetLastError();
  }
  {
    Buffer<int> a(40);
    Buffer<double> b(40);
    typed<<<1, 40, 40 * sizeof(int)>>>(a.data());
    typed<<<1, 40, 40 * sizeof(double)>>>(b.data());
    SYNC_OK();
    std::printf("typed %d %g %d %g\n", a.get()[3], b.get()[3], a.get()[39], b.get()[39]);
  }
  {
    Buffer<unsigned> out(1);
    size_register<<<1, 1, 1232>>>(out);
    SYNC_OK();
    std::printf("%%dynamic_smem_size %u\n", out.get()[0]);
  }
}
