// A texture object is destroyed behind a launch, while the kernel has not sampled it yet.
//@ exercises: [MEM-LIFETIME]: texture objects, and kernels that are under way
//@ exit: 1
//@ expect: error\[use-after-free\]: kernel 'sample<<<1,1>>>' .* is given a texture object that may be destroyed before it is used
//@ expect: cudaDestroyTextureObject without a wait destroys it, and nothing orders the two
//@ expect: (?s)\A(?!.*the handle of a texture object is none)
#include <cuda_runtime.h>

__global__ void sample(cudaTextureObject_t texture, volatile int* go, float* out) {
  while (*go == 0) {
  }
  *out = tex1Dfetch<float>(texture, 2);
}

int main() {
  float* data;
  volatile int* go;
  cudaMalloc(&data, 64);
  cudaMallocHost(reinterpret_cast<void**>(const_cast<int**>(&go)), 4);
  *go = 0;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 64;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  sample<<<1, 1>>>(texture, go, data);
  cudaDestroyTextureObject(texture);
  *go = 1;
  cudaDeviceSynchronize();
}
