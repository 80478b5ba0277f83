// CUB's device-wide sorts: radix (onesweep and its block-level variants), pairs, segments, merge.
//@ exercises: cub::DeviceRadixSort keys/pairs/descending/bit range/float keys, DoubleBuffer, DeviceSegmentedSort, DeviceMergeSort
#include "support.h"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <algorithm>

#define WITH_STORAGE(call)               \
  do {                                   \
    std::size_t size = 0;                \
    void* storage = nullptr;             \
    CUDA_OK(call);                       \
    CUDA_OK(cudaMalloc(&storage, size)); \
    CUDA_OK(call);                       \
    CUDA_OK(cudaDeviceSynchronize());    \
    CUDA_OK(cudaFree(storage));          \
  } while (0)

struct Less {
  __device__ bool operator()(const short2& a, const short2& b) const { return a.x != b.x ? a.x < b.x : a.y > b.y; }
};

int main() {
  for (int n : {1, 1000, 12000}) {
    std::vector<unsigned> keys(n);
    std::vector<int> values(n);
    Lcg random{static_cast<std::uint64_t>(n)};
    for (int i = 0; i < n; ++i) {
      keys[i] = random.next() * 2654435761u;
      values[i] = i;
    }
    Buffer<unsigned> in(keys), out(n);
    Buffer<int> values_in(values), values_out(n);
    WITH_STORAGE(cub::DeviceRadixSort::SortPairs(storage, size, in.data(), out.data(), values_in.data(), values_out.data(), n));
    auto sorted = out.get();
    auto order = values_out.get();
    for (int i = 0; i < n; ++i) {
      EXPECT(keys[order[i]] == sorted[i]);
      EXPECT(i == 0 || sorted[i - 1] <= sorted[i]);
    }
    std::printf("pairs %d %016llx %016llx\n", n, static_cast<unsigned long long>(digest(sorted)), static_cast<unsigned long long>(digest(order)));
  }
  {
    constexpr int n = 3000;
    std::vector<float> keys(n);
    Lcg random{2};
    for (float& key : keys) {
      key = (static_cast<float>(random.next() % 20000) - 10000) * 0.125f;
    }
    Buffer<float> a(keys), b(n);
    cub::DoubleBuffer<float> buffers(a.data(), b.data());
    WITH_STORAGE(cub::DeviceRadixSort::SortKeysDescending(storage, size, buffers, n));
    std::vector<float> sorted(n);
    CUDA_OK(cudaMemcpy(sorted.data(), buffers.Current(), n * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(std::is_sorted(sorted.rbegin(), sorted.rend()));
    std::printf("descending %g %g\n", sorted[0], sorted[n - 1]);
  }
  {
    constexpr int n = 2000;
    std::vector<short2> items(n);
    Lcg random{3};
    for (auto& item : items) {
      item = make_short2(static_cast<short>(random.next() % 50), static_cast<short>(random.next() % 100));
    }
    Buffer<short2> data(items);
    WITH_STORAGE(cub::DeviceMergeSort::SortKeys(storage, size, data.data(), n, Less()));
    std::printf("merge %016llx\n", static_cast<unsigned long long>(digest(data.get())));
  }
  {
    constexpr int n = 2000;
    std::vector<int> keys(n);
    Lcg random{4};
    for (int& key : keys) {
      key = static_cast<int>(random.next() % 1000) - 500;
    }
    Buffer<int> in(keys), out(n), offsets(std::vector<int>{0, 3, 50, 50, 900, n});
    WITH_STORAGE(cub::DeviceSegmentedSort::SortKeys(storage, size, in.data(), out.data(), n, 5, offsets.data(), offsets.data() + 1));
    std::printf("segments %016llx\n", static_cast<unsigned long long>(digest(out.get())));
  }
}
