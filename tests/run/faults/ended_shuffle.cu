// Shuffles whose mask names lanes that have ended, and that use what such a lane gives.
//@ exercises: [WARP-MASK], the warning with both places
//@ flags: -lineinfo
//@ expect: ended_shuffle.cu:19:.* warning\[warp-mask\]: a shuffle gives the value of lane \d+, which has ended, and the value is used
//@ expect: 15 \|   if \(threadIdx.x >= lanes\) \{
//@ expect: \(2\) the lanes that have ended skip it here
//@ expect: ended_shuffle.cu:30:.* warning\[warp-mask\]: a shuffle gives the value of lane 0, which has ended
#include <cstdio>

constexpr unsigned full = 0xffffffffU;

/// The sum of lane 0 needs lanes 20 to 31.
__global__ void sum(int* out, int lanes) {
  int value = threadIdx.x + 1;
  if (threadIdx.x >= lanes) {
    return;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(full, value, offset);
  }
  if (threadIdx.x == 0) {
    *out = value;
  }
}

__global__ void broadcast(int* out) {
  if (threadIdx.x == 0) {
    return;
  }
  out[threadIdx.x] = __shfl_sync(full, static_cast<int>(threadIdx.x), 0);
}

int main() {
  int* out;
  cudaMalloc(&out, 512);
  sum<<<1, 32>>>(out, 20);
  broadcast<<<1, 32>>>(out);
  std::printf("%d\n", static_cast<int>(cudaDeviceSynchronize()));
}
