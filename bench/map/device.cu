// The map's rates on a GPU, against what the GPU can do at all.
//
//     nvcc -std=c++17 -O3 -arch=sm_90 -I../../include device.cu -o map_bench && ./map_bench
//     [millions of keys]
//
// For each layout and load: inserts unique scattered keys into an empty table up to the load, finds
// all of them, looks for as many that are not there, and runs half insertions and half searches at
// once on a table that is half filled. Ceilings: random 8-byte reads, reads of whole sectors and
// lines, compare-exchanges on fresh slots, reads followed by compare-exchanges, on memory of the
// size of the table. Every rate is the best of `repeats` runs, in billion per second, timed with
// events; results are verified once. The table is well beyond the second-level cache.
#include <heddle/concurrent_map.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    const cudaError_t code_ = (call);                                                              \
    if (code_ != cudaSuccess) {                                                                    \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(code_));        \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

namespace {

using std::size_t;
constexpr int block = 256;
int repeats = 3;

/// Distinct scattered keys: a bijection of the index, another one than the map's own mixing.
__host__ __device__ std::uint32_t scattered(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
__host__ __device__ std::uint64_t scattered(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

template <class Key> __global__ void make_keys(Key* keys, size_t n, size_t from) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    keys[i] = scattered(static_cast<Key>(from + i));
  }
}

template <class Function> double best_seconds(Function&& function) {
  cudaEvent_t from, to;
  CUDA_OK(cudaEventCreate(&from));
  CUDA_OK(cudaEventCreate(&to));
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const double seconds = function(
        [&] { CUDA_OK(cudaEventRecord(from)); },
        [&] {
          CUDA_OK(cudaEventRecord(to));
          CUDA_OK(cudaEventSynchronize(to));
          float ms = 0;
          CUDA_OK(cudaEventElapsedTime(&ms, from, to));
          return ms * 1e-3;
        }
    );
    best = std::min(best, seconds);
  }
  CUDA_OK(cudaEventDestroy(from));
  CUDA_OK(cudaEventDestroy(to));
  return best;
}

unsigned grid_for(size_t n) {
  return static_cast<unsigned>((n + block - 1) / block);
}

// --- ceilings

/// Each thread reads `Bytes` bytes at a random place aligned to them, 8 or 16 at a time.
template <int Bytes>
__global__ void random_reads(const char* memory, size_t places, size_t n, std::uint64_t* out) {
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  if (i >= n) {
    return;
  }
  const char* p = memory + __umul64hi(scattered(static_cast<std::uint64_t>(i)), places) * Bytes;
  std::uint64_t sum = 0;
  if constexpr (Bytes == 8) {
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];"
                 : "=l"(sum)
                 : "l"(__cvta_generic_to_global(p)));
  } else {
#pragma unroll
    for (int at = 0; at < Bytes; at += 16) {
      std::uint64_t a, b;
      asm volatile("ld.relaxed.gpu.global.v2.b64 {%0,%1}, [%2];"
                   : "=l"(a), "=l"(b)
                   : "l"(__cvta_generic_to_global(p + at)));
      sum += a ^ b;
    }
  }
  if (sum == 42) {
    *out = sum;
  }
}

/// Tiles of Bytes/16 lanes read one place together, a key of each lane in turn.
template <int Bytes>
__global__ void
random_reads_tiled(const char* memory, size_t places, size_t n, std::uint64_t* out) {
  constexpr int tile = Bytes / 16;
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  const int lane = threadIdx.x % tile;
  const std::uint64_t mine = __umul64hi(scattered(static_cast<std::uint64_t>(i)), places);
  std::uint64_t sum = 0;
#pragma unroll
  for (int turn = 0; turn < tile; ++turn) {
    const char* p = memory + __shfl_sync(~0u, mine, turn, tile) * Bytes + lane * 16;
    std::uint64_t a, b;
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0,%1}, [%2];"
                 : "=l"(a), "=l"(b)
                 : "l"(__cvta_generic_to_global(p)));
    sum += a ^ b;
  }
  if (sum == 42) {
    *out = sum;
  }
}

