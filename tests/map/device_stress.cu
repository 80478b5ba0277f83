// Every layout of heddle::concurrent_map under many device threads: who wins, what is left, what
// fits. Prints one line per layout; anything else is a failure. With the argument `big` it is a
// stress test for a GPU.
//@ exercises: the concurrent map on the device: insert, find, erase, apply, assign by many threads;
// re-use of tombstones; one path for all keys; load 0.99; a full table
//@ flags: -extended-lambda
#include "../../include/heddle/concurrent_map.cuh"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    const cudaError_t code_ = (call);                                                              \
    if (code_ != cudaSuccess) {                                                                    \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code_));                   \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

namespace {

using heddle::insert_result;
constexpr cudaStream_t stream = nullptr;
int failures = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                          \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

struct one_path { // every key begins at the same place and steps alike
  template <class Key> __host__ __device__ std::uint64_t operator()(const Key&) const { return 7; }
};

template <class T> struct managed {
  T* data;
  std::size_t n;
  explicit managed(std::size_t count) : n(count) {
    CUDA_OK(cudaMallocManaged(&data, n * sizeof(T)));
    std::memset(static_cast<void*>(data), 0, n * sizeof(T));
  }
  ~managed() { CUDA_OK(cudaFree(data)); }
  T& operator[](std::size_t i) { return data[i]; }
};

template <class Function> __global__ void run(int n, Function function) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    function(i);
  }
}
template <class Function> void for_threads(int n, Function function) {
  run<<<(n + 127) / 128, 128>>>(n, function);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
}

__host__ __device__ unsigned random_at(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Several threads insert each key: one wins; everybody then finds a value that was offered.
template <class Map> void contended_insert(int keys, int rivals) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map(static_cast<std::size_t>(keys * 1.25) + 8);
  managed<int> wins(keys), bad(1);
  auto ref = map.ref();
  int *w = wins.data, *b = bad.data;
  for_threads(keys * rivals, [=] __device__(int i) {
    const int k = i % keys;
    const insert_result result =
        ref.try_insert(static_cast<Key>(k - keys / 2), static_cast<Value>(i));
    if (result == insert_result::inserted) {
      atomicAdd(&w[k], 1);
    } else if (result == insert_result::full) {
      atomicAdd(b, 1);
    }
    const auto found = ref.find(static_cast<Key>(k - keys / 2));
    if (!found || static_cast<int>(*found) % keys != k) {
      atomicAdd(b, 1);
    }
  });
  EXPECT(bad[0] == 0);
  int wrong = 0;
  for (int k = 0; k < keys; ++k) {
    wrong += wins[k] != 1;
  }
  EXPECT(wrong == 0);
  EXPECT(map.size(stream) == static_cast<std::size_t>(keys));
}

/// Threads insert and erase few keys at random. Insertions that won minus erasures that won is 1 or
/// 0, and says whether the key is there; a second copy of a key would survive its erasure.
template <class Map> void churn(int keys, int threads, int rounds, double load) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map(static_cast<std::size_t>(keys / load) + 1);
  managed<int> net(keys), bad(1), erased_twice(1);
  auto ref = map.ref();
  int *n = net.data, *b = bad.data, *twice = erased_twice.data;
  for_threads(threads, [=] __device__(int i) {
    for (int r = 0; r < rounds; ++r) {
      const unsigned dice = random_at(static_cast<unsigned>(i * rounds + r));
      const int k = static_cast<int>(dice % keys);
      const Key key = static_cast<Key>(k - 1); // one of them is all ones
      switch (dice >> 20 & 3) {
      case 0:
      case 1: {
        const insert_result result = ref.try_insert(key, static_cast<Value>(k));
        if (result == insert_result::inserted) {
          atomicAdd(&n[k], 1);
        }
        break;
      }
      case 2:
        if (ref.erase(key)) {
          atomicAdd(&n[k], -1);
        }
        break;
      default:
        if (auto found = ref.find(key)) {
          if (static_cast<int>(*found) != k) {
            atomicAdd(b, 1);
          }
        }
      }
    }
  });
  int present = 0;
  for (int k = 0; k < keys; ++k) {
    if (net[k] != 0 && net[k] != 1) {
      ++bad[0];
    }
    present += net[k];
  }
  EXPECT(bad[0] == 0);
  EXPECT(map.size(stream) == static_cast<std::size_t>(present));
  for_threads(keys, [=] __device__(int k) {
    const Key key = static_cast<Key>(k - 1);
    if (ref.contains(key) != (n[k] == 1) || ref.erase(key) != (n[k] == 1) || ref.contains(key) ||
        ref.erase(key)) {
      atomicAdd(twice, 1);
    }
  });
  EXPECT(erased_twice[0] == 0);
  EXPECT(map.size(stream) == 0);
}

