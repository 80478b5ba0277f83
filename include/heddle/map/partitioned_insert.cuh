// Bulk insertion of many keys into a table that is much larger than the second-level cache: the
// pairs are first sorted into bins by the region of the table that they will go to, then inserted
// bin by bin. What a GPU can do at random places of a large memory is bound by its rows: about 16
// billion compare-exchanges a second on an H200, whatever they find there; within the cache it is
// five times that. Sorting into bins is one pass over the keys, all of it in long runs, and pays
// for itself many times.
//
// Which of several pairs with one key is inserted is not defined in bulk insertion anyway, so the
// order is free. Pairs that find their bin full (keys that cluster in one region) are inserted at
// once, by the code for one thread.
//
// Progress: bins are places in memory, reserved by one addition per block and bin; nobody waits for
// anybody.
#pragma once

#include "packed_warp.cuh"

#if defined(__CUDACC__)

namespace heddle {
namespace detail {

constexpr int partition_block = 256;
constexpr int most_bins = 256;
// Measured on an H200: enough warps to hide the latency of the cache, but no registers spilled for
// it.
constexpr int insert_items = 4;   // per thread
constexpr int insert_block = 128; // small blocks: a block lives as long as its unluckiest lane
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int insert_blocks = 8; // at once, per multiprocessor: it has room for 1024 threads
#else
constexpr int insert_blocks = 12;
#endif

template <class Word> struct bins_of {
  Word* words;      // bins * capacity
  unsigned* counts; // per bin; may exceed the capacity
  std::uint32_t bins;
  std::uint32_t capacity;
};

template <class Word>
constexpr int partition_items = 128 / sizeof(Word); // per thread: 32 KiB a block either way

/// Sorts pairs into bins.
template <class Table, class Keys, class Values>
__global__ void __launch_bounds__(partition_block) partition_pairs(
    Table table,
    Keys keys,
    Values values,
    std::size_t n,
    bins_of<typename Table::word_type> bins
) {
  using Word = typename Table::word_type;
  using Value = typename Table::mapped_type;
  using Key = typename Table::key_type;
  constexpr int items = partition_items<Word>;
  __shared__ Word staged[partition_block * items];
  __shared__ unsigned char bin_of[partition_block * items];
  __shared__ unsigned count[most_bins], start[most_bins], base[most_bins];
  const std::size_t first =
      static_cast<std::size_t>(blockIdx.x) * (partition_block * items) + threadIdx.x;

  count[threadIdx.x] = 0;
  __syncthreads();
  Word word[items];
  unsigned bin[items], rank[items];
  HEDDLE_UNROLL
  for (int j = 0; j < items; ++j) {
    const std::size_t i = first + static_cast<std::size_t>(j) * partition_block;
    bin[j] = most_bins;
    if (i < n) {
      const Key key = keys[i];
      word[j] = {
          Table::stored_key(key),
          to_field<typename Word::field>(static_cast<Value>(values[i]))
      };
      if (Table::is_special(word[j].key)) {
        packed_warp<Table>::insert_alone(table, word[j]);
      } else {
        bin[j] = static_cast<unsigned>(
            multiply_high(mix(static_cast<std::uint64_t>(table.hash()(key))), bins.bins)
        );
        rank[j] = atomicAdd(&count[bin[j]], 1u);
      }
    }
  }
  __syncthreads();
  // Where each bin begins, in the block and in memory.
  static_assert(partition_block == most_bins, "one thread per bin");
  const unsigned mine = count[threadIdx.x];
  unsigned sum = mine;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffffu, sum, step);
    sum += threadIdx.x % 32 >= static_cast<unsigned>(step) ? left : 0;
  }
  __shared__ unsigned of_warp[partition_block / 32];
  if (threadIdx.x % 32 == 31) {
    of_warp[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) {
    sum += of_warp[warp];
  }
  start[threadIdx.x] = sum - mine;
  base[threadIdx.x] = mine != 0 ? atomicAdd(&bins.counts[threadIdx.x], mine) : 0;
  __syncthreads();
  HEDDLE_UNROLL
  for (int j = 0; j < items; ++j) {
    if (bin[j] != most_bins) {
      staged[start[bin[j]] + rank[j]] = word[j];
      bin_of[start[bin[j]] + rank[j]] = static_cast<unsigned char>(bin[j]);
    }
  }
  __syncthreads();
  const unsigned total = start[most_bins - 1] + count[most_bins - 1];
  for (unsigned s = threadIdx.x; s < total; s += partition_block) {
    const unsigned b = bin_of[s];
    const unsigned at = base[b] + (s - start[b]);
    if (at < bins.capacity) {
      bins.words[static_cast<std::size_t>(b) * bins.capacity + at] = staged[s];
    } else {
      packed_warp<Table>::insert_alone(table, staged[s]);
    }
  }
}

/// Inserts what is in the bins, one after the other. A block first tries the first two slots of
/// each pair's path, by one thread each, several pairs at a time; what that leaves over is
/// collected, so that the warps that go on have a pair for every lane. Within the cache 16 bytes
/// are read at twice the rate of whole buckets, so 16-byte words go on slot by slot, which also
/// takes a fraction of the instructions; 8-byte words go on by tiles.
template <class Table>
__global__ void __launch_bounds__(
    insert_block,
    insert_blocks
) insert_bins(Table table, bins_of<typename Table::word_type> bins, std::uint32_t blocks_per_bin) {
  using Word = typename Table::word_type;
  using warp = packed_warp<Table>;
  __shared__ Word left_over[insert_block * insert_items];
  __shared__ unsigned left_overs;
  const std::uint32_t bin = blockIdx.x / blocks_per_bin;
  const std::uint32_t first =
      blockIdx.x % blocks_per_bin * (insert_block * insert_items) + threadIdx.x;
  const std::uint32_t held = bins.counts[bin] < bins.capacity ? bins.counts[bin] : bins.capacity;
  const Word* const words = bins.words + static_cast<std::size_t>(bin) * bins.capacity;
  if (threadIdx.x == 0) {
    left_overs = 0;
  }
  __syncthreads();
  HEDDLE_UNROLL
  for (int j = 0; j < insert_items; ++j) {
    const std::uint32_t at = first + j * insert_block;
    if (at < held) {
      const Word word = words[at];
      if (!warp::insert_at_once(table, word)) {
        left_over[atomicAdd(&left_overs, 1u)] = word;
      }
    }
  }
  __syncthreads();
  const unsigned total = left_overs;
  if constexpr (warp::past_by_threads) {
    for (unsigned at = threadIdx.x; at < total; at += insert_block) {
      warp::insert_past(table, left_over[at]);
    }
  } else {
    for (unsigned at = threadIdx.x; at - threadIdx.x % 32 < total; at += insert_block) {
      const Word word = at < total ? left_over[at] : Word{1, 0};
      warp::insert_along(table, at < total, word, insert_result::exists);
    }
  }
}

/// The part of a table that one bin covers: well inside the cache of any GPU with much memory.
constexpr std::size_t bin_region = std::size_t(8) << 20;
/// Tables from this size on are worth it.
constexpr std::size_t partitioned_bytes = 8 * bin_region;

/// How many bins are worth it: 0 if none.
template <class Table> std::uint32_t bins_for(const Table& table, std::size_t n) {
  const std::size_t bytes = Table::bytes(table.buckets());
  if (bytes < partitioned_bytes || n < (std::size_t(1) << 20)) {
    return 0;
  }
  const std::size_t bins = (bytes + bin_region - 1) / bin_region;
  return static_cast<std::uint32_t>(bins < most_bins ? bins : most_bins);
}

/// Memory for bins, kept between calls: a pool of the stream-ordered allocator that is nobody
/// else's.
class bin_pool {
public:
  bin_pool() = default;
  bin_pool(bin_pool&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
  bin_pool& operator=(bin_pool&& other) noexcept {
    std::swap(pool_, other.pool_);
    return *this;
  }
  ~bin_pool() {
    if (pool_ != nullptr) {
      (void)cudaMemPoolDestroy(pool_);
    }
  }
  /// Without it, bulk insertion goes the direct way; so nothing here is an error.
  void open() {
    int device = 0, supported = 0;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    std::uint64_t keep = ~std::uint64_t(0);
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device) ==
            cudaSuccess &&
        supported != 0) {
      properties.location.id = device;
      if (cudaMemPoolCreate(&pool_, &properties) != cudaSuccess) {
        pool_ = nullptr;
      } else {
        (void)cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
      }
    }
    (void)cudaGetLastError();
  }
  void* allocate(std::size_t bytes, cudaStream_t stream) const {
    void* memory = nullptr;
    if (pool_ == nullptr || cudaMallocFromPoolAsync(&memory, bytes, pool_, stream) != cudaSuccess) {
      (void)cudaGetLastError();
      return nullptr;
    }
    return memory;
  }

private:
  cudaMemPool_t pool_ = nullptr;
};

