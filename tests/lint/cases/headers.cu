// Headers of the toolkit that programs include: read without errors with Heddle's own declarations.
#include <cuda_runtime.h>
#include <vector_types.h>
#include <vector_functions.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <device_launch_parameters.h>
#include <cuda.h>
#include <curand_kernel.h>
#include <math_constants.h>
#include <cassert>
#include <cstdio>
#include <iostream>
#include <vector>
#include <algorithm>
#include <cmath>
namespace cg = cooperative_groups;
__global__ void everything(int* p, __half* h, float4 v, const half2* q) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, p, p + 1, sizeof(int) * 4, pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  pipe.consumer_release();
  h[threadIdx.x] = __hadd(h[0], __float2half(v.x));
  h[1] = __hmul(h[2], h[3]);
  float f = __half2float(h[0]) + __low2float(q[0]);
  h[4] = h[5] + h[6];
  if (h[4] > h[5]) f += 1;
  p[0] = f + sqrtf(f) + __expf(f) + rsqrtf(f) + fmaf(f, f, f) + __popc(3) + __clz(4) + __ffs(8) + __brev(2) + fmaxf(f, 1.f);
  bar.arrive_and_wait();
  p[1] = __float_as_int(f) + __int_as_float(3) + max(3, p[2]) + abs(p[3]);
  float4 w = make_float4(1, 2, 3, 4);
  p[2] = w.x + __saturatef(f) + __fdividef(f, 2.f) + __mul24(2, 3);
}
int main() {
  int* p;
  std::vector<int> v(3);
  cudaMalloc(&p, 4);
  cudaMemcpy(p, v.data(), 4, cudaMemcpyHostToDevice);
  dim3 g(1), b(32);
  everything<<<g, b>>>(p, nullptr, make_float4(0, 0, 0, 0), nullptr);
  cudaStream_t s; cudaStreamCreate(&s);
  cudaEvent_t e; cudaEventCreate(&e);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) std::cerr << cudaGetErrorString(err);
  cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0);
  printf("%d\n", prop.multiProcessorCount);
}
#include <cuda/std/type_traits>
#include <curand_kernel.h>
#include <mma.h>
__global__ void random_bad(curandState* states, int* out) {
  curandState mine = states[threadIdx.x];
  if (curand_uniform(&mine) > 0.5f) {
    out[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[1] = 1;
}
__global__ void matrices(const half* a, const half* b, float* c, int k) {
  using namespace nvcuda;
  __shared__ float tile[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + i, k);
    wmma::load_matrix_sync(fb, b + i, k);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
  __syncthreads();
  c[threadIdx.x] = tile[threadIdx.x];
}
