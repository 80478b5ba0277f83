// Texture objects: creating or sampling one is a gap of Heddle and says so.
//@ exercises: [SCOPE]: textures
//@ exit: 3
//@ expect: unsupported
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sample(cudaTextureObject_t texture, float* out) { *out = tex1Dfetch<float>(texture, 2); }

int main() {
  float* data;
  cudaMalloc(&data, 64);
  cudaMemset(data, 0, 64);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 64;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaError_t status = cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  if (status == cudaErrorNotSupported) {
    return 3; // the call has named itself on stderr
  }
  sample<<<1, 1>>>(texture, data);
  cudaDeviceSynchronize();
}
