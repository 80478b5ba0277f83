// CUB's block-wide and warp-wide primitives.
//@ exercises: cub::BlockReduce/Scan/RadixSort/MergeSort/Histogram/RunLengthDecode/Load/Store/Exchange/Discontinuity/Shuffle, WarpReduce/Scan/MergeSort
#include "support.h"

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int threads = 128, items = 4, total = threads * items;

template <cub::BlockReduceAlgorithm algorithm> __device__ int reduce(int value) {
  using Reduce = cub::BlockReduce<int, threads, algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  __syncthreads();
  return Reduce(storage).Sum(value);
}

template <cub::BlockScanAlgorithm algorithm> __device__ int scan(int value) {
  using Scan = cub::BlockScan<int, threads, algorithm>;
  __shared__ typename Scan::TempStorage storage;
  __syncthreads();
  int result, aggregate;
  Scan(storage).InclusiveSum(value, result, aggregate);
  return result * 7 + aggregate;
}

__global__ void reduce_and_scan(const int* in, int* out) {
  int value = in[threadIdx.x];
  int a = reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(value);
  int b = reduce<cub::BLOCK_REDUCE_RAKING>(value);
  int c = reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(value);
  int s = scan<cub::BLOCK_SCAN_WARP_SCANS>(value) ^ scan<cub::BLOCK_SCAN_RAKING>(value) * 3 ^ scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(value) * 5;
  if (threadIdx.x == 0) {
    out[threads] = a;
    out[threads + 1] = b;
    out[threads + 2] = c;
  }
  out[threadIdx.x] = s;
}

__global__ void sort_items(const int* in, int* out, unsigned char* ranks) {
  using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, threads, items, unsigned char>;
  using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } storage;
  int keys[items];
  unsigned char values[items];
  Load(storage.load).Load(in, keys);
  for (int i = 0; i < items; ++i) {
    values[i] = static_cast<unsigned char>(threadIdx.x);
  }
  __syncthreads();
  Sort(storage.sort).Sort(keys, values);
  __syncthreads();
  Store(storage.store).Store(out, keys);
  for (int i = 0; i < items; ++i) {
    ranks[threadIdx.x * items + i] = values[i];
  }
}

struct Descending {
  __device__ bool operator()(double a, double b) const { return a > b; }
};

__global__ void merge_sort(const int* in, double* out) {
  using Sort = cub::BlockMergeSort<double, threads, items>;
  __shared__ typename Sort::TempStorage storage;
  double keys[items];
  for (int i = 0; i < items; ++i) {
    keys[i] = in[threadIdx.x * items + i] * 0.5;
  }
  Sort(storage).Sort(keys, Descending());
  for (int i = 0; i < items; ++i) {
    out[threadIdx.x * items + i] = keys[i];
  }
}

__global__ void histogram(const int* in, unsigned* sorted_bins, unsigned* atomic_bins) {
  using Sorted = cub::BlockHistogram<unsigned char, threads, items, 64, cub::BLOCK_HISTO_SORT>;
  using Atomic = cub::BlockHistogram<unsigned char, threads, items, 64, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ union {
    typename Sorted::TempStorage sorted;
    typename Atomic::TempStorage atomic;
  } storage;
  __shared__ unsigned bins[64];
  unsigned char values[items], copy[items];
  for (int i = 0; i < items; ++i) {
    copy[i] = values[i] = static_cast<unsigned char>(in[threadIdx.x * items + i] & 63);
  }
  Sorted(storage.sorted).Histogram(values, bins);
  __syncthreads();
  if (threadIdx.x < 64) {
    sorted_bins[threadIdx.x] = bins[threadIdx.x];
  }
  __syncthreads();
  Atomic(storage.atomic).Histogram(copy, bins);
  __syncthreads();
  if (threadIdx.x < 64) {
    atomic_bins[threadIdx.x] = bins[threadIdx.x];
  }
}

