// Writes behind the last row of a surface whose boundary mode is to trap.
//@ exercises: [MEM-BOUNDS]: surfaces
//@ exit: 1
//@ expect: error\[out-of-bounds\]: write of 4 bytes .*byte 12 of row 4
//@ expect: thread \(3,3,0\) of block \(0,0,0\)
#include <cuda_runtime.h>

__global__ void fill(cudaSurfaceObject_t surface) { surf2Dwrite(1.0f, surface, threadIdx.x * 4, threadIdx.y + threadIdx.x / 3); }

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 4, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  fill<<<1, dim3(4, 4)>>>(surface);
  cudaDeviceSynchronize();
}
