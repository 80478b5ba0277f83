// Kernels behind the bulk calls of concurrent_map: one thread per key, results beside it.
//
// They use relaxed ordering: what came before the launch and what comes after the kernel is ordered
// by the stream, and the kernel itself hands nothing but the map's own contents from thread to
// thread. (Layouts with a state per slot synchronise anyway.)
#pragma once

#include "operations.cuh"
#include "packed_warp.cuh"

#if defined(__CUDACC__)

namespace heddle {
namespace detail {

constexpr int bulk_block = 256;

template <class Size> HEDDLE_DEVICE Size bulk_index() {
  return static_cast<Size>(blockIdx.x) * bulk_block + threadIdx.x;
}

/// Adds up what the threads of a block say, one atomic addition per block.
inline HEDDLE_DEVICE void count_for(unsigned long long* counter, bool counts) {
  const int total = __syncthreads_count(counts);
  if (threadIdx.x == 0 && total != 0) {
    atomicAdd(counter, static_cast<unsigned long long>(total));
  }
}

template <class Operations, class Table, class Keys, class Values, class Results>
__global__ void __launch_bounds__(bulk_block) bulk_insert(
    Table table,
    Keys keys,
    Values values,
    std::size_t n,
    Results results,
    unsigned long long* inserted
) {
  const std::size_t i = bulk_index<std::size_t>();
  insert_result result = insert_result::exists;
  if constexpr (has_warp_operations<Table>::value) {
    const std::size_t item = i < n ? i : n - 1;
    result = packed_warp<Table>::insert(table, i < n, keys[item], values[item]);
  } else if (i < n) {
    result = Operations::try_insert(table, ordering::relaxed, keys[i], values[i]);
  }
  if constexpr (!std::is_same<Results, std::nullptr_t>::value) {
    if (i < n) {
      results[i] = result;
    }
  }
  if (inserted != nullptr) {
    count_for(inserted, result == insert_result::inserted);
  }
}

template <class Operations, class Value, class Table, class Keys, class Values, class Found>
__global__ void __launch_bounds__(
    bulk_block
) bulk_find(Table table, Keys keys, std::size_t n, Values values, Value missing, Found found) {
  const std::size_t i = bulk_index<std::size_t>();
  Value value = missing;
  bool there = false;
  if constexpr (has_warp_operations<Table>::value) {
    typename Table::word_type word;
    if (packed_warp<Table>::search(table, i < n, keys[i < n ? i : n - 1], word) != nullptr) {
      value = from_field<Value>(word.other);
      there = true;
    }
  } else if (i < n) {
    there = table.visit(keys[i], ordering::relaxed, [&value](const Value& v) { value = v; });
  }
  if (i < n) {
    values[i] = value;
    if constexpr (!std::is_same<Found, std::nullptr_t>::value) {
      found[i] = there;
    }
  }
}

template <class Table, class Keys, class Found>
__global__ void
__launch_bounds__(bulk_block) bulk_contains(Table table, Keys keys, std::size_t n, Found found) {
  const std::size_t i = bulk_index<std::size_t>();
  bool there = false;
  if constexpr (has_warp_operations<Table>::value) {
    typename Table::word_type word;
    there = packed_warp<Table>::search(table, i < n, keys[i < n ? i : n - 1], word) != nullptr;
  } else if (i < n) {
    there = table.visit(keys[i], ordering::relaxed, ignore());
  }
  if (i < n) {
    found[i] = there;
  }
}

template <class Table, class Keys>
__global__ void __launch_bounds__(
    bulk_block
) bulk_erase(Table table, Keys keys, std::size_t n, unsigned long long* erased) {
  const std::size_t i = bulk_index<std::size_t>();
  bool gone = false;
  if constexpr (has_warp_operations<Table>::value) {
    typename Table::word_type word;
    typename Table::word_type* const slot =
        packed_warp<Table>::search(table, i < n, keys[i < n ? i : n - 1], word);
    gone = table.erase_at(slot, word, ordering::relaxed);
  } else {
    gone = i < n && table.erase(keys[i], ordering::relaxed);
  }
  if (erased != nullptr) {
    count_for(erased, gone);
  }
}

template <class Table, class Keys, class Values>
__global__ void __launch_bounds__(bulk_block) bulk_retrieve(
    Table table,
    Keys keys,
    Values values,
    std::size_t limit,
    unsigned long long* count
) {
  const std::size_t place = bulk_index<std::size_t>();
  if (place < table.places()) {
    table.visit_place(place, [&](const auto& key, const auto& value) {
      const unsigned long long at = atomicAdd(count, 1ull);
      if (at < limit) {
        keys[at] = key;
        values[at] = value;
      }
    });
  }
}

template <class Table>
__global__ void __launch_bounds__(bulk_block) bulk_size(Table table, unsigned long long* count) {
  const std::size_t place = bulk_index<std::size_t>();
  count_for(count, place < table.places() && table.visit_place(place, ignore()));
}

template <class Table, class Function>
__global__ void __launch_bounds__(bulk_block) bulk_for_each(Table table, Function function) {
  const std::size_t place = bulk_index<std::size_t>();
  if (place < table.places()) {
    table.visit_place(place, function);
  }
}

template <class Operations, class Table>
__global__ void
__launch_bounds__(bulk_block) bulk_copy(Table from, Table to, unsigned long long* refused) {
  const std::size_t place = bulk_index<std::size_t>();
  bool lost = false;
  if (place < from.places()) {
    from.visit_place(place, [&](const auto& key, const auto& value) {
      lost = Operations::try_insert(to, ordering::relaxed, key, value) == insert_result::full;
    });
  }
  count_for(refused, lost);
}

/// A grid of one thread per item; nothing for no items.
template <class Kernel, class... Arguments>
void launch_bulk(Kernel* kernel, std::size_t items, cudaStream_t stream, Arguments... arguments) {
  if (items == 0) {
    return;
  }
  const std::size_t blocks = (items + bulk_block - 1) / bulk_block;
  kernel<<<static_cast<unsigned>(blocks), bulk_block, 0, stream>>>(arguments...);
  check(cudaGetLastError(), "launch of a bulk operation");
}

/// A number on the device that a bulk call counts in, brought back when the stream is done.
class device_counter {
public:
  explicit device_counter(cudaStream_t stream) : stream_(stream) {
    check(cudaMalloc(&value_, sizeof *value_), "cudaMalloc");
    check(cudaMemsetAsync(value_, 0, sizeof *value_, stream), "cudaMemsetAsync");
  }
  device_counter(const device_counter&) = delete;
  device_counter& operator=(const device_counter&) = delete;
  ~device_counter() { (void)cudaFree(value_); }
  unsigned long long* get() const { return value_; }
  std::size_t wait() const {
    unsigned long long result = 0;
    check(
        cudaMemcpyAsync(&result, value_, sizeof result, cudaMemcpyDeviceToHost, stream_),
        "cudaMemcpyAsync"
    );
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return static_cast<std::size_t>(result);
  }

private:
  unsigned long long* value_ = nullptr;
  cudaStream_t stream_;
};

} // namespace detail
} // namespace heddle

#endif
