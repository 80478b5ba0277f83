// wgmma and copies of tensors: who reads and writes shared memory until somebody has waited
// (spec/races.md: [RACE-ASYNC]).
//@ nvcc: -gencode=arch=compute_90a,code=[sm_90a,compute_90a]
#include "../support/warpgroup.h"
#include "cases.h"

constexpr int a_bytes = 64 * 16 * 2, b_bytes = 32 * 16 * 2, stage_bytes = a_bytes + b_bytes;

__device__ void issue(float (&d)[16], const unsigned char* a, const unsigned char* b) {
  multiply<0, 0>(d, matrix_at(a, 128, 256, 0), matrix_at(b, 128, 256, 0), false);
}
__device__ void keep(const float (&d)[16], float* out) {
  float sum = 0;
  for (float v : d) sum += v;
  out[threadIdx.x] = sum;
}

// The next matrices are written while the warpgroup may still read the last ones.
template <bool right> __global__ void overwritten(float* out) {
  __shared__ alignas(128) unsigned char memory[stage_bytes];
  float d[16];
  wgmma_fence();
  issue(d, memory, memory + a_bytes);
  wgmma_commit();
  wgmma_wait<right ? 0 : 1>();
  __syncthreads();
  memory[threadIdx.x] = 1;
  wgmma_wait<0>();
  keep(d, out);
}
CASE(written_before_the_wait, "multiplication has not been waited for") { overwritten<right><<<1, 128>>>(device_memory<float>(128)); }

// A warp that has waited may write, for it is one multiplication; a warp of another warpgroup has not waited.
template <bool right> __global__ void other_warps(float* out) {
  __shared__ alignas(128) unsigned char memory[stage_bytes];
  float d[16] = {};
  if (threadIdx.x < 128) {
    wgmma_fence();
    issue(d, memory, memory + a_bytes);
    wgmma_commit();
    wgmma_wait<0>();
    memory[threadIdx.x] = 1;
  }
  if (right) __syncthreads();
  if (threadIdx.x >= 128) memory[a_bytes + threadIdx.x] = 1;
  keep(d, out);
}
CASE(other_warps_still_read, "or by other warps only|no barrier lies between") { other_warps<right><<<1, 160>>>(device_memory<float>(160)); }

// What is not committed is not waited for.
template <bool right> __global__ void uncommitted(float* out) {
  __shared__ alignas(128) unsigned char memory[stage_bytes];
  float d[16];
  wgmma_fence();
  issue(d, memory, memory + a_bytes);
  if (right) wgmma_commit();
  wgmma_wait<0>();
  __syncthreads();
  memory[threadIdx.x] = 1;
  keep(d, out);
}
CASE(not_committed, "commit and wait for its group") { uncommitted<right><<<1, 128>>>(device_memory<float>(128)); }

// The threads write the matrices, and no barrier lies between.
template <bool right> __global__ void unfinished(float* out) {
  __shared__ alignas(128) unsigned char memory[stage_bytes];
  for (int i = threadIdx.x; i < stage_bytes; i += 128) memory[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (right) __syncthreads();
  float d[16];
  wgmma_fence();
  issue(d, memory, memory + a_bytes);
  wgmma_commit();
  wgmma_wait<0>();
  keep(d, out);
}
CASE(read_before_the_barrier, "no barrier lies between|or by other warps only") { unfinished<right><<<1, 128>>>(device_memory<float>(128)); }

// A pipeline of two stages: what the copying warp fills again, and what is read, has been waited for.
enum Wrong { none, empty_early, full_not_waited };
template <int wrong> __global__ void pipeline(const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ alignas(128) unsigned char memory[2][stage_bytes];
  __shared__ std::uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 128);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  constexpr int steps = 5;
  if (threadIdx.x >= 128) {
    if (elect_one())
      for (int step = 0; step < steps; ++step) {
        const int s = step % 2;
        if (step > 1) barrier_wait(&empty[s], (step / 2 - 1) % 2);
        barrier_expect(&full[s], stage_bytes);
        load_box(memory[s], &map, 0, step * stage_bytes / 16, &full[s]);
      }
    return;
  }
  float d[16];
  for (int step = 0; step < steps; ++step) {
    const int s = step % 2;
    if (wrong != full_not_waited || step != steps - 1) barrier_wait(&full[s], step / 2 % 2);
    wgmma_fence();
    issue(d, memory[s], memory[s] + a_bytes);
    wgmma_commit();
    const bool again = step + 2 < steps;
    if (wrong == empty_early && again) barrier_arrive(&empty[s]);
    wgmma_wait<0>();
    if (wrong != empty_early && again) barrier_arrive(&empty[s]);
  }
  keep(d, out);
}
template <int wrong> void copied() {
  const __half* data = device_memory<__half>(5 * stage_bytes / 2);
  pipeline<wrong><<<1, 160>>>(map_of(data, 8, 5 * stage_bytes / 16, 8, stage_bytes / 16, CU_TENSOR_MAP_SWIZZLE_NONE), device_memory<float>(128));
}
CASE(stage_given_back_early, "multiplication has not been waited for") { copied<right ? none : empty_early>(); }
CASE(stage_not_waited_for, "(copy|multiplication) has not been waited for") { copied<right ? none : full_not_waited>(); }

// A tile that is copied out must not be changed before it has been read.
template <bool right> __global__ void stored(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) unsigned char memory[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) memory[i] = static_cast<unsigned char>(i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %1}], [%2];"
                 ::"l"(&map), "r"(0), "r"(shared_address(memory)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (right) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
  __syncwarp();
  memory[threadIdx.x] = 0;
}
CASE(tile_changed_while_copied, "copy has not been waited for") {
  stored<right><<<1, 32>>>(map_of(device_memory<__half>(512), 8, 64, 8, 64, CU_TENSOR_MAP_SWIZZLE_NONE));
}
