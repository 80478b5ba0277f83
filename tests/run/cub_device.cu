// CUB's device-wide algorithms other than sorting, with their temporary storage protocol. DeviceScan and DeviceSelect use decoupled look-back.
//@ exercises: cub::DeviceReduce/Scan/Select/Partition/Histogram/RunLengthEncode/SegmentedReduce/ReduceByKey, custom operators, iterators
#include "support.h"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>

/// The two-call protocol: first the size of the temporary storage, then the work.
#define WITH_STORAGE(call)                                  \
  do {                                                      \
    std::size_t size = 0;                                   \
    void* storage = nullptr;                                \
    CUDA_OK(call);                                          \
    CUDA_OK(cudaMalloc(&storage, size));                    \
    CUDA_OK(call);                                          \
    CUDA_OK(cudaDeviceSynchronize());                       \
    CUDA_OK(cudaFree(storage));                             \
  } while (0)

struct IsSmall {
  __host__ __device__ bool operator()(int value) const { return value < 300; }
};

int main() {
  constexpr int n = 20000;
  std::vector<int> values(n);
  Lcg random{17};
  long long sum = 0;
  for (int& value : values) {
    value = static_cast<int>(random.next() % 1000);
    sum += value;
  }
  Buffer<int> in(values), out(n), count(1);

  WITH_STORAGE(cub::DeviceReduce::Sum(storage, size, in.data(), out.data(), n));
  std::printf("sum %d\n", out.get()[0]);
  EXPECT(out.get()[0] == sum);
  WITH_STORAGE(cub::DeviceReduce::Max(storage, size, in.data(), out.data(), n));
  std::printf("max %d\n", out.get()[0]);

  WITH_STORAGE(cub::DeviceScan::InclusiveSum(storage, size, in.data(), out.data(), n));
  auto scanned = out.get();
  long long running = 0;
  for (int i = 0; i < n; ++i) {
    running += values[i];
    EXPECT(scanned[i] == running);
  }
  std::printf("scan %d %016llx\n", scanned[n / 2], static_cast<unsigned long long>(digest(scanned)));
  WITH_STORAGE(cub::DeviceScan::ExclusiveSum(storage, size, in.data(), out.data(), n));
  std::printf("exclusive %016llx\n", static_cast<unsigned long long>(digest(out.get())));

  WITH_STORAGE(cub::DeviceSelect::If(storage, size, in.data(), out.data(), count.data(), n, IsSmall()));
  std::printf("select %d %016llx\n", count.get()[0], static_cast<unsigned long long>(digest(out.get().data(), count.get()[0] * 4)));
  WITH_STORAGE(cub::DevicePartition::If(storage, size, in.data(), out.data(), count.data(), n, IsSmall()));
  std::printf("partition %d %016llx\n", count.get()[0], static_cast<unsigned long long>(digest(out.get())));

  Buffer<int> bins(20);
  WITH_STORAGE(cub::DeviceHistogram::HistogramEven(storage, size, in.data(), bins.data(), 21, 0, 1000, n));
  std::printf("histogram %d %d %016llx\n", bins.get()[0], bins.get()[19], static_cast<unsigned long long>(digest(bins.get())));

  std::vector<int> runs(n);
  for (int i = 0; i < n; ++i) {
    runs[i] = i * i / 100000 % 17;
  }
  Buffer<int> run_values(runs), unique(n), lengths(n);
  WITH_STORAGE(cub::DeviceRunLengthEncode::Encode(storage, size, run_values.data(), unique.data(), lengths.data(), count.data(), n));
  int number = count.get()[0];
  std::printf("runs %d %016llx %016llx\n", number, static_cast<unsigned long long>(digest(unique.get().data(), number * 4)),
              static_cast<unsigned long long>(digest(lengths.get().data(), number * 4)));
  WITH_STORAGE(cub::DeviceReduce::ReduceByKey(storage, size, run_values.data(), unique.data(), in.data(), lengths.data(), count.data(),
                                              cuda::std::plus<>{}, n));
  number = count.get()[0];
  std::printf("by key %d %016llx\n", number, static_cast<unsigned long long>(digest(lengths.get().data(), number * 4)));

  Buffer<int> offsets(std::vector<int>{0, 5, 5, 1000, 1001, 7000, n});
  WITH_STORAGE(cub::DeviceSegmentedReduce::Sum(storage, size, in.data(), out.data(), 6, offsets.data(), offsets.data() + 1));
  for (int i = 0; i < 6; ++i) {
    std::printf("%d ", out.get()[i]);
  }
  std::printf("\n");
}