/// Inserts more keys than fit; then erases half, and fills the tombstones.
template <class Map> void full_table(int wanted) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map(wanted);
  const int room = static_cast<int>(map.capacity());
  managed<int> inserted(1), full(1), bad(1), again(1);
  auto ref = map.ref();
  int *in = inserted.data, *f = full.data, *b = bad.data, *a = again.data;
  for_threads(room + room / 4, [=] __device__(int i) {
    const insert_result result = ref.try_insert(static_cast<Key>(i + 1), static_cast<Value>(i));
    atomicAdd(result == insert_result::inserted ? in : result == insert_result::full ? f : b, 1);
    if (ref.contains(static_cast<Key>(i + 1)) != (result == insert_result::inserted)) {
      atomicAdd(b, 1);
    }
  });
  EXPECT(inserted[0] == room && full[0] == room / 4 && bad[0] == 0);
  managed<int> erased(1);
  int* e = erased.data;
  for_threads(room + room / 4, [=] __device__(int i) {
    if (i % 2 == 0 && ref.erase(static_cast<Key>(i + 1))) {
      atomicAdd(e, 1);
    }
  });
  const int holes = erased[0];
  for_threads(holes, [=] __device__(int i) { // new keys, into tombstones only
    if (ref.try_insert(static_cast<Key>(1000000 + i), static_cast<Value>(i)) ==
        insert_result::inserted) {
      atomicAdd(a, 1);
    }
  });
  EXPECT(again[0] == holes);
  EXPECT(map.size(stream) == static_cast<std::size_t>(room));
  map.rehash(static_cast<std::size_t>(room) * 2);
  EXPECT(map.size(stream) == static_cast<std::size_t>(room));
}

template <class Map> void accumulate(int keys, int threads) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map(keys * 2);
  managed<int> bad(1);
  auto ref = map.ref();
  int* b = bad.data;
  for_threads(threads, [=] __device__(int i) {
    ref.insert_or_apply(static_cast<Key>(i % keys - 1), [](Value& v) { v += 1; });
    ref.insert_or_apply(static_cast<Key>(i % keys - 1), Value(1), [](Value& v) { v += 1; });
  });
  for_threads(keys, [=] __device__(int k) {
    const int threads_of_k = threads / keys + (k < threads % keys);
    const auto found = ref.find(static_cast<Key>(k - 1));
    if (!found || static_cast<int>(*found) != 2 * threads_of_k) {
      atomicAdd(b, 1);
    }
  });
  for_threads(threads, [=] __device__(int i) {
    ref.insert_or_assign(static_cast<Key>(i % keys - 1), static_cast<Value>(i));
  });
  for_threads(keys, [=] __device__(int k) {
    const auto found = ref.find(static_cast<Key>(k - 1));
    if (!found || static_cast<int>(*found) % keys != k) {
      atomicAdd(b, 1);
    }
  });
  EXPECT(bad[0] == 0);
}

