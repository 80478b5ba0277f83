// Warpgroups and wgmma: a warp copies, a warpgroup multiplies, mbarriers in between. Multiplications
// are collectives like others: right kernels take a few states. Each warp of a warpgroup has to come.
//@ nvcc: -gencode=arch=compute_90a,code=[sm_90a,compute_90a]
#include "../../support/warpgroup.h"
#include "cases.h"

constexpr int stages = 2, k_of_stage = 16, a_bytes = 64 * k_of_stage * 2, b_bytes = 32 * k_of_stage * 2;

__device__ alignas(16) unsigned char input[4 * (a_bytes + b_bytes)];
__device__ float result[64 * 32];
__device__ int flag;

struct Stages {
  unsigned char bytes[stages][a_bytes + b_bytes];
  std::uint64_t full[stages], empty[stages];

  __device__ void init(int arrivals) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        barrier_init(&full[s], 1);
        barrier_init(&empty[s], arrivals);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
  }
  __device__ void copy(int step) {
    const int s = step % stages;
    if (step >= stages) barrier_wait(&empty[s], (step / stages - 1) % 2);
    barrier_expect(&full[s], sizeof bytes[0]);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared_address(bytes[s])), "l"(input + step * sizeof bytes[0]),
                 "r"(static_cast<unsigned>(sizeof bytes[0])), "r"(shared_address(&full[s])) : "memory");
  }
  __device__ void use(float (&d)[16], int step) {
    const int s = step % stages;
    barrier_wait(&full[s], step / stages % 2);
    wgmma_fence();
    multiply<0, 0>(d, matrix_at(bytes[s], 128, 256, 0), matrix_at(bytes[s] + a_bytes, 128, 256, 0), step > 0);
    wgmma_commit();
    wgmma_wait<0>();
  }
};

__device__ void store(const float (&d)[16]) {
  const int thread = threadIdx.x % 128;
  for (int i = 0; i < 16; ++i) result[row_of(thread, i) * 32 + column_of(thread, i)] = d[i];
}

// --- A pipeline ----------------------------------------------------------------------------------------

//@ case: pipeline 160
//@ verdict: terminates
//@ large: a hundred and sixty threads that differ
//@ case: pipeline 288
//@ verdict: terminates
//@ large: two warpgroups
__global__ void pipeline() {
  __shared__ alignas(128) Stages stage;
  const int consumers = blockDim.x / 128;
  stage.init(consumers);
  if (threadIdx.x >= 128 * consumers) {
    if (elect_one())
      for (int step = 0; step < 4; ++step) stage.copy(step);
    return;
  }
  float d[16];
  for (int step = 0; step < 4; ++step) {
    stage.use(d, step);
    asm volatile("bar.sync %0, 128;" ::"r"(1 + threadIdx.x / 128) : "memory");
    if (threadIdx.x % 128 == 0) barrier_arrive(&stage.empty[step % stages]);
  }
  store(d);
}

// The stages are not given back: the copying warp waits for ever.
//@ case: keeps-stages 160
//@ verdict: may-hang
//@ finding: livelock
//@ large: a hundred and sixty threads that differ
__global__ void keeps_stages() {
  __shared__ alignas(128) Stages stage;
  stage.init(1);
  if (threadIdx.x >= 128) {
    if (elect_one())
      for (int step = 0; step < 4; ++step) stage.copy(step);
    return;
  }
  float d[16];
  for (int step = 0; step < 4; ++step) stage.use(d, step);
  store(d);
}

// --- A part of a warpgroup -----------------------------------------------------------------------------

// Only one warp multiplies; or all but one, which is late.
//@ case: one-warp 128
//@ verdict: defect
//@ finding: warpgroup-misuse WARPGROUP
//@ large: threads that differ
__global__ void one_warp() {
  __shared__ alignas(128) unsigned char bytes[a_bytes + b_bytes];
  float d[16];
  if (threadIdx.x < 32) {
    wgmma_fence();
    multiply<0, 0>(d, matrix_at(bytes, 128, 256, 0), matrix_at(bytes + a_bytes, 128, 256, 0), false);
    wgmma_commit();
    wgmma_wait<0>();
    store(d);
  }
}
//@ case: half-a-warpgroup 64
//@ verdict: defect
//@ finding: warpgroup-misuse WARPGROUP
//@ large: threads that differ

// --- Waiting in between --------------------------------------------------------------------------------

// A warp of the warpgroup comes when another block has said so, which need not start.
//@ case: late-warp 128
//@ verdict: may-hang
//@ finding: starvation
//@ large: threads that differ
//@ case: late-warp cluster 128
//@ verdict: terminates
//@ large: threads that differ
__global__ void late_warp() {
  __shared__ alignas(128) unsigned char bytes[a_bytes + b_bytes];
  Atomic<int>& said = reinterpret_cast<Atomic<int>&>(flag);
  if (blockIdx.x == 1) {
    if (threadIdx.x == 0) said.store(1, memory_order_release);
    return;
  }
  if (threadIdx.x == 64)
    while (said.load(memory_order_acquire) == 0) {
    }
  __syncwarp();
  float d[16];
  wgmma_fence();
  multiply<0, 0>(d, matrix_at(bytes, 128, 256, 0), matrix_at(bytes + a_bytes, 128, 256, 0), false);
  wgmma_commit();
  wgmma_wait<0>();
  store(d);
}

/// n threads in each of so many blocks, which make up a cluster if the shape says so.
int blocks_of(Setup setup, void (*kernel)(), int blocks) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = setup.n;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = setup.shape == Shape::Cluster ? blocks : 1;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  if (cudaLaunchKernelEx(&config, kernel) != cudaSuccess) return 3;
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"pipeline", [](Setup s) { return blocks_of(s, pipeline, 1); }},
      {"keeps-stages", [](Setup s) { return blocks_of(s, keeps_stages, 1); }},
      {"one-warp", [](Setup s) { return blocks_of(s, one_warp, 1); }},
      {"half-a-warpgroup", [](Setup s) { return blocks_of(s, one_warp, 1); }},
      {"late-warp", [](Setup s) { return blocks_of(s, late_warp, 2); }},
  });
}
