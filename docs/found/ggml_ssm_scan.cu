// Shared memory that a loop fills again while other threads still read it; and storage of CUB that is used twice
//
// Program: ggml 0.9.8, src/ggml-cuda/ssm-scan.cu, ssm_scan_f32
// Status: confirmed; fixed in 0.18.1 (llama.cpp pull request 24360, "Fix ssm_scan_f32 data-races": a barrier in the
//   loop, and one between the two loads through one temporary storage)
// Reported: by others (ggml issue 1498); not by us
// Rule: RACE-BARRIER, twice. The end of the loop body: a thread of the next round writes what others read in this one.
//   The storage: CUB asks for a barrier before it is used again.
//@ command: run --races
//@ exit: 1
//@ findings: 2
//@ expect: at the end of the loop body: the accesses are of different rounds
//@ expect: block_load
#include <cub/cub.cuh>

constexpr int threads = 128;
constexpr int states = 16;

__global__ void scan(const float* in, const float* factors, float* out, int rounds) {
  using Load = cub::BlockLoad<float, threads, states, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  __shared__ typename Load::TempStorage storage;
  __shared__ float shared[states];
  float a[states];
  float b[states];
  Load(storage).Load(in, a);
  // __syncthreads() is missing here.
  Load(storage).Load(in + threads * states, b);
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x < states) {
      shared[threadIdx.x] = factors[i * states + threadIdx.x];
    }
    __syncthreads();
    float sum = 0;
    for (int n = 0; n < states; ++n) {
      b[n] = b[n] * a[n] + shared[n];
      sum += b[n];
    }
    out[i * threads + threadIdx.x] = sum;
    // __syncthreads() is missing here.
  }
}

int main() {
  constexpr int rounds = 4;
  float* in;
  float* factors;
  float* out;
  cudaMalloc(&in, 2 * threads * states * sizeof(float));
  cudaMemset(in, 0, 2 * threads * states * sizeof(float));
  cudaMalloc(&factors, rounds * states * sizeof(float));
  cudaMemset(factors, 0, rounds * states * sizeof(float));
  cudaMalloc(&out, rounds * threads * sizeof(float));
  scan<<<1, threads>>>(in, factors, out, rounds);
  return cudaDeviceSynchronize();
}