__global__ void runs(int* out, int* flags) {
  using Decode = cub::BlockRunLengthDecode<int, threads, 1, items>;
  using Heads = cub::BlockDiscontinuity<int, threads>;
  using Difference = cub::BlockAdjacentDifference<int, threads>;
  __shared__ typename Decode::TempStorage storage;
  __shared__ typename Heads::TempStorage heads;
  __shared__ typename Difference::TempStorage difference;
  int values[1] = {static_cast<int>(threadIdx.x) * 10};
  int lengths[1] = {static_cast<int>(threadIdx.x) % 7}, decoded_size = 0;
  Decode decode(storage, values, lengths, decoded_size);
  int decoded[items];
  decode.RunLengthDecode(decoded, 0);
  for (int i = 0; i < items; ++i) {
    int k = threadIdx.x * items + i;
    out[k] = k < decoded_size ? decoded[i] : -1;
  }
  int keys[1] = {static_cast<int>(threadIdx.x) / 9}, head[1], differences[1];
  Heads(heads).FlagHeads(head, keys, [](int a, int b) { return a != b; });
  int squares[1] = {static_cast<int>(threadIdx.x * threadIdx.x)};
  Difference(difference).SubtractLeft(squares, differences, [](int a, int b) { return a - b; });
  flags[threadIdx.x] = head[0] * 1000 + differences[0];
}

__global__ void warps(const int* in, int* out) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  using Sort = cub::WarpMergeSort<int, 2, 32>;
  __shared__ typename Reduce::TempStorage reduce[4];
  __shared__ typename Scan::TempStorage scan[4];
  __shared__ typename Sort::TempStorage sort[4];
  int warp = threadIdx.x / 32, value = in[threadIdx.x];
  int largest = Reduce(reduce[warp]).Reduce(value, [](int a, int b) { return a > b ? a : b; });
  largest = __shfl_sync(0xffffffffu, largest, 0);
  __syncwarp();
  int segment = Reduce(reduce[warp]).HeadSegmentedSum(value, threadIdx.x % 10 == 0);
  int exclusive, inclusive;
  Scan(scan[warp]).Scan(value, inclusive, exclusive, 0, [](int a, int b) { return a + b; });
  int pair[2] = {value, value * 31 % 101};
  Sort(sort[warp]).Sort(pair, [](int a, int b) { return a < b; });
  bool is_head = threadIdx.x % 10 == 0 || threadIdx.x % 32 == 0;
  out[threadIdx.x] = largest + inclusive * 3 + exclusive * 5 + pair[0] * 7 + pair[1] * 11 + (is_head ? segment * 13 : 0);
}

int main() {
  std::vector<int> values(total);
  Lcg random{21};
  for (int& value : values) {
    value = static_cast<int>(random.next() % 2001) - 1000;
  }
  Buffer<int> in(values), out(total), flags(total);
  auto show = [&](const char* name, Buffer<int>& buffer) {
    auto result = buffer.get();
    std::printf("%s %d %d %016llx\n", name, result[0], result[100], static_cast<unsigned long long>(digest(result)));
  };
  reduce_and_scan<<<1, threads>>>(in, out);
  SYNC_OK();
  std::printf("reduce %d %d %d\n", out.get()[threads], out.get()[threads + 1], out.get()[threads + 2]);
  show("scan", out);

  Buffer<unsigned char> ranks(total);
  sort_items<<<1, threads>>>(in, out, ranks);
  SYNC_OK();
  show("radix sort", out);
  std::printf("values %016llx\n", static_cast<unsigned long long>(digest(ranks.get())));

  Buffer<double> sorted(total);
  merge_sort<<<1, threads>>>(in, sorted);
  SYNC_OK();
  std::printf("merge sort %g %g %016llx\n", sorted.get()[0], sorted.get()[total - 1], static_cast<unsigned long long>(digest(sorted.get())));

  Buffer<unsigned> a(64), b(64);
  histogram<<<1, threads>>>(in, a, b);
  SYNC_OK();
  EXPECT(a.get() == b.get());
  std::printf("histogram %u %016llx\n", a.get()[3], static_cast<unsigned long long>(digest(a.get())));

  runs<<<1, threads>>>(out, flags);
  SYNC_OK();
  show("runs", out);
  auto flagged = flags.get();
  flagged.resize(threads);
  flagged[0] = 0; // the first difference has no left neighbour
  std::printf("flags %d %016llx\n", flagged[9], static_cast<unsigned long long>(digest(flagged)));

  out.clear();
  warps<<<1, threads>>>(in, out);
  SYNC_OK();
  show("warps", out);
}
