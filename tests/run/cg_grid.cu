// Grid-wide barriers in cooperative launches: phases over a whole array, a reduction, results of other blocks.
//@ exercises: cudaLaunchCooperativeKernel, grid_group::sync, barrier_arrive/wait, grid ranks, refusal of a grid that is too large, occupancy for it
#include "support.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void phases(int* data, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  int* from = data;
  int* to = data + n;
  for (int round = 0; round < rounds; ++round) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) {
      to[i] = from[(i + 1) % n] + from[(i + n - 1) % n] - from[i];
    }
    grid.sync();
    int* swap = from;
    from = to;
    to = swap;
  }
}

__global__ void reduce(const int* in, int n, long long* partial, long long* out) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  __shared__ long long sums[64];
  long long sum = 0;
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.num_threads()) {
    sum += in[i];
  }
  sums[block.thread_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    sum = 0;
    for (unsigned i = 0; i < block.size(); ++i) {
      sum += sums[i];
    }
    partial[grid.block_rank()] = sum;
  }
  grid.sync();
  // Every block adds up all partial sums and must find the same.
  if (block.thread_rank() == 0) {
    sum = 0;
    for (unsigned i = 0; i < grid.num_blocks(); ++i) {
      sum += partial[i];
    }
    out[grid.block_rank()] = sum;
  }
}

__global__ void split_barrier(int* flags, int* out) {
  auto grid = cg::this_grid();
  if (threadIdx.x == 0) {
    flags[grid.block_rank()] = static_cast<int>(grid.block_rank()) + 1;
  }
  auto token = grid.barrier_arrive();
  int own = static_cast<int>(grid.block_index().x * 2); // independent work
  grid.barrier_wait(std::move(token));
  if (threadIdx.x == 0) {
    out[grid.block_rank()] = flags[(grid.block_rank() + 1) % grid.num_blocks()] * 100 + own + grid.is_valid();
  }
}

template <class... Args> void launch(void (*kernel)(Args...), dim3 grid, dim3 block, Args... arguments) {
  void* pointers[] = {&arguments...};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), grid, block, pointers, 0, nullptr));
  SYNC_OK();
}

int main() {
  int supported = 0;
  CUDA_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  std::printf("supported %d\n", supported);
  constexpr int n = 1000;
  std::vector<int> values(2 * n), expected(n), next(n);
  for (int i = 0; i < n; ++i) {
    values[i] = expected[i] = i * 17 % 23;
  }
  Buffer<int> data(values);
  launch(phases, dim3(7), dim3(64), data.data(), n, 6);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < n; ++i) {
      next[i] = expected[(i + 1) % n] + expected[(i + n - 1) % n] - expected[i];
    }
    expected = next;
  }
  auto result = data.get();
  result.resize(n);
  EXPECT(result == expected);
  std::printf("phases %d %016llx\n", result[500], static_cast<unsigned long long>(digest(result)));

  Buffer<long long> partial(10), sums(10);
  launch(reduce, dim3(5, 2), dim3(64), static_cast<const int*>(data.data()), n, partial.data(), sums.data());
  std::printf("reduce %lld %lld\n", sums.get()[0], sums.get()[9]);

  Buffer<int> flags(6), out(6);
  launch(split_barrier, dim3(6), dim3(40), flags.data(), out.data());
  for (int value : out.get()) {
    std::printf("%d ", value);
  }
  std::printf("\n");

  // All blocks must be resident at once: a grid that cannot be is refused.
  int *pf = flags, *po = out;
  void* arguments[] = {&pf, &po};
  cudaError_t refused =
      cudaLaunchCooperativeKernel(reinterpret_cast<void*>(split_barrier), dim3(1000000), dim3(1024), arguments, 0, nullptr);
  std::printf("too large: %s\n", cudaGetErrorName(refused));
  (void)cudaGetLastError();
}
