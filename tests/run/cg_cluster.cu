// Thread block clusters: ranks, cluster barriers, distributed shared memory, launched by attribute and by compile-time dimensions.
//@ exercises: [BAR-CLUSTER]: cudaLaunchKernelEx with cudaLaunchAttributeClusterDimension, __cluster_dims__, cluster.sync, map_shared_rank, query_shared_rank, atomics on another block's shared memory, barrier.cluster.arrive/wait
#include "support.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void facts(int* out) {
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    int* row = out + (blockIdx.y * gridDim.x + blockIdx.x) * 8;
    row[0] = static_cast<int>(cluster.block_rank());
    row[1] = static_cast<int>(cluster.num_blocks());
    row[2] = static_cast<int>(cluster.num_threads());
    row[3] = static_cast<int>(cluster.block_index().x * 10 + cluster.block_index().y);
    row[4] = static_cast<int>(cluster.dim_blocks().x * 10 + cluster.dim_blocks().y);
    unsigned id, count;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
    row[5] = static_cast<int>(id);
    row[6] = static_cast<int>(count);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(id));
    row[7] = static_cast<int>(id);
  }
}

__global__ void __cluster_dims__(4, 1, 1) ring(int* out) {
  __shared__ int data[32];
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
  data[threadIdx.x] = static_cast<int>(blockIdx.x * 1000 + threadIdx.x);
  cluster.sync();
  // Read the neighbour's shared memory, then write into the one after it.
  int* right = cluster.map_shared_rank(data, (rank + 1) % size);
  int value = right[31 - threadIdx.x];
  cluster.sync();
  int* opposite = cluster.map_shared_rank(data, (rank + 2) % size);
  opposite[threadIdx.x] = value;
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = data[threadIdx.x];
  if (threadIdx.x == 0 && cluster.query_shared_rank(right) != (rank + 1) % size) {
    out[blockIdx.x * 32] = -1;
  }
  cluster.sync(); // nobody leaves while its memory may be in use
}

__global__ void histogram(const int* in, int n, int* out, int bins) {
  // The bins are spread over the blocks of the cluster.
  extern __shared__ int local[];
  auto cluster = cg::this_cluster();
  int per_block = bins / static_cast<int>(cluster.num_blocks());
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) {
    local[i] = 0;
  }
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = in[i];
    atomicAdd(cluster.map_shared_rank(local, bin / per_block) + bin % per_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) {
    atomicAdd(&out[cluster.block_rank() * per_block + i], local[i]);
  }
}

__global__ void __cluster_dims__(2, 1, 1) split(int* out) {
  __shared__ int value;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    value = static_cast<int>(cluster.block_rank()) * 50 + 7;
  }
  cluster.barrier_arrive();
  int local = static_cast<int>(threadIdx.x) * 2;
  cluster.barrier_wait();
  int other = *cluster.map_shared_rank(&value, cluster.block_rank() ^ 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = other * 1000 + local;
  cluster.sync();
}

template <class... Args> cudaError_t launch(void (*kernel)(Args...), dim3 grid, dim3 block, dim3 shape, unsigned shared, Args... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = shape.x;
  attribute.val.clusterDim.y = shape.y;
  attribute.val.clusterDim.z = shape.z;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

int main() {
  Buffer<int> out(8 * 16);
  CUDA_OK(launch(facts, dim3(4, 4), dim3(32), dim3(2, 4), 0, out.data()));
  SYNC_OK();
  auto result = out.get();
  for (int block : {0, 5, 15}) {
    for (int k = 0; k < 8; ++k) {
      std::printf("%d ", result[block * 8 + k]);
    }
    std::printf("\n");
  }
  facts<<<2, 32>>>(out); // without an attribute a block is a cluster of its own
  SYNC_OK();
  result = out.get();
  std::printf("plain: %d %d %d\n", result[8], result[9], result[10]);
  std::printf("not divisible: %s\n", cudaGetErrorName(launch(facts, dim3(5), dim3(32), dim3(2), 0, out.data())));
  (void)cudaGetLastError();

  Buffer<int> ring_out(8 * 32);
  ring<<<8, 32>>>(ring_out);
  SYNC_OK();
  std::printf("ring %d %d %d %016llx\n", ring_out.get()[0], ring_out.get()[33], ring_out.get()[255],
              static_cast<unsigned long long>(digest(ring_out.get())));

  constexpr int n = 5000, bins = 256;
  std::vector<int> values(n), expected(bins);
  Lcg random{8};
  for (int& value : values) {
    value = static_cast<int>(random.next() % bins);
    ++expected[value];
  }
  Buffer<int> in(values), counts(bins);
  CUDA_OK(launch(histogram, dim3(8), dim3(64), dim3(4), bins / 4 * sizeof(int), static_cast<const int*>(in.data()), n, counts.data(), bins));
  SYNC_OK();
  EXPECT(counts.get() == expected);
  std::printf("histogram %016llx\n", static_cast<unsigned long long>(digest(counts.get())));

  Buffer<int> halves(4 * 32);
  split<<<4, 32>>>(halves);
  SYNC_OK();
  std::printf("split %d %d %d\n", halves.get()[0], halves.get()[40], halves.get()[127]);
}
