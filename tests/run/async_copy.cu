// Asynchronous copies from global to shared memory: barriers, pipelines with stages, the primitive interface.
//@ exercises: cuda::memcpy_async with cuda::barrier and cuda::pipeline, cp.async of 4, 8 and 16 bytes, aligned_size_t, __pipeline_memcpy_async with zero fill, producer and consumer roles
#include "support.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__global__ void with_barrier(const int* in, int* out, int n) {
  extern __shared__ int staged[];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&barrier, block.size());
  }
  block.sync();
  cuda::memcpy_async(block, staged, in, sizeof(int) * n, barrier);
  barrier.arrive_and_wait();
  int sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    sum += staged[(i * 7) % n];
  }
  out[threadIdx.x] = sum;
  barrier.arrive_and_wait();
  // Each thread copies an element of its own, with arrival split from waiting.
  cuda::memcpy_async(&staged[threadIdx.x], &in[n - 1 - threadIdx.x], sizeof(int), barrier);
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  out[threadIdx.x] = out[threadIdx.x] * 3 + staged[(threadIdx.x + 1) % blockDim.x];
}

template <int stages> __global__ void with_pipeline(const int4* in, int* out, int parts) {
  __shared__ int4 buffer[stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0, fetched = 0;
  for (int part = 0; part < parts; ++part) {
    for (; fetched < parts && fetched < part + stages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], in + fetched * 64, cuda::aligned_size_t<16>(64 * sizeof(int4)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    int4 value = buffer[part % stages][63 - threadIdx.x];
    sum = sum * 5 + value.x + value.y * 2 + value.z * 3 + value.w * 4;
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void with_roles(const int* in, int* out, int parts) {
  // The first warp only copies, the second only computes.
  __shared__ int buffer[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  int lane = threadIdx.x % 32, sum = 0;
  for (int part = 0; part < parts; ++part) {
    if (role == cuda::pipeline_role::producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&buffer[part % 2][lane], in + part * 32 + lane, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum = sum * 3 + buffer[part % 2][31 - lane];
      pipe.consumer_release();
    }
  }
  if (threadIdx.x >= 32) {
    out[lane] = sum;
  }
}

__global__ void per_thread(const double* in, double* out) {
  __shared__ double staged[4][64];
  auto pipe = cuda::make_pipeline(); // private to the thread
  for (int i = 0; i < 4; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&staged[i][threadIdx.x], &in[i * 64 + threadIdx.x], sizeof(double), pipe);
    pipe.producer_commit();
  }
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    pipe.consumer_wait();
    sum = sum * 2 + staged[i][threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void primitives(const char* in, int* out) {
  __shared__ alignas(16) char staged[3][64 * 16];
  char* mine = staged[0] + threadIdx.x * 16;
  __pipeline_memcpy_async(mine, in + threadIdx.x * 16, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(staged[1] + threadIdx.x * 8, in + 8 * (63 - threadIdx.x), 8);
  __pipeline_commit();
  __pipeline_memcpy_async(staged[2] + threadIdx.x * 16, in + threadIdx.x * 16, 16, threadIdx.x % 17); // tail filled with zeros
  __pipeline_commit();
  __pipeline_wait_prior(2);
  int sum = mine[3];
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = 0; i < 16; ++i) {
    sum = sum * 3 + staged[0][((threadIdx.x + 1) % 64) * 16 + i] + staged[1][((threadIdx.x + 5) % 64) * 8 + i % 8] +
          staged[2][threadIdx.x * 16 + i];
  }
  out[threadIdx.x] = sum;
}

int main() {
  constexpr int n = 4096;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) {
    values[i] = i * 31 % 1009;
  }
  Buffer<int> in(values), out(128);
  auto show = [&](const char* name) {
    SYNC_OK();
    auto result = out.get();
    std::printf("%s %d %d %016llx\n", name, result[0], result[31], static_cast<unsigned long long>(digest(result)));
    out.clear();
  };
  with_barrier<<<1, 128, 1000 * sizeof(int)>>>(in, out, 1000);
  show("barrier");
  with_pipeline<1><<<1, 64>>>(reinterpret_cast<const int4*>(in.data()), out, 10);
  show("pipeline of 1");
  with_pipeline<2><<<1, 64>>>(reinterpret_cast<const int4*>(in.data()), out, 10);
  show("pipeline of 2");
  with_pipeline<4><<<1, 64>>>(reinterpret_cast<const int4*>(in.data()), out, 10);
  show("pipeline of 4");
  with_roles<<<1, 64>>>(in, out, 12);
  show("roles");
  primitives<<<1, 64>>>(reinterpret_cast<const char*>(in.data()), out);
  show("primitives");

  std::vector<double> wide(256);
  for (int i = 0; i < 256; ++i) {
    wide[i] = i * 0.5;
  }
  Buffer<double> wide_in(wide), wide_out(64);
  per_thread<<<1, 64>>>(wide_in, wide_out);
  SYNC_OK();
  std::printf("per thread %g %g\n", wide_out.get()[0], wide_out.get()[63]);
}
