// A sum within a warp as it was written for GPUs before sm_70: without __syncwarp(). In lockstep it
// is right in every execution; with independent threads a lane may read too early or too late.
//
//@ case: synchronous 4
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: synchronous 32
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: synchronous 2
//@ flags: --warps=independent
//@ verdict: defect
//@ finding: assert EXEC-ASSERT
//@ case: synchronous 2
//@ flags: --warps=both
//@ verdict: defect
//@ finding: assert EXEC-ASSERT
//@ case: plain 4
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: plain 2
//@ flags: --warps=independent --races=1
//@ verdict: defect
//@ finding: data-race RACE-BARRIER
//@ finding: assert EXEC-ASSERT
//@ case: syncwarp 4
//@ flags: --warps=both
//@ verdict: terminates
#include <cassert>
#include <cstdlib>
#include <cstring>

__global__ void synchronous() {
  __shared__ volatile int sum[64];
  const int lane = threadIdx.x;
  sum[lane] = lane + 1;
  sum[lane + blockDim.x] = 0;
  for (int distance = blockDim.x / 2; distance > 0; distance /= 2) {
    sum[lane] = sum[lane] + sum[lane + distance]; // all lanes read before any of them writes
  }
  if (lane == 0) {
    assert(sum[0] == blockDim.x * (blockDim.x + 1) / 2);
  }
}

// As above, without volatile: to each other the lanes' accesses are a race ([RACE-BARRIER]).
__global__ void plain() {
  __shared__ int sum[64];
  const int lane = threadIdx.x;
  sum[lane] = lane + 1;
  sum[lane + blockDim.x] = 0;
  for (int distance = blockDim.x / 2; distance > 0; distance /= 2) {
    sum[lane] = sum[lane] + sum[lane + distance];
  }
  if (lane == 0) {
    assert(sum[0] == blockDim.x * (blockDim.x + 1) / 2);
  }
}

__global__ void with_syncwarp() {
  __shared__ volatile int sum[64];
  const int lane = threadIdx.x;
  const unsigned all = (1U << blockDim.x) - 1;
  sum[lane] = lane + 1;
  sum[lane + blockDim.x] = 0;
  __syncwarp(all);
  for (int distance = blockDim.x / 2; distance > 0; distance /= 2) {
    const int other = sum[lane + distance];
    __syncwarp(all);
    sum[lane] = sum[lane] + other;
    __syncwarp(all);
  }
  if (lane == 0) {
    assert(sum[0] == blockDim.x * (blockDim.x + 1) / 2);
  }
}

int main(int, char** argv) {
  const int threads = std::atoi(argv[2]);
  if (std::strcmp(argv[1], "synchronous") == 0) {
    synchronous<<<1, threads>>>();
  } else if (std::strcmp(argv[1], "plain") == 0) {
    plain<<<1, threads>>>();
  } else {
    with_syncwarp<<<1, threads>>>();
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
