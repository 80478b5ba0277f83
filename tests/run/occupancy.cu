// Occupancy and launch limits, for kernels whose limits do not come from registers.
//@ exercises: cudaOccupancyMaxActiveBlocksPerMultiprocessor, MaxPotentialBlockSize, AvailableDynamicSMemPerBlock, MaxActiveClusters, __launch_bounds__, cudaFuncGetAttributes
#include "support.h"

__global__ void plain(int* out) { out[threadIdx.x] = 1; }

__global__ void with_shared(int* out) {
  __shared__ int data[8192]; // 32 KB
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = data[(threadIdx.x + 1) % blockDim.x];
}

__global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 2; }

int blocks(void (*kernel)(int*), int size, std::size_t shared) {
  int count = -1;
  cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, size, shared);
  if (status != cudaSuccess) {
    std::printf("(%s) ", cudaGetErrorName(status));
    (void)cudaGetLastError();
  }
  return count;
}

int main() {
  std::printf("plain: %d %d %d %d %d\n", blocks(plain, 32, 0), blocks(plain, 64, 0), blocks(plain, 256, 0), blocks(plain, 1000, 0),
              blocks(plain, 1024, 0));
  std::printf("dynamic shared: %d %d\n", blocks(plain, 64, 40 * 1024), blocks(plain, 64, 10 * 1024));
  std::printf("static shared: %d\n", blocks(with_shared, 64, 0));
  std::printf("too many threads: %d\n", blocks(plain, 2048, 0));

  int grid = 0, block = 0;
  CUDA_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
  std::printf("potential block %d, whole waves %d\n", block, grid > 0 && grid * block % 2048 == 0);
  CUDA_OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, plain, [](int size) { return size * 16; }));
  std::printf("with shared per thread: %d\n", block > 0 && block <= 1024);

  cudaFuncAttributes attributes;
  CUDA_OK(cudaFuncGetAttributes(&attributes, with_shared));
  std::printf("shared %zu threads %d version %d\n", attributes.sharedSizeBytes, attributes.maxThreadsPerBlock, attributes.ptxVersion);
  CUDA_OK(cudaFuncGetAttributes(&attributes, bounded));
  std::printf("bounded %d\n", attributes.maxThreadsPerBlock);
  Buffer<int> out(1024);
  bounded<<<1, 129>>>(out);
  std::printf("beyond the bound: %s\n", cudaGetErrorName(cudaGetLastError()));
  plain<<<1, 1025>>>(out);
  std::printf("1025 threads: %s\n", cudaGetErrorName(cudaGetLastError()));
  plain<<<dim3(1, 70000), 1>>>(out);
  std::printf("70000 blocks in y: %s\n", cudaGetErrorName(cudaGetLastError()));
  plain<<<0, 32>>>(out);
  std::printf("no blocks: %s\n", cudaGetErrorName(cudaGetLastError()));
  plain<<<1, dim3(1, 1, 65)>>>(out);
  std::printf("65 in z: %s\n", cudaGetErrorName(cudaGetLastError()));
  plain<<<1, 32, 49 * 1024>>>(out);
  std::printf("49 KB: %s\n", cudaGetErrorName(cudaGetLastError()));
  CUDA_OK(cudaDeviceSynchronize());
}
