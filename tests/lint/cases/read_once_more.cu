// lint-options: --arch=sm_90 -- -std=c++17
// Still more of what was reported in packages and is right there, with twins that are wrong.
#include <cassert>
constexpr unsigned full = 0xffffffffu;
// --- Of an object that is copied as a whole, one member changes
struct Match {
  unsigned bin, above, equal;
};
__global__ void other_member_changes(unsigned remain, unsigned* out) {
  __shared__ Match match;
  for (int r = 0; r < 4; ++r) {
    if (threadIdx.x == remain) match = {threadIdx.x, 1, remain};
    __syncthreads();
    const Match now = match;
    if (threadIdx.x > now.bin) out[atomicAdd(&match.equal, -1u)] = 1;
    remain -= now.above;
    if (remain == 0) break;
    __syncthreads();
  }
}
__global__ void same_member_changes_bad(unsigned remain, unsigned* out) {
  __shared__ Match match;
  for (int r = 0; r < 4; ++r) {
    if (threadIdx.x == remain) match = {threadIdx.x, 1, remain};
    __syncthreads();
    const Match now = match;
    if (threadIdx.x > now.bin) out[atomicAdd(&match.above, -1u)] = 1;
    remain -= now.above;
    if (remain == 0) break; // expect: potentially_thread_synchronization_bypassed
    __syncthreads();
  }
}
__global__ void whole_object_changes_bad(unsigned remain, unsigned* out) {
  __shared__ Match match;
  for (int r = 0; r < 4; ++r) {
    const Match now = match;
    if (threadIdx.x == remain) match = {threadIdx.x, 1, remain};
    remain -= now.above;
    if (remain == 0) break; // expect: potentially_thread_synchronization_bypassed
    __syncthreads();
  }
}
__global__ void other_lane_of_vector(float4* rows, float* out) {
  __shared__ float4 row;
  if (threadIdx.x == 0) row = rows[blockIdx.x];
  __syncthreads();
  const float4 now = row;
  if (threadIdx.x == 1) row.w = 0;
  if (now.x > 0) __syncthreads();
  out[threadIdx.x] = now.y;
}
__global__ void same_lane_of_vector_bad(float4* rows, float* out) {
  __shared__ float4 row;
  if (threadIdx.x == 0) row = rows[blockIdx.x];
  __syncthreads();
  const float4 now = row;
  if (threadIdx.x == 1) row.x = 0;
  if (now.x > 0) __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  out[threadIdx.x] = now.y;
}
// --- What assertions say of a size, also of a parameter of a template that nothing instantiates
template <int size> __global__ void asserted_size(float* p) {
  static_assert(size % (2 * 32) == 0, "whole warps");
  const int tid = 32 * threadIdx.y + threadIdx.x;
  if (128 <= size || tid < size) p[tid] = __shfl_xor_sync(full, p[tid], 1);
  p[0] = 1;
}
template <int size> __global__ void asserted_half_bad(float* p) {
  static_assert(size % 16 == 0, "half warps");
  const int tid = 32 * threadIdx.y + threadIdx.x;
  if (128 <= size || tid < size) p[tid] = __shfl_xor_sync(full, p[tid], 1); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
__global__ void asserted_at_run_time(float* p, int n) {
  assert((n & 31) == 0 && n > 0);
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += __shfl_xor_sync(full, p[i], 1);
  p[0] = 1;
}
__global__ void asserts_something_else_bad(float* p, int n) {
  assert(n % 32 != 0);
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += __shfl_xor_sync(full, p[i], 1); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
// --- Groups of lanes that take a branch alike, by a quotient that is computed with a product
template <int width> __device__ void quotient(int& x, int& y, unsigned i) {
  if ((width & (width - 1)) && width <= 256)
    y = (i * ((1 << 24) / width + 1)) >> 24;
  else
    y = i / width;
  x = i - y * width;
}
template <int width, int height> __global__ void groups_by_quotient(float* p, int limit, int rows) {
  unsigned mask = 15u << (threadIdx.x % 32 / 4 * 4);
  for (int i = threadIdx.x; i < width * height; i += blockDim.x) {
    int x, y;
    quotient<width>(x, y, i);
    if ((x + limit) >> 2 < rows && y * 2 < limit) p[i] += __shfl_xor_sync(mask, p[i], 1);
  }
  p[0] = 1;
}
template <int width, int height> __global__ void groups_of_two_bad(float* p, int limit, int rows) {
  unsigned mask = 15u << (threadIdx.x % 32 / 4 * 4);
  for (int i = threadIdx.x; i < width * 2 * height; i += blockDim.x) {
    int x, y;
    quotient<width>(x, y, i);
    if ((x + limit) >> 2 < rows && y * 2 < limit) p[i] += __shfl_xor_sync(mask, p[i], 1); // expect: potentially_inactive_thread_in_mask
  }
  p[0] = 1;
}
template __global__ void groups_by_quotient<12, 7>(float*, int, int);
template __global__ void groups_by_quotient<64, 7>(float*, int, int);
template __global__ void groups_of_two_bad<14, 6>(float*, int, int);
template <int width, int height> __global__ void groups_in_template(float* p, int limit, int rows) {
  unsigned mask = 15u << (threadIdx.x % 32 / 4 * 4);
  for (int i = threadIdx.x; i < width * height; i += blockDim.x) {
    int x, y;
    quotient<width>(x, y, i);
    if ((x + limit) >> 2 < rows && y * 2 < limit) p[i] += __shfl_xor_sync(mask, p[i], 1);
  }
  p[0] = 1;
}
template <int width> __global__ void pairs_in_template_bad(float* p, int limit) {
  unsigned mask = 15u << (threadIdx.x % 32 / 4 * 4);
  int y = threadIdx.x / 2;
  if (y * width < limit) p[y] += __shfl_xor_sync(mask, p[y], 1); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
// --- Two halves of a table, and which of them is in use stands in the table
__global__ void advances_other_half(unsigned* table, int rows, int lookup, float* out) {
  int row = blockIdx.x, half = 0;
  unsigned count = 0;
  if (row >= rows) return;
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    half = table[1];
    count = table[4 + row];
  }
  if (lookup) {
    int now = table[1];
    int used = table[4 + row] - table[4 + rows + now * rows + row];
    if (used <= 16) {
      out[threadIdx.x] = used;
      __syncthreads();
    }
  }
  if (blockIdx.y == 0 && threadIdx.x == 0) *(reinterpret_cast<unsigned*>(table + (4 + rows + (1 - half) * rows + row)) + 0) = count;
}
__global__ void advances_same_half_bad(unsigned* table, int rows, int lookup, float* out) {
  int row = blockIdx.x, half = 0;
  unsigned count = 0;
  if (row >= rows) return;
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    half = table[1];
    count = table[4 + row];
  }
  if (lookup) {
    int now = table[1];
    int used = table[4 + row] - table[4 + rows + now * rows + row];
    if (used <= 16) {
      out[threadIdx.x] = used;
      __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    }
  }
  if (blockIdx.y == 0 && threadIdx.x == 0) *(reinterpret_cast<unsigned*>(table + (4 + rows + half * rows + row)) + 0) = count;
}
__global__ void pops_same_entry_bad(int* stack, int* out) {
  if (stack[stack[0]] > 0) __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  if (threadIdx.x == 0) stack[stack[0]] = 0;
  out[threadIdx.x] = 1;
}
__global__ void marks_another_entry(int* marks, const int* order, int* out) {
  if (marks[order[blockIdx.x]] > 0) __syncthreads();
  if (threadIdx.x == 0) marks[order[blockIdx.x + 1]] = 1;
  out[threadIdx.x] = 1;
}
__global__ void marks_same_entry_bad(int* marks, const int* order, int* out) {
  if (marks[order[blockIdx.x]] > 0) __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  if (threadIdx.x == 0) marks[order[blockIdx.x]] = 1;
  out[threadIdx.x] = 1;
}
// --- The largest number of a warp, by a conditional operator or an if
__global__ void largest_by_operator(int* p) {
  int most = p[threadIdx.x];
  int other = __shfl_xor_sync(full, most, 16);
  most = most > other ? most : other;
  other = __shfl_xor_sync(full, most, 8);
  most = most > other ? most : other;
  if (most > 0) p[threadIdx.x] = __shfl_xor_sync(full, most, 1);
  p[0] = 1;
}
__global__ void largest_by_if(int* p) {
  int most = p[threadIdx.x];
  int first = __shfl_xor_sync(full, most, 16);
  if (first > most) most = first;
  int second = __shfl_xor_sync(full, most, 8);
  if (second > most) most = second;
  if (most > 0) p[threadIdx.x] = __shfl_xor_sync(full, most, 1);
  p[0] = 1;
}
__global__ void larger_of_two_others_bad(int* p) {
  int most = p[threadIdx.x];
  int other = __shfl_xor_sync(full, p[threadIdx.x + 1], 16);
  most = most > other ? most : other;
  if (most > 0) p[threadIdx.x] = __shfl_xor_sync(full, most, 1); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
__global__ void chosen_by_another_bad(int* p) {
  int most = p[threadIdx.x];
  int other = __shfl_xor_sync(full, most, 16);
  most = most > threadIdx.x ? most : other;
  if (most > 0) p[threadIdx.x] = __shfl_xor_sync(full, most, 1); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
