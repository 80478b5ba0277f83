// Code that relies on lockstep: a reduction within a warp without __syncwarp(), as it was written
// for GPUs before sm_70. Right in lockstep; with independent threads a race.
//
//@ exercises: warp-synchronous programming, --warps=lockstep, random orders of lanes and sides
//@ heddle: --warps=lockstep
//@ seeds: 1 2 3
//@ hardware: a race on a GPU of today, though it mostly comes out right
#include <cstdio>

__global__ void reduce(const int* in, int* out) {
  __shared__ volatile int sum[64];
  const int lane = threadIdx.x;
  sum[lane] = in[lane];
  sum[lane + 32] = 0;
  for (int distance = 16; distance > 0; distance /= 2) {
    // All lanes read before any of them writes, if they go in lockstep. The extra work makes lanes
    // that are scheduled independently part.
    const int other = sum[lane + distance];
    for (int i = 0; i < lane; ++i) {
      if (sum[lane] == -i - 1) {
        sum[lane] = i;
      }
    }
    sum[lane] = sum[lane] + other;
  }
  if (lane == 0) {
    *out = sum[0];
  }
}

int main() {
  int in[32], sum = 0;
  for (int i = 0; i < 32; ++i) {
    in[i] = i * i;
  }
  int *device_in, *device_out;
  cudaMalloc(&device_in, sizeof in);
  cudaMalloc(&device_out, sizeof sum);
  cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
  reduce<<<1, 32>>>(device_in, device_out);
  cudaMemcpy(&sum, device_out, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%d\n", sum);
}
