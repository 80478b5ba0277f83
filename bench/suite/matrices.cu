// Matrix products by the tensor core, in each of its types: one warp for each tile of the result.
#include "kinds.h"

#include <cuda_bf16.h>
#include <mma.h>

namespace {

using namespace nvcuda;

constexpr int size = 256;

template <class T> __global__ void convert(T* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (std::is_same_v<T, signed char>) {
    out[i] = static_cast<signed char>(static_cast<int>(in[i] * 255) - 128);
  } else {
    out[i] = static_cast<T>(in[i] - 0.5f);
  }
}

/// In: what memory holds; Element: wmma's type; M, N, K: of a tile; Sum: of the result.
template <class In, class Element, class Sum, int M, int N, int K>
__global__ void product(Sum* out, const In* a) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int row = warp / (size / N) * M, column = warp % (size / N) * N;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, Sum(0));
  for (int k = 0; k < size; k += K) {
    wmma::fragment<wmma::matrix_a, M, N, K, Element, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, M, N, K, Element, wmma::col_major> y;
    wmma::load_matrix_sync(x, a + row * size + k, size);
    wmma::load_matrix_sync(y, a + column * size + k, size);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(out + row * size + column, sum, size, wmma::mem_row_major);
}

template <class In, class Element, class Sum, int M, int N, int K> void run(float* out, float* in, int n) {
  In* a;
  Sum* sums;
  cudaMalloc(&a, n * sizeof(In));
  cudaMalloc(&sums, n * sizeof(Sum));
  convert<<<n / threads, threads>>>(a, in);
  product<In, Element, Sum, M, N, K><<<n / (M * N) / 8, 8 * 32>>>(sums, a);
  cudaMemcpy(out, sums, n * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaFree(a);
  cudaFree(sums);
}

const Kind kinds[] = {
    {"tensors_half", size * size, run<__half, __half, float, 16, 16, 16>},
    {"tensors_bfloat", size * size, run<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>},
    {"tensors_tf32", size * size, run<float, wmma::precision::tf32, float, 16, 16, 8>},
    {"tensors_double", size * size, run<double, double, double, 8, 8, 4>},
    {"tensors_bytes", size * size, run<signed char, signed char, int, 16, 16, 16>},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
