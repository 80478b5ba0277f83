// The map's rates on the host, against tbb::concurrent_hash_map and a std::unordered_map behind a
// mutex: threads insert distinct scattered keys, then find all of them, then do both by turns.
// Million operations per second.
//
//     g++ -std=c++17 -O3 -I../../include -isystem $CUDA/include/cccl -isystem $CUDA/include
//     host.cpp -ltbb -pthread
//     ./a.out [threads] [millions of keys]
#include <heddle/concurrent_map.cuh>
#include <tbb/concurrent_hash_map.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

int threads = 2;
std::size_t n = 4000000;

std::uint64_t scattered(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

template <class Function> double rate(Function function) {
  const auto from = std::chrono::steady_clock::now();
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      for (std::size_t i = n * t / threads; i < n * (t + 1) / threads; ++i) {
        function(i);
      }
    });
  }
  for (std::thread& thread : team) {
    thread.join();
  }
  return n / std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count() / 1e6;
}

template <class Key, class Layout> struct Ours {
  heddle::concurrent_map<
      Key,
      Key,
      cuda::thread_scope_system,
      heddle::hash<Key>,
      heddle::equal_to<Key>,
      heddle::host_allocator,
      Layout>
      map;
  explicit Ours(std::size_t room) : map(room) {}
  void insert(Key key) { map.try_insert(key, key); }
  bool find(Key key) { return map.contains(key); }
};
template <class Key> struct Tbb {
  tbb::concurrent_hash_map<Key, Key> map;
  explicit Tbb(std::size_t room) : map(room) {}
  void insert(Key key) { map.insert({key, key}); }
  bool find(Key key) { return map.count(key) != 0; }
};
template <class Key> struct Locked {
  std::unordered_map<Key, Key> map;
  std::mutex mutex;
  explicit Locked(std::size_t room) { map.reserve(room); }
  void insert(Key key) {
    std::lock_guard<std::mutex> hold(mutex);
    map.emplace(key, key);
  }
  bool find(Key key) {
    std::lock_guard<std::mutex> hold(mutex);
    return map.count(key) != 0;
  }
};

template <class Key, class Map> void bench(const char* name) {
  double insert = 0, find = 0, mixed = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Map map(n + n / 4);
    std::atomic<std::size_t> missed{0};
    insert =
        std::max(insert, rate([&](std::size_t i) { map.insert(static_cast<Key>(scattered(i))); }));
    find = std::max(find, rate([&](std::size_t i) {
                      if (!map.find(static_cast<Key>(scattered(i)))) {
                        ++missed;
                      }
                    }));
    Map other(n + n / 4);
    mixed = std::max(mixed, rate([&](std::size_t i) {
                       if (i % 2 == 0) {
                         other.insert(static_cast<Key>(scattered(i)));
                       } else {
                         other.find(static_cast<Key>(scattered(i - 1)));
                       }
                     }));
    if (missed != 0) {
      std::printf("%s: %zu keys were not found\n", name, missed.load());
    }
  }
  std::printf("%-28s insert %6.1f  find %6.1f  mixed %6.1f\n", name, insert, find, mixed);
}

} // namespace

int main(int argc, char** argv) {
  threads = argc > 1 ? std::atoi(argv[1]) : 2;
  n = static_cast<std::size_t>((argc > 2 ? std::atof(argv[2]) : 4) * 1e6);
  std::printf("%d threads, %zu keys, load 0.8, million operations per second\n", threads, n);
  bench<std::uint32_t, Ours<std::uint32_t, heddle::layout::packed8>>("4+4 packed8");
  bench<std::uint32_t, Tbb<std::uint32_t>>("4+4 tbb");
  bench<std::uint32_t, Locked<std::uint32_t>>("4+4 unordered_map, mutex");
  bench<std::uint64_t, Ours<std::uint64_t, heddle::layout::packed16>>("8+8 packed16");
  bench<std::uint64_t, Ours<std::uint64_t, heddle::layout::state>>("8+8 state");
  bench<std::uint64_t, Tbb<std::uint64_t>>("8+8 tbb");
  bench<std::uint64_t, Locked<std::uint64_t>>("8+8 unordered_map, mutex");
  return 0;
}
