// Quotients and remainders of a thread's index have bounds of their own. With twins.
template <int Columns> __global__ void __launch_bounds__(128) columns_by_lanes(float* out, int rows) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned column = blockIdx.x * 32 + lane; column < Columns; column += 4 * 32) {
    for (int row = warp; row < rows; row += 4) out[row * Columns + column] += 1;
    __syncthreads();
  }
}
template __global__ void columns_by_lanes<1024>(float*, int);
template <int Columns> __global__ void __launch_bounds__(128) columns_that_do_not_fit_bad(float* out) {
  unsigned lane = threadIdx.x % 32;
  for (unsigned column = blockIdx.x * 32 + lane; column < Columns; column += 4 * 32) {
    out[column] += 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
template __global__ void columns_that_do_not_fit_bad<1000>(float*);
// The warps of a row are all warps of the block.
template <int WarpsOfRow> __global__ void __launch_bounds__(128) rows_of_warps(float* out, int rows) {
  int warp = threadIdx.x / 32, row_of_block = warp / WarpsOfRow;
  for (int row = blockIdx.x + row_of_block; row < rows; row += gridDim.x) {
    out[row * 128 + threadIdx.x] += 1;
    __syncthreads();
  }
}
template __global__ void rows_of_warps<4>(float*, int);
template <int WarpsOfRow> __global__ void __launch_bounds__(128) two_rows_bad(float* out, int rows) {
  int warp = threadIdx.x / 32, row_of_block = warp / WarpsOfRow;
  for (int row = blockIdx.x * 2 + row_of_block; row < rows; row += gridDim.x * 2) {
    out[row * 64 + threadIdx.x] += 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
template __global__ void two_rows_bad<2>(float*, int);
__global__ void __launch_bounds__(256) within_bounds(float* out) {
  if (threadIdx.x >> 5 < 8) __syncthreads();
  if ((threadIdx.x & 63) >= 64) return;
  if ((threadIdx.x & 63) == 64) __syncthreads();
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void __launch_bounds__(256) within_bounds_bad(float* out) {
  if (threadIdx.x >> 5 < 7) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if ((threadIdx.x & 63) == 63) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  out[threadIdx.x] = 1;
}
// --- The stride is a parameter of the template: where it is named it is the same value
template <int num_threads>
__device__ void in_strides(int thread, int* p, int n) {
  const int rounds = (n + num_threads - 1) / num_threads;
  for (int j = thread; j < rounds * num_threads; j += num_threads) {
    p[j] = 1;
    __syncthreads();
    p[j] += 3;
  }
  p[0] = 2;
}
template <int elements> __device__ void in_strides_of_a_template(int* p) {
  in_strides<256>(threadIdx.x, p, elements);
  p[0] = 1;
}
template <int num_threads, int others>
__device__ void in_other_strides(int thread, int* p, int n) {
  const int rounds = (n + others - 1) / others;
  for (int j = thread; j < rounds * others; j += num_threads) {
    p[j] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    p[j] += 3;
  }
  p[0] = 2;
}
template <int elements> __device__ void in_other_strides_bad(int* p) {
  in_other_strides<256, 128>(threadIdx.x, p, elements);
  p[0] = 1;
}