/// Capacities of bins are multiples of what a block inserts.
constexpr std::size_t bin_unit = insert_block * insert_items;

/// Queues a bulk insertion by bins. False if it is not worth it, or there is no memory for it.
template <class Table, class Keys, class Values>
bool insert_by_bins(
    const Table& table,
    const bin_pool& pool,
    Keys keys,
    Values values,
    std::size_t n,
    cudaStream_t stream
) {
  using Word = typename Table::word_type;
  const std::uint32_t count = bins_for(table, n);
  const std::size_t capacity =
      count == 0 ? 0 : (n / count + n / count / 32 + 4 * bin_unit) / bin_unit * bin_unit;
  if (count == 0 || capacity > 0x7fffffff / count) {
    return false;
  }
  const std::size_t counts_bytes = most_bins * sizeof(unsigned);
  void* const memory = pool.allocate(counts_bytes + count * capacity * sizeof(Word), stream);
  if (memory == nullptr) {
    return false;
  }
  const bins_of<Word> bins{
      reinterpret_cast<Word*>(static_cast<char*>(memory) + counts_bytes),
      static_cast<unsigned*>(memory),
      count,
      static_cast<std::uint32_t>(capacity)
  };
  constexpr std::size_t per_block = partition_block * partition_items<Word>;
  const auto blocks_per_bin = static_cast<std::uint32_t>(capacity / (insert_block * insert_items));
  check(cudaMemsetAsync(memory, 0, counts_bytes, stream), "cudaMemsetAsync");
  partition_pairs<<<
      static_cast<unsigned>((n + per_block - 1) / per_block),
      partition_block,
      0,
      stream>>>(table, keys, values, n, bins);
  insert_bins<<<count * blocks_per_bin, insert_block, 0, stream>>>(table, bins, blocks_per_bin);
  check(cudaGetLastError(), "launch of a bulk insertion");
  check(cudaFreeAsync(memory, stream), "cudaFreeAsync");
  return true;
}

} // namespace detail
} // namespace heddle

#endif