/// Compare-exchanges of 16 bytes at a time; n of them, on places that are all zero before.
__global__ void exchanges16(char* memory, size_t places, size_t n, unsigned long long* out) {
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  if (i >= n) {
    return;
  }
  const char* p = memory + __umul64hi(scattered(static_cast<std::uint64_t>(i)), places) * 16;
  std::uint64_t a, b;
  asm volatile("{.reg .b128 r, c, n; mov.b128 c, {%3,%3}; mov.b128 n, {%4,%4};"
               "atom.relaxed.gpu.global.cas.b128 r, [%2], c, n; mov.b128 {%0,%1}, r;}"
               : "=l"(a), "=l"(b)
               : "l"(__cvta_generic_to_global(p)), "l"(std::uint64_t(0)), "l"(std::uint64_t(i + 1))
               : "memory");
  if ((a ^ b) == 42) {
    *out = 1;
  }
}

template <bool LoadFirst>
__global__ void
exchanges(unsigned long long* memory, size_t places, size_t n, unsigned long long* out) {
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  if (i >= n) {
    return;
  }
  unsigned long long* p = memory + __umul64hi(scattered(static_cast<std::uint64_t>(i)), places);
  unsigned long long seen = 0;
  if (LoadFirst) {
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];"
                 : "=l"(seen)
                 : "l"(__cvta_generic_to_global(p)));
  }
  if (atomicCAS(p, seen, static_cast<unsigned long long>(i + 1)) == 42) {
    *out = 1;
  }
}

/// Of memory of the size of the table, in billion per second.
struct Ceilings {
  double reads = 0, exchanges8 = 0, exchanges16 = 0;
} ceiling;

void ceilings(size_t bytes, size_t n) {
  char* memory;
  CUDA_OK(cudaMalloc(&memory, bytes));
  auto* words = reinterpret_cast<unsigned long long*>(memory);
  std::uint64_t* out;
  CUDA_OK(cudaMalloc(&out, 8));
  auto rate = [&](auto&& launch) {
    return n / best_seconds([&](auto start, auto stop) {
             CUDA_OK(cudaMemset(memory, 0, bytes));
             start();
             launch();
             return stop();
           }) /
           1e9;
  };
  const unsigned grid = grid_for(n);
  std::printf("ceilings on %.2f GiB, 1e9/s:", bytes / double(1 << 30));
  auto show = [](const char* name, double value) {
    std::printf("  %s %.1f", name, value);
    return value;
  };
  auto single = [&](auto kernel, size_t size) {
    return rate([&] { kernel<<<grid, block>>>(memory, bytes / size, n, out); });
  };
  ceiling.reads = show("read8", single(random_reads<8>, 8));
  show("read16", single(random_reads<16>, 16));
  show("read32", single(random_reads<32>, 32));
  show("read64", single(random_reads<64>, 64));
  show("read128", single(random_reads<128>, 128));
  show("tiled32", single(random_reads_tiled<32>, 32));
  show("tiled64", single(random_reads_tiled<64>, 64));
  show("tiled128", single(random_reads_tiled<128>, 128));
  ceiling.exchanges8 =
      show("cas8", rate([&] { exchanges<false><<<grid, block>>>(words, bytes / 8, n, words); }));
  ceiling.exchanges16 =
      show("cas16", rate([&] { exchanges16<<<grid, block>>>(memory, bytes / 16, n, words); }));
  show("read8+cas8", rate([&] { exchanges<true><<<grid, block>>>(words, bytes / 8, n, words); }));
  // What the cache alone does: the bins of bulk insertion stay within it.
  const size_t cached = size_t(8) << 20;
  std::printf("\n  on 8 MiB:");
  show("read16", rate([&] { random_reads<16><<<grid, block>>>(memory, cached / 16, n, out); }));
  show("tiled128", rate([&] {
         random_reads_tiled<128><<<grid, block>>>(memory, cached / 128, n, out);
       }));
  show("cas8", rate([&] { exchanges<false><<<grid, block>>>(words, cached / 8, n, words); }));
  show("cas16", rate([&] { exchanges16<<<grid, block>>>(memory, cached / 16, n, words); }));
  std::printf("\n");
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaFree(memory));
  CUDA_OK(cudaFree(out));
}

// --- the map

/// Even threads insert what is new, odd threads look for what is there.
template <class Ref, class Key, class Value>
__global__ void __launch_bounds__(
    block
) mixed(Ref map, const Key* fresh, const Key* present, Value* values, size_t n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  if (i >= n) {
    return;
  }
  if (i / 32 % 2 == 0) { // by warps: the two operations share no instruction
    map.try_insert(fresh[i / 64 * 32 + i % 32], static_cast<Value>(i));
  } else {
    Value value = 0;
    map.find(present[i / 64 * 32 + i % 32], [&value](const Value& v) { value = v; });
    values[i] = value;
  }
}

