// Samples a texture object after it has been destroyed.
//@ exercises: [MEM-LIFETIME]: texture objects
//@ exit: 1
//@ expect: error\[use-after-free\]: .*the handle of a texture object is none
//@ expect: a texture object.*freed
#include <cuda_runtime.h>

__global__ void sample(cudaTextureObject_t texture, float* out) { *out = tex1Dfetch<float>(texture, 2); }

int main() {
  float* data;
  cudaMalloc(&data, 64);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 64;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  sample<<<1, 1>>>(texture, data);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  sample<<<1, 1>>>(texture, data);
  cudaDeviceSynchronize();
}
