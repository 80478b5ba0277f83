// Texture fetches are a gap of Heddle: present is fine, executed is exit code 3.
//@ command: run
//@ compare: no
//@ revisions: present executed
//@[present] program-args: 0
//@[present] exit: 0
//@[executed] program-args: 1
#include <cstdlib>

__global__ void fetch(cudaTextureObject_t texture, float* out, bool really) {
  if (really) {
    *out = tex1Dfetch<float>(texture, 0);
  }
}

int main(int, char** arguments) {
  float* out = nullptr;
  cudaMalloc(&out, sizeof(float));
  fetch<<<1, 1>>>(1, out, std::atoi(arguments[1]) != 0);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 5;
}