/// Bulk calls against what they must say; `load` of the room is used.
template <class Map> void bulk(int n, double load) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map(static_cast<std::size_t>(n / load) + 1);
  managed<Key> keys(2 * n);
  managed<Value> values(2 * n), out(2 * n);
  managed<bool> found(2 * n);
  managed<insert_result> results(n);
  for (int i = 0; i < 2 * n; ++i) {
    keys[i] = static_cast<Key>(i - 1);
    values[i] = static_cast<Value>(i * 3 + 1);
  }
  map.insert(keys.data, keys.data + n, values.data, stream);
  map.insert(keys.data, keys.data + n, values.data, results.data, stream);
  map.find(keys.data, keys.data + 2 * n, out.data, Value(0), found.data, stream);
  CUDA_OK(cudaStreamSynchronize(stream));
  int wrong = 0;
  for (int i = 0; i < 2 * n; ++i) {
    wrong += found[i] != (i < n) || out[i] != (i < n ? values[i] : Value(0));
    wrong += i < n && results[i] != insert_result::exists;
  }
  EXPECT(wrong == 0);
  map.erase(keys.data, keys.data + n / 2, stream);
  map.contains(keys.data, keys.data + 2 * n, found.data, stream);
  CUDA_OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 2 * n; ++i) {
    wrong += found[i] != (i >= n / 2 && i < n);
  }
  EXPECT(wrong == 0);
  EXPECT(
      map.retrieve_all(keys.data, values.data, n, stream) == static_cast<std::size_t>(n - n / 2)
  );
  for (int i = 0; i < n - n / 2; ++i) {
    const int k = static_cast<int>(keys[i]) + 1;
    wrong += k < n / 2 || k >= n || values[i] != static_cast<Value>(k * 3 + 1);
  }
  EXPECT(wrong == 0);
  managed<unsigned long long> sum(1);
  unsigned long long* s = sum.data;
  map.for_each([=] __device__(const Key&, const Value&) { atomicAdd(s, 1ull); }, stream);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT(sum[0] == static_cast<unsigned long long>(n - n / 2));
  map.clear();
  EXPECT(map.size(stream) == 0);
}

template <template <class> class MapOf> void everything(const char* name, bool big) {
  using plain = MapOf<void>;
  using colliding = MapOf<one_path>;
  auto step = [&, last = std::chrono::steady_clock::now()](const char* what) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (big) {
      std::fprintf(
          stderr,
          "  %s, %s: %.2f s\n",
          name,
          what,
          std::chrono::duration<double>(now - last).count()
      );
    }
    last = now;
  };
  contended_insert<plain>(big ? 1000000 : 60, big ? 4 : 3);
  step("contended insertion");
  contended_insert<colliding>(big ? 300 : 20, big ? 30 : 3);
  step("contended insertion, one path");
  churn<plain>(big ? 100000 : 20, big ? 400000 : 96, big ? 10 : 6, 0.99);
  step("churn at 0.99");
  churn<plain>(
      big ? 64 : 5,
      big ? 20000 : 96,
      big ? 10 : 6,
      0.8
  ); // few keys: the same ones again and again
  step("churn over few keys");
  churn<colliding>(big ? 60 : 10, big ? 4000 : 64, big ? 5 : 6, 0.7);
  step("churn on one path");
  full_table<plain>(big ? 3000 : 40);
  step("full table");
  full_table<colliding>(big ? 200 : 15);
  accumulate<plain>(big ? 1000 : 10, big ? 300000 : 200);
  step("accumulation");
  bulk<plain>(big ? 2000000 : 100, 0.99);
  bulk<colliding>(big ? 300 : 20, 0.9);
  step("bulk");
  std::printf("%s: %s\n", name, failures == 0 ? "ok" : "FAILED");
}

using heddle::layout::packed16;
using heddle::layout::packed8;
template <class Hash, class Key>
using hash_of = std::conditional_t<std::is_void<Hash>::value, heddle::hash<Key>, Hash>;
template <class Hash, class Key, class Layout, cuda::thread_scope Scope = cuda::thread_scope_device>
using map_with = heddle::concurrent_map<
    Key,
    Key,
    Scope,
    hash_of<Hash, Key>,
    heddle::equal_to<Key>,
    heddle::default_allocator<Scope>,
    Layout>;

template <class Hash> using map8 = map_with<Hash, int, packed8>;
template <class Hash> using map_state = map_with<Hash, long long, heddle::layout::state>;
template <class Hash> using map_talk = map_with<Hash, int, heddle::layout::talk>;
template <class Hash> using map16 = map_with<Hash, long long, packed16>;

} // namespace

int main(int argc, char** argv) {
  const bool big = argc > 1 && std::strcmp(argv[1], "big") == 0;
  everything<map8>("packed8", big);
  everything<map16>("packed16", big);
  everything<map_state>("state", big);
  everything<map_talk>("talk", big);
  return failures == 0 ? 0 : 1;
}
