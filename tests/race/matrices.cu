// Loads and stores of matrices by a warp (spec/races.md: [RACE]): wmma, ldmatrix, stmatrix.
#include "cases.h"

#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;
using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

constexpr int side = 16, elements = side * side;

/// The first warp fills a matrix, and the second one loads it.
template <bool right> __global__ void loads(float* out) {
  __shared__ half a[elements];
  __shared__ float c[elements];
  if (threadIdx.x < 32) {
    for (int i = threadIdx.x; i < elements; i += 32) {
      a[i] = __float2half(1.f);
    }
  }
  if (right) {
    __syncthreads();
  }
  if (threadIdx.x >= 32) {
    A left;
    B top;
    C sum;
    wmma::fill_fragment(top, __float2half(1.f));
    wmma::fill_fragment(sum, 0.f);
    wmma::load_matrix_sync(left, a, side);
    wmma::mma_sync(sum, left, top, sum);
    wmma::store_matrix_sync(c, sum, side, wmma::mem_row_major);
    __syncwarp();
    out[threadIdx.x] = c[threadIdx.x];
  }
}
CASE(load_of_what_another_warp_writes, "matrices.cu:(.|\n)*read of 2 bytes") {
  loads<right><<<1, 64>>>(device_memory<float>(64));
}

/// Two warps store into one matrix, or each into its own.
template <bool right> __global__ void stores() {
  __shared__ float c[2][elements];
  C sum;
  wmma::fill_fragment(sum, static_cast<float>(threadIdx.x / 32));
  wmma::store_matrix_sync(c[right ? threadIdx.x / 32 : 0], sum, side, wmma::mem_row_major);
}
CASE(stores_of_two_warps, "write of 4 bytes") { stores<right><<<1, 64>>>(); }

/// What a warp has stored is read by its lanes: they need __syncwarp().
template <bool right> __global__ void stored_and_read(float* out) {
  __shared__ float c[elements];
  C sum;
  wmma::fill_fragment(sum, 1.f);
  wmma::store_matrix_sync(c, sum, side, wmma::mem_row_major);
  if (right) {
    __syncwarp();
  }
  out[threadIdx.x] = c[threadIdx.x * 7];
}
CASE(read_of_what_the_warp_has_stored, "RACE-BARRIER(.|\n)*__syncwarp") {
  stored_and_read<right><<<1, 32>>>(device_memory<float>(32));
}

/// Of global memory, by two blocks.
template <bool right> __global__ void of_blocks(float* c) {
  C sum;
  wmma::fill_fragment(sum, static_cast<float>(blockIdx.x));
  wmma::store_matrix_sync(c + (right ? blockIdx.x * elements : 0), sum, side, wmma::mem_row_major);
}
CASE(stores_of_two_blocks, "write of 4 bytes") {
  of_blocks<right><<<2, 32>>>(device_memory<float>(2 * elements));
}

/// A matrix that is used again while another warp still loads it: double buffering has two.
template <bool right> __global__ void pipeline(float* out) {
  __shared__ half a[2][elements];
  C sum;
  wmma::fill_fragment(sum, 0.f);
  for (int round = 0; round < 4; ++round) {
    half* const now = a[right ? round % 2 : 0];
    for (int i = threadIdx.x; i < elements; i += blockDim.x) {
      now[i] = __float2half(static_cast<float>(round));
    }
    __syncthreads();
    A left;
    B top;
    wmma::fill_fragment(top, __float2half(1.f));
    wmma::load_matrix_sync(left, now, side);
    wmma::mma_sync(sum, left, top, sum);
  }
  wmma::store_matrix_sync(out + threadIdx.x / 32 * elements, sum, side, wmma::mem_row_major);
}
CASE(matrix_filled_again, "at the end of the loop body|__syncthreads") {
  pipeline<right><<<1, 64>>>(device_memory<float>(2 * elements));
}

__device__ unsigned row_address(const half* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// Parts that two warps load by ldmatrix and write.
template <bool right> __global__ void ldmatrix(unsigned* out) {
  __shared__ alignas(16) half a[8 * 8 * 2];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    for (int i = lane; i < 64; i += 32) {
      a[i] = __float2half(1.f);
    }
  }
  if (right) {
    __syncthreads();
  }
  if (warp == 1) {
    unsigned d = 0;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(row_address(a + lane % 8 * 8)));
    out[lane] = d;
  }
}
CASE(ldmatrix_of_what_another_warp_writes, "read of 16 bytes") {
  ldmatrix<right><<<1, 64>>>(device_memory<unsigned>(32));
}

template <bool right> __global__ void stmatrix(unsigned* out) {
  __shared__ alignas(16) half a[8 * 8 * 2];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 1) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row_address(a + lane % 8 * 8)), "r"(lane) : "memory");
  }
  if (right) {
    __syncthreads();
  }
  if (warp == 0) {
    out[lane] = reinterpret_cast<unsigned*>(a)[lane];
  }
}
CASE(stmatrix_into_what_another_warp_reads, "write of 16 bytes") {
  stmatrix<right><<<1, 64>>>(device_memory<unsigned>(32));
}

/// Two warps store a tile whose last element differs, or each into its own.
template <bool right> __global__ void stmatrix_twice() {
  __shared__ alignas(16) half a[2][8 * 8];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned value = lane == 31 ? warp << 16 : lane;
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(
                   row_address(a[right ? warp : 0] + lane % 8 * 8)
               ),
               "r"(value)
               : "memory");
}
CASE(stmatrix_of_two_warps, "write of 16 bytes races with another write") {
  stmatrix_twice<right><<<1, 64>>>();
}
