// Copies and fills: 1-D, 2-D with pitch, 3-D, between devices pointers, asynchronous, stream-ordered allocation and pools.
//@ exercises: cudaMemset/2D/3D, cudaMallocPitch, cudaMemcpy2D, cudaMalloc3D, cudaMemcpy3D, cudaMemcpyDefault, cudaMallocAsync/FreeAsync, cudaMemPool attributes, cudaMemGetInfo
#include "support.h"

#include <cstring>

__global__ void fill_pitched(unsigned char* data, std::size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) {
    reinterpret_cast<int*>(data + y * pitch)[x] = y * 1000 + x;
  }
}

__global__ void fill_volume(cudaPitchedPtr volume, int width, int height, int depth) {
  for (int z = 0; z < depth; ++z) {
    for (int y = threadIdx.x; y < height; y += blockDim.x) {
      auto row = static_cast<char*>(volume.ptr) + (z * height + y) * volume.pitch;
      for (int x = 0; x < width; ++x) {
        reinterpret_cast<short*>(row)[x] = static_cast<short>(z * 100 + y * 10 + x);
      }
    }
  }
}

__global__ void increment(int* data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    ++data[i];
  }
}

int main() {
  {
    unsigned char* data;
    CUDA_OK(cudaMalloc(&data, 100));
    CUDA_OK(cudaMemset(data, 0x11, 100));
    CUDA_OK(cudaMemset(data + 10, 0x22, 50));
    CUDA_OK(cudaMemcpy(data + 90, data + 5, 10, cudaMemcpyDeviceToDevice));
    unsigned char host[100];
    CUDA_OK(cudaMemcpy(host, data, 100, cudaMemcpyDefault));
    std::printf("1-D %02x %02x %02x %02x %02x\n", host[9], host[10], host[59], host[60], host[99]);
    CUDA_OK(cudaFree(data));
  }
  {
    constexpr int width = 37, height = 11;
    unsigned char* data;
    std::size_t pitch;
    CUDA_OK(cudaMallocPitch(&data, &pitch, width * sizeof(int), height));
    std::printf("pitch holds a row %d, is aligned %d\n", pitch >= width * sizeof(int), pitch % 32 == 0);
    CUDA_OK(cudaMemset2D(data, pitch, 0, width * sizeof(int), height));
    fill_pitched<<<dim3(2, height), 32>>>(data, pitch, width, height);
    std::vector<int> host(width * height);
    CUDA_OK(cudaMemcpy2D(host.data(), width * sizeof(int), data, pitch, width * sizeof(int), height,
                         cudaMemcpyDeviceToHost));
    std::printf("2-D %016llx %d\n", static_cast<unsigned long long>(digest(host)), host[5 * width + 36]);
    // A rectangle inside, from a dense host array.
    std::vector<int> patch(4 * 3, -1);
    CUDA_OK(cudaMemcpy2D(data + 2 * pitch + 8, pitch, patch.data(), 4 * sizeof(int), 4 * sizeof(int), 3,
                         cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset2D(data + pitch, pitch, 0xee, 12, 1));
    CUDA_OK(cudaMemcpy2D(host.data(), width * sizeof(int), data, pitch, width * sizeof(int), height,
                         cudaMemcpyDeviceToHost));
    std::printf("2-D %016llx %d %d %x\n", static_cast<unsigned long long>(digest(host)), host[2 * width + 2],
                host[2 * width + 6], host[width]);
    CUDA_OK(cudaFree(data));
  }
  {
    constexpr int width = 9, height = 7, depth = 5;
    cudaPitchedPtr volume;
    cudaExtent extent = make_cudaExtent(width * sizeof(short), height, depth);
    CUDA_OK(cudaMalloc3D(&volume, extent));
    CUDA_OK(cudaMemset3D(volume, 0, extent));
    fill_volume<<<1, 4>>>(volume, width, height, depth);
    std::vector<short> host(width * height * depth);
    cudaMemcpy3DParms parameters{};
    parameters.srcPtr = volume;
    parameters.dstPtr = make_cudaPitchedPtr(host.data(), width * sizeof(short), width, height);
    parameters.extent = extent;
    parameters.kind = cudaMemcpyDeviceToHost;
    CUDA_OK(cudaMemcpy3D(&parameters));
    std::printf("3-D %016llx %d\n", static_cast<unsigned long long>(digest(host)), host.back());
    // A box in the middle.
    std::vector<short> box(2 * 2 * 2);
    parameters.srcPos = make_cudaPos(3 * sizeof(short), 4, 1);
    parameters.dstPtr = make_cudaPitchedPtr(box.data(), 2 * sizeof(short), 2, 2);
    parameters.extent = make_cudaExtent(2 * sizeof(short), 2, 2);
    CUDA_OK(cudaMemcpy3D(&parameters));
    for (short value : box) {
      std::printf("%d ", value);
    }
    std::printf("\n");
    CUDA_OK(cudaFree(volume.ptr));
  }
  {
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    int* data;
    CUDA_OK(cudaMallocAsync(&data, 256 * sizeof(int), stream));
    CUDA_OK(cudaMemsetAsync(data, 0, 256 * sizeof(int), stream));
    increment<<<1, 64, 0, stream>>>(data, 256);
    increment<<<1, 64, 0, stream>>>(data, 256);
    int host[256];
    CUDA_OK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaFreeAsync(data, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    std::printf("stream-ordered %d %d\n", host[0], host[255]);

    cudaMemPool_t pool;
    CUDA_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t threshold = 1 << 20, read_back = 0;
    CUDA_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CUDA_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read_back));
    std::printf("threshold %llu\n", static_cast<unsigned long long>(read_back));
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t own;
    CUDA_OK(cudaMemPoolCreate(&own, &properties));
    CUDA_OK(cudaMallocFromPoolAsync(&data, 1024, own, stream));
    CUDA_OK(cudaMemsetAsync(data, 0x01, 1024, stream));
    CUDA_OK(cudaMemcpyAsync(host, data, 1024, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    std::printf("own pool %08x\n", host[200]);
    CUDA_OK(cudaFreeAsync(data, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaMemPoolTrimTo(own, 0));
    CUDA_OK(cudaMemPoolDestroy(own));
    CUDA_OK(cudaStreamDestroy(stream));
  }
  {
    std::size_t before_free, total, after_free;
    CUDA_OK(cudaMemGetInfo(&before_free, &total));
    void* big;
    CUDA_OK(cudaMalloc(&big, 256 << 20));
    CUDA_OK(cudaMemGetInfo(&after_free, &total));
    std::printf("memory shrinks %d\n", after_free + (200 << 20) < before_free && before_free <= total);
    CUDA_OK(cudaFree(big));
    CUDA_OK(cudaFree(nullptr));
    std::printf("too much: %s\n", cudaGetErrorName(cudaMalloc(&big, std::size_t{1} << 50)));
    std::printf("none: %s\n", cudaGetErrorName(cudaMalloc(&big, 0)));
    (void)cudaGetLastError();
  }
}
