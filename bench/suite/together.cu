// Programs in which threads work together: atomic updates, warp collectives, cooperative groups, tensor
// cores, textures.
#include "kinds.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <mma.h>

namespace cg = cooperative_groups;

namespace {

__global__ void global_histogram(unsigned* bins, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[static_cast<unsigned>(in[i] * 4096)], 1U);
  }
}
__global__ void compact(unsigned* out, const float* in, unsigned* count, int n) { // the sum of what is kept
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool keep = in[i] > 0.5f;
  const unsigned votes = __ballot_sync(~0U, keep);
  unsigned base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(~0U, base, 0);
  if (keep) out[(base + __popc(votes & ((1U << lane) - 1))) % n] = 1;
}
void compaction(float* out, float* in, int n) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  compact<<<n / threads, threads>>>(reinterpret_cast<unsigned*>(out), in, count, n);
}
__global__ void spmv_vector(float* out, const float* in, int n) { // a warp for each row of 0 to 300
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, count = row * 37 % 300;
  float sum = 0;
  for (int k = lane; k < count; k += 32) sum += in[(row * 11 + k) % n] * in[(k * k * 7 + row) % n];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0U, sum, d);
  if (lane == 0) out[row] = sum;
}
__global__ void block_sums(unsigned* sums, const float* in, int) {
  __shared__ unsigned warps[8];
  const int i = blockIdx.x * threads + threadIdx.x;
  unsigned v = in[i] * 1000;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0U, v, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 8) {
    v = warps[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(0xffU, v, d);
    if (threadIdx.x == 0) sums[blockIdx.x] = v;
  }
}
__global__ void scan_blocks(unsigned* out, const float* in, const unsigned* sums, int) {
  using Scan = cub::BlockScan<unsigned, threads>;
  __shared__ typename Scan::TempStorage storage;
  const int i = blockIdx.x * threads + threadIdx.x;
  unsigned v = in[i] * 1000, before = 0;
  Scan(storage).InclusiveSum(v, v);
  for (unsigned b = blockIdx.x & ~15U; b < blockIdx.x; ++b) before += sums[b];
  out[i] = v + before;
}
void scan(float* out, float* in, int n) {
  unsigned* sums;
  cudaMalloc(&sums, n / threads * 4);
  block_sums<<<n / threads, threads>>>(sums, in, n);
  scan_blocks<<<n / threads, threads>>>(reinterpret_cast<unsigned*>(out), in, sums, n);
}
__global__ void radix_block(unsigned* out, const float* in, int) {
  using Sort = cub::BlockRadixSort<unsigned, threads, 4>;
  __shared__ typename Sort::TempStorage storage;
  unsigned keys[4];
  for (int k = 0; k < 4; ++k) keys[k] = __float_as_uint(in[(blockIdx.x * threads + threadIdx.x) * 4 + k]);
  Sort(storage).Sort(keys);
  for (int k = 0; k < 4; ++k) out[(blockIdx.x * threads + threadIdx.x) * 4 + k] = keys[k];
}
__global__ void normalise(float* out, const float* in, int) { // a block for each row of 1024
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  __shared__ float sums[8], squares[8];
  const float* row = in + blockIdx.x * 1024;
  float sum = 0, square = 0;
  for (int k = threadIdx.x; k < 1024; k += threads) sum += row[k], square += row[k] * row[k];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  square = cg::reduce(warp, square, cg::plus<float>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum, squares[warp.meta_group_rank()] = square;
  block.sync();
  float mean = 0, second = 0;
  for (int w = 0; w < 8; ++w) mean += sums[w] / 1024, second += squares[w] / 1024;
  const float scale = rsqrtf(second - mean * mean + 1e-5f);
  for (int k = threadIdx.x; k < 1024; k += threads) out[blockIdx.x * 1024 + k] = (row[k] - mean) * scale;
}
__global__ void tiles_of_eight(unsigned* out, const float* in, int) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * threads + threadIdx.x;
  unsigned v = in[i] * 100;
  for (int k = 0; k < 4; ++k) {
    v += cg::reduce(tile, v, cg::greater<unsigned>());
    v ^= tile.shfl_up(v, 1) + tile.any(v % 7 == 0) + tile.ballot(v % 3 == 0);
  }
  out[i] = v;
}
__global__ void votes(unsigned* out, const float* in, int) {
  const int i = blockIdx.x * threads + threadIdx.x;
  unsigned v = in[i] * 16, sum = 0;
  for (int k = 0; k < 8; ++k) {
    sum += __match_any_sync(~0U, v) + __reduce_add_sync(~0U, v) + __all_sync(~0U, v > 2) + __any_sync(~0U, v == 3);
    v = v * 5 % 16;
  }
  out[i] = sum;
}
__global__ void extremes(int* out, const float* in, int n) { // atomic minima by compare-and-swap, and maxima
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int key = i * 7 % 1024, v = in[i] * 1e6f;
  int old = out[key];
  while (v > old) {
    const int seen = atomicCAS(&out[key], old, v);
    if (seen == old) break;
    old = seen;
  }
  atomicMax(&out[1024 + key], v);
}
__global__ void centres(float* out, const float* in, unsigned* sums, int n) { // k-means, 16 centres of 2 numbers
  __shared__ unsigned local[16][3];
  if (threadIdx.x < 48) local[threadIdx.x / 3][threadIdx.x % 3] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i], y = in[(i + 1) % n];
  int nearest = 0;
  float least = 1e30f;
  for (int c = 0; c < 16; ++c) {
    const float dx = x - c % 4 * 0.25f, dy = y - c / 4 * 0.25f, d = dx * dx + dy * dy;
    if (d < least) least = d, nearest = c;
  }
  atomicAdd(&local[nearest][0], 1U);
  atomicAdd(&local[nearest][1], static_cast<unsigned>(x * 1000));
  atomicAdd(&local[nearest][2], static_cast<unsigned>(y * 1000));
  __syncthreads();
  if (threadIdx.x < 48) atomicAdd(&sums[threadIdx.x], local[threadIdx.x / 3][threadIdx.x % 3]);
  out[i] = nearest;
}
void clusters(float* out, float* in, int n) {
  unsigned* sums;
  cudaMalloc(&sums, 48 * 4);
  cudaMemset(sums, 0, 48 * 4);
  for (int round = 0; round < 2; ++round) centres<<<n / threads, threads>>>(out, in, sums, n);
  cudaMemcpy(out, sums, 48 * 4, cudaMemcpyDeviceToDevice);
}
__global__ void tensor_product(float* out, const __half* a, int size) { // a warp for 16 by 16
  using namespace nvcuda::wmma;
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / (size / 16) * 16, column = warp % (size / 16) * 16;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0);
  for (int k = 0; k < size; k += 16) {
    load_matrix_sync(fa, a + row * size + k, size);
    load_matrix_sync(fb, a + k * size + column, size);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(out + row * size + column, fc, size, mem_row_major);
}
__global__ void to_half(__half* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __float2half(in[i]);
}
void tensors(float* out, float* in, int n) {
  __half* a;
  cudaMalloc(&a, n * 2);
  to_half<<<n / threads, threads>>>(a, in);
  tensor_product<<<n / 256 * 32 / threads, threads>>>(out, a, 256);
}
__global__ void attention(float* out, const float* in, int) { // a warp for each query, 64 keys of 32 numbers
  const int query = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const float q = in[query * 32 + lane];
  float sum = 0, total = 0, most = -1e30f;
  for (int key = 0; key < 64; ++key) {
    float score = q * in[key * 32 + lane];
    for (int d = 16; d > 0; d /= 2) score += __shfl_xor_sync(~0U, score, d);
    const float higher = fmaxf(most, score), old = expf(most - higher), w = expf(score - higher);
    total = total * old + w;
    sum = sum * old + w * in[key * 32 + (lane + key) % 32];
    most = higher;
  }
  out[query * 32 + lane] = sum / total;
}
__global__ void sample(float* out, cudaTextureObject_t texture, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = i % 512, y = i / 512;
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += tex2D<float>(texture, x * 0.7f + y * 0.2f + k, y * 0.6f - x * 0.1f + 50);
  out[i] = sum;
}
void textures(float* out, float* in, int n) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 512, n / 512);
  cudaMemcpy2DToArray(array, 0, 0, in, 512 * 4, 512 * 4, n / 512, cudaMemcpyDeviceToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  sample<<<n / threads, threads>>>(out, texture, n);
}
__global__ void spread(unsigned* out, const float* in, int n) { // an edge list: scattered atomic additions
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k) atomicAdd(&out[(i * 97u + k * 7919u) % n], static_cast<unsigned>(in[i] * 10));
}
__global__ void steps_of_grid(unsigned* out, int n, int rounds) { // a cooperative grid
  const cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    for (int i = grid.thread_rank(); i < n / 2; i += grid.size()) {
      out[round % 2 * (n / 2) + i] = out[(round + 1) % 2 * (n / 2) + (i + 1) % (n / 2)] * 3 + i;
    }
    grid.sync();
  }
}
void grid_steps(float* out, float*, int n) {
  auto* words = reinterpret_cast<unsigned*>(out);
  int rounds = 8;
  void* arguments[] = {&words, &n, &rounds};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(steps_of_grid), 16, threads, arguments, 0, nullptr);
}
__global__ void last_block(unsigned* out, const float* in, unsigned* ticket, int n) { // fences and a counter
  __shared__ unsigned sums[threads];
  __shared__ bool last;
  unsigned v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i] * 100;
  sums[threadIdx.x] = v;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x + 1] = sums[0];
    __threadfence();
    last = atomicAdd(ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    for (unsigned b = 0; b < gridDim.x; ++b) out[0] += reinterpret_cast<volatile unsigned*>(out)[b + 1];
  }
}
void one_sum(float* out, float* in, int n) {
  unsigned* ticket;
  cudaMalloc(&ticket, 4);
  cudaMemset(ticket, 0, 4);
  last_block<<<128, threads>>>(reinterpret_cast<unsigned*>(out), in, ticket, n);
}
__global__ void locks(unsigned* out, int* lock, int n) { // one thread of a warp at a time takes a lock
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 32 != 0) return;
  while (atomicCAS(&lock[i / 32 % 16], 0, 1) != 0) {}
  __threadfence();
  volatile unsigned* cell = out + i / 32 % 16;
  *cell = *cell + 1;
  __threadfence();
  atomicExch(&lock[i / 32 % 16], 0);
}
void locked(float* out, float*, int n) {
  int* lock;
  cudaMalloc(&lock, 64);
  cudaMemset(lock, 0, 64);
  locks<<<n / threads, threads>>>(reinterpret_cast<unsigned*>(out), lock, n);
}