/// The same operations as a user's kernel calls them, one thread each.
template <class Ref, class Key, class Value>
__global__ void
__launch_bounds__(block) insert_alone(Ref map, const Key* keys, const Value* values, size_t n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  if (i < n) {
    map.try_insert(keys[i], values[i]);
  }
}
template <class Ref, class Key, class Value>
__global__ void
__launch_bounds__(block) find_alone(Ref map, const Key* keys, Value* values, size_t n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * block + threadIdx.x;
  if (i < n) {
    Value value = 0;
    map.find(keys[i], [&value](const Value& v) { value = v; });
    values[i] = value;
  }
}

template <class Value>
__global__ void count_different(
    const Value* values,
    const Value* wanted,
    Value missing,
    size_t n,
    unsigned long long* bad
) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n && values[i] != (wanted != nullptr ? wanted[i] : missing)) {
    atomicAdd(bad, 1ull);
  }
}

template <class Map> void bench(const char* name, size_t n, double load) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  static Key* keys = nullptr; // 2n keys: n to insert, n that are not there
  static Value* values = nullptr;
  static Value* out = nullptr;
  static size_t made = 0;
  if (made != n) {
    CUDA_OK(cudaMalloc(&keys, 2 * n * sizeof(Key)));
    CUDA_OK(cudaMalloc(&values, n * sizeof(Value)));
    CUDA_OK(cudaMalloc(&out, n * sizeof(Value)));
    make_keys<<<grid_for(2 * n), block>>>(keys, 2 * n, 1);
    make_keys<<<grid_for(n), block>>>(values, n, 7);
    made = n;
  }
  Map map(static_cast<size_t>(n / load));
  const Value missing = 0;
  const cudaStream_t stream = nullptr;
  const double insert = best_seconds([&](auto start, auto stop) {
    map.clear();
    start();
    map.insert(keys, keys + n, values, stream);
    return stop();
  });
  const size_t size = map.size(stream);
  heddle::insert_result* results;
  CUDA_OK(cudaMalloc(&results, n * sizeof *results));
  const double direct =
      best_seconds([&](auto start, auto stop) { // with a result per key: not by bins
        map.clear();
        start();
        map.insert(keys, keys + n, values, results, stream);
        return stop();
      });
  CUDA_OK(cudaFree(results));
  const double find = best_seconds([&](auto start, auto stop) {
    start();
    map.find(keys, keys + n, out, missing, stream);
    return stop();
  });
  unsigned long long* bad;
  CUDA_OK(cudaMalloc(&bad, 8));
  CUDA_OK(cudaMemset(bad, 0, 8));
  count_different<<<grid_for(n), block>>>(out, values, missing, n, bad);
  const double miss = best_seconds([&](auto start, auto stop) {
    start();
    map.find(keys + n, keys + 2 * n, out, missing, stream);
    return stop();
  });
  count_different<<<grid_for(n), block>>>(out, static_cast<const Value*>(nullptr), missing, n, bad);
  // n/2 searches of what is there, n/2 insertions that bring the table from half of the load to the
  // load.
  const double both = best_seconds([&](auto start, auto stop) {
    map.clear();
    map.insert(keys, keys + n / 2, values, stream);
    start();
    mixed<<<grid_for(n), block>>>(map.ref().relaxed(), keys + n / 2, keys, out, n / 64 * 64);
    return stop();
  });
  double separate = best_seconds([&](auto start, auto stop) { // those insertions alone
    map.clear();
    map.insert(keys, keys + n / 2, values, stream);
    start();
    insert_alone<<<grid_for(n / 2), block>>>(map.ref().relaxed(), keys + n / 2, values, n / 2);
    return stop();
  });
  separate += best_seconds([&](auto start, auto stop) { // those searches alone, on the fuller table
    start();
    find_alone<<<grid_for(n / 2), block>>>(map.ref().relaxed(), keys, out, n / 2);
    return stop();
  });
  // The operations of ref, by single threads: relaxed and synchronizing.
  double alone[6];
  auto by_ref = [&](auto ref, double* seconds) {
    seconds[0] = best_seconds([&](auto start, auto stop) {
      map.clear();
      start();
      insert_alone<<<grid_for(n), block>>>(ref, keys, values, n);
      return stop();
    });
    for (int there = 1; there >= 0; --there) {
      seconds[2 - there] = best_seconds([&](auto start, auto stop) {
        start();
        find_alone<<<grid_for(n), block>>>(ref, keys + (there != 0 ? 0 : n), out, n);
        return stop();
      });
    }
  };
  by_ref(map.ref().relaxed(), alone);
  by_ref(map.ref(), alone + 3);
  const double erase = best_seconds([&](auto start, auto stop) {
    map.clear();
    map.insert(keys, keys + n, values, stream);
    start();
    map.erase(keys, keys + n, stream);
    return stop();
  });
  const size_t left = map.size(stream);
  const double again =
      best_seconds([&](auto start, auto stop) { // into the tombstones that the others left
        map.erase(keys, keys + n, stream);
        start();
        map.insert(keys + n, keys + 2 * n, values, stream);
        const double seconds = stop();
        map.erase(keys + n, keys + 2 * n, stream);
        return seconds;
      });
  unsigned long long wrong = 0;
  CUDA_OK(cudaMemcpy(&wrong, bad, 8, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaFree(bad));
  std::printf(
      "%-22s %.2f | insert %5.1f (direct %5.1f) find %5.1f miss %5.1f | mixed %5.1f (%3.0f %% of "
      "separate) erase %5.1f reinsert %5.1f | %.2f B/pair%s\n",
      name,
      load,
      n / insert / 1e9,
      n / direct / 1e9,
      n / find / 1e9,
      n / miss / 1e9,
      n / both / 1e9,
      separate / both * 100,
      n / erase / 1e9,
      n / again / 1e9,
      double(map.bytes()) / n,
      wrong != 0 || size != n || left != 0 ? "  WRONG" : ""
  );
  std::printf(
      "  by ref, relaxed:      insert %5.1f find %5.1f miss %5.1f | synchronizing: insert %5.1f "
      "find %5.1f miss %5.1f\n",
      n / alone[0] / 1e9,
      n / alone[1] / 1e9,
      n / alone[2] / 1e9,
      n / alone[3] / 1e9,
      n / alone[4] / 1e9,
      n / alone[5] / 1e9
  );
  if (ceiling.reads != 0) {
    const double exchanges = sizeof(Key) == 4 ? ceiling.exchanges8 : ceiling.exchanges16;
    std::printf(
        "  share of ceilings:    insert %3.0f %% (direct %3.0f %%) of exchanges, find %3.0f %% and "
        "miss %3.0f %% of reads\n",
        n / insert / 1e7 / exchanges,
        n / direct / 1e7 / exchanges,
        n / find / 1e7 / ceiling.reads,
        n / miss / 1e7 / ceiling.reads
    );
  }
  if (wrong != 0 || size != n || left != 0) {
    std::printf("  wrong: %llu, size %zu of %zu, left %zu\n", wrong, size, n, left);
  }
  std::fflush(stdout);
}

