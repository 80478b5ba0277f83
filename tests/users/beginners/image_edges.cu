#include <cstdio>
#include <vector>
__global__ void invert(unsigned char* image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef RIGHT
  if (x >= width || y >= height) return;
#endif
  image[y * width + x] = 255 - image[y * width + x];  //~ out-of-bounds
}
int main() {
  const int width = 100, height = 70;
  std::vector<unsigned char> h(width * height, 3);
  unsigned char* d;
  cudaMalloc(&d, h.size());
  cudaMemcpy(d, h.data(), h.size(), cudaMemcpyHostToDevice);
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  invert<<<grid, block>>>(d, width, height);
  cudaMemcpy(h.data(), d, h.size(), cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