template <auto kernel> void over(float* out, float* in, int n) { kernel<<<n / threads, threads>>>(out, in, n); }
template <auto kernel> void words(float* out, float* in, int n) {
  kernel<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), in, n);
}

const Kind kinds[] = {
    {"global_histogram", 1 << 20, [](float* out, float* in, int n) {
       global_histogram<<<256, threads>>>(reinterpret_cast<unsigned*>(out), in, n);
     }},
    {"compaction", 1 << 20, compaction},
    {"spmv_vector", 1 << 14, [](float* out, float* in, int n) { spmv_vector<<<n * 32 / threads, threads>>>(out, in, n); }},
    {"scan", 1 << 19, scan},
    {"radix_block", 1 << 16, [](float* out, float* in, int n) {
       radix_block<<<n / 4 / threads, threads>>>(reinterpret_cast<unsigned*>(out), in, n);
     }},
    {"normalise", 1 << 20, [](float* out, float* in, int n) { normalise<<<n / 1024, threads>>>(out, in, n); }},
    {"tiles_of_eight", 1 << 17, words<tiles_of_eight>},
    {"votes", 1 << 17, words<votes>},
    {"extremes", 1 << 18, [](float* out, float* in, int n) {
       extremes<<<n / threads, threads>>>(reinterpret_cast<int*>(out), in, n);
     }},
    {"clusters", 1 << 18, clusters},
    {"tensors", 1 << 16, tensors},
    {"attention", 1 << 17, over<attention>},
    {"textures", 1 << 17, textures},
    {"spread", 1 << 18, words<spread>},
    {"grid_steps", 1 << 17, grid_steps},
    {"one_sum", 1 << 21, one_sum},
    {"locked", 1 << 18, locked},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
