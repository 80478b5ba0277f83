// Blocks that leave compiled code between barriers: calls, barriers with a result, warps that end early.
#include "kinds.h"

namespace {

__noinline__ __device__ float payoff(float s, float strike) { return s > strike ? s - strike : 0; }

/// A binomial tree of which only the leaves need a call.
__global__ void tree_after_call(float* out, const float* in, int) {
  __shared__ float value[threads];
  const int t = threadIdx.x;
  value[t] = payoff(5 + 25 * in[blockIdx.x] * t / threads, 10);
  fold_tree(value);
  if (t == 0) out[blockIdx.x] = value[0];
}

/// The second half of the block has nothing to do.
__global__ void half_a_block(float* out, const float* in, int) {
  __shared__ float value[threads];
  const int t = threadIdx.x;
  if (t >= threads / 2) return;
  value[t] = in[blockIdx.x * threads + t];
  for (int step = 0; step < 256; ++step) {
    __syncthreads();
    const float other = value[(t + step) % (threads / 2)];
    __syncthreads();
    value[t] = 0.75f * value[t] + 0.25f * other;
  }
  out[blockIdx.x * threads + t] = value[t];
}

/// Labels of a row of cells spread until none changes.
__global__ void spread_labels(unsigned* out, const float* in, int) {
  __shared__ unsigned label[threads + 2];
  const int t = threadIdx.x, i = blockIdx.x * threads + t;
  label[t + 1] = in[i] < 0.97f ? t + 1 : 0;
  if (t < 2) label[t * (threads + 1)] = 0;
  __syncthreads();
  bool changed;
  do {
    const unsigned own = label[t + 1];
    const unsigned best = own == 0 ? 0 : max(own, max(label[t], label[t + 2]));
    changed = best != own;
    __syncthreads();
    label[t + 1] = best;
  } while (__syncthreads_or(changed));
  out[i] = label[t + 1];
}

const Kind kinds[] = {
    {"tree_after_call", 512,
     [](float* out, float* in, int n) { tree_after_call<<<n, threads>>>(out, in, n); }},
    {"half_a_block", 1 << 15,
     [](float* out, float* in, int n) { half_a_block<<<n / threads, threads>>>(out, in, n); }},
    {"spread_labels", 1 << 17,
     [](float* out, float* in, int n) {
       spread_labels<<<n / threads, threads>>>(reinterpret_cast<unsigned*>(out), in, n);
     }},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