template <class Key, class Layout>
using map_of = heddle::concurrent_map<
    Key,
    Key,
    cuda::thread_scope_device,
    heddle::hash<Key>,
    heddle::equal_to<Key>,
    heddle::device_allocator,
    Layout>;

} // namespace

int main(int argc, char** argv) {
  const size_t n = static_cast<size_t>((argc > 1 ? std::atof(argv[1]) : 100) * 1e6);
  repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  // A third argument names the cases to run, a fourth their load: for the profiler.
  const std::string only = argc > 3 ? argv[3] : "";
  const double only_load = argc > 4 ? std::atof(argv[4]) : 0;
  auto wanted = [&](const char* name, double load) {
    return std::string(name).find(only) != std::string::npos &&
           (only_load == 0 || only_load == load);
  };
  if (only.empty()) {
    ceilings(n * 16, n);
  }
  for (double load : {0.5, 0.8, 0.9, 0.95}) {
    if (wanted("4+4 packed8", load)) {
      bench<map_of<std::uint32_t, heddle::layout::packed8>>("4+4 packed8", n, load);
    }
  }
  for (double load : {0.5, 0.8, 0.9, 0.95}) {
    if (wanted("8+8 packed16", load)) {
      bench<map_of<std::uint64_t, heddle::layout::packed16>>("8+8 packed16", n, load);
    }
  }
  for (double load : {0.5, 0.8, 0.9}) {
    if (wanted("8+8 state", load)) {
      bench<map_of<std::uint64_t, heddle::layout::state>>("8+8 state", n, load);
    }
  }
  for (double load : {0.5, 0.8, 0.9}) {
    if (wanted("4+4 talk", load)) {
      bench<map_of<std::uint32_t, heddle::layout::talk>>("4+4 talk", n, load);
    }
  }
  return 0;
}
