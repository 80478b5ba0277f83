// Plain writes of the same value by several threads: a race by the rules, and what many programs do on purpose. They
// are counted; a read that may see what was there before is a race like any other.
//@ find: same-value
#include "cases.h"

#include <cuda_fp16.h>

template <bool right> __global__ void flag(int* flag) {
  if (!right || (threadIdx.x == 0 && blockIdx.x == 0)) {
    *flag = 1;
  }
}
CASE(flag, "1 pair of places writes the same value at the same time") { flag<right><<<2, 64>>>(device_memory<int>(1)); }

template <bool right> __global__ void shared_flag(int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) {
    found = 0;
  }
  __syncthreads();
  if (threadIdx.x % 2 == 1 && (!right || threadIdx.x == 1)) {
    found = 1;
  }
  __syncthreads();
  out[threadIdx.x] = found;
}
CASE(flag_in_shared_memory, "1 pair of places writes the same value") {
  shared_flag<right><<<1, 64>>>(device_memory<int>(64));
}

// Sixteen bytes at once.
template <bool right> __global__ void wide_flag(ulonglong2* flag, unsigned long long high) {
  if (!right || (threadIdx.x == 0 && blockIdx.x == 0)) {
    asm volatile(
        "{ .reg .b128 both; mov.b128 both, {%1, %2}; st.global.b128 [%0], both; }" ::"l"(flag),
        "l"(1ULL),
        "l"(high)
        : "memory"
    );
  }
}
CASE(wide_flag, "1 pair of places writes the same value at the same time") {
  wide_flag<right><<<2, 64>>>(device_memory<ulonglong2>(1), 7);
}

// Vectors: two and four registers.
template <class T, bool right> __global__ void vector_flag(T* flag, T value) {
  if (!right || (threadIdx.x == 0 && blockIdx.x == 0)) {
    *flag = value;
  }
}
CASE(vector_of_two, "1 pair of places writes the same value at the same time") {
  vector_flag<uint2, right><<<2, 64>>>(device_memory<uint2>(1), make_uint2(3, 4));
}
CASE(vector_of_four, "1 pair of places writes the same value at the same time") {
  vector_flag<uint4, right><<<2, 64>>>(device_memory<uint4>(1), make_uint4(3, 4, 5, 6));
}
CASE(vector_of_bytes, "1 pair of places writes the same value at the same time") {
  vector_flag<uchar4, right><<<2, 64>>>(device_memory<uchar4>(1), make_uchar4(3, 4, 5, 6));
}
CASE(vector_of_doubles, "1 pair of places writes the same value at the same time") {
  vector_flag<double2, right><<<2, 64>>>(device_memory<double2>(1), make_double2(0.5, 7));
}

// Rows of matrices: two warps that hold the same tile store it, as Triton's do where a tile is
// smaller than the block.
template <bool right, bool transposed> __global__ void rows() {
  __shared__ alignas(16) half tile[2][2 * 8 * 8];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto at =
      static_cast<unsigned>(__cvta_generic_to_shared(&tile[right ? warp : 0][lane % 16 * 8]));
  if constexpr (transposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at),
                 "r"(lane),
                 "r"(lane + 100)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at),
                 "r"(lane),
                 "r"(lane + 100)
                 : "memory");
  }
}
CASE(rows_of_matrices, "1 pair of places writes the same value at the same time") {
  rows<right, false><<<1, 64>>>();
}
CASE(rows_of_transposed_matrices, "1 pair of places writes the same value at the same time") {
  rows<right, true><<<1, 64>>>();
}
