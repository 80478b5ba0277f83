// Bitonic sorting: within a block in shared memory, and across blocks with one launch per stage.
//@ exercises: barriers in nested loops, xor addressing, keys with values, negative and equal keys
#include "support.h"

#include <algorithm>
#include <climits>

__global__ void sort_block(int* data) {
  extern __shared__ int keys[];
  unsigned i = threadIdx.x;
  keys[i] = data[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (unsigned size = 2; size <= blockDim.x; size <<= 1) {
    for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
      unsigned partner = i ^ stride;
      if (partner > i) {
        bool ascending = (i & size) == 0;
        if ((keys[i] > keys[partner]) == ascending) {
          int swap = keys[i];
          keys[i] = keys[partner];
          keys[partner] = swap;
        }
      }
      __syncthreads();
    }
  }
  data[blockIdx.x * blockDim.x + i] = keys[i];
}

__global__ void sort_stage(unsigned long long* data, unsigned size, unsigned stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ stride;
  if (partner > i) {
    bool ascending = (i & size) == 0;
    unsigned long long mine = data[i], other = data[partner];
    if ((mine > other) == ascending) {
      data[i] = other;
      data[partner] = mine;
    }
  }
}

int main() {
  {
    constexpr int block = 256, blocks = 4;
    std::vector<int> values(block * blocks);
    Lcg random{9};
    for (auto& value : values) {
      value = static_cast<int>(random.next() % 500) - 250;
    }
    values[3] = INT_MIN;
    values[4] = INT_MAX;
    Buffer<int> data(values);
    sort_block<<<blocks, block, block * sizeof(int)>>>(data);
    SYNC_OK();
    auto result = data.get();
    for (int b = 0; b < blocks; ++b) {
      std::sort(values.begin() + b * block, values.begin() + (b + 1) * block);
    }
    EXPECT(result == values);
    std::printf("blocks: %d %d %d ... %d\n", result[0], result[1], result[2], result[block - 1]);
  }
  {
    constexpr unsigned n = 4096;
    std::vector<unsigned long long> values(n);
    Lcg random{10};
    for (unsigned i = 0; i < n; ++i) {
      values[i] = (static_cast<unsigned long long>(random.next() % 1000) << 32) | i;
    }
    Buffer<unsigned long long> data(values);
    for (unsigned size = 2; size <= n; size <<= 1) {
      for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
        sort_stage<<<n / 256, 256>>>(data, size, stride);
      }
    }
    SYNC_OK();
    auto result = data.get();
    std::sort(values.begin(), values.end());
    EXPECT(result == values);
    std::printf("grid: first %llu value %llu, digest %016llx\n", result[0] >> 32, result[0] & 0xffffffff,
                static_cast<unsigned long long>(digest(result)));
  }
}
