// Host threads on one heddle::concurrent_map, for ThreadSanitizer: every layout, contended
// insertion, churn over few keys, values that refer to memory written before. Prints nothing unless
// something is wrong.
#include <heddle/concurrent_map.cuh>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using heddle::insert_result;
constexpr int threads = 4;
std::atomic<int> failures{0};

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                          \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

template <class Function> void together(Function function) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&function, t] { function(t); });
  }
  for (std::thread& thread : team) {
    thread.join();
  }
}

unsigned random_at(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

template <class Map> void churn(int keys, std::size_t room, int rounds) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map(room);
  std::vector<std::atomic<int>> net(keys);
  together([&](int t) {
    for (int r = 0; r < rounds; ++r) {
      const unsigned dice = random_at(static_cast<unsigned>(t * rounds + r));
      const int k = static_cast<int>(dice % keys);
      const Key key = static_cast<Key>(k - 1);
      switch (dice >> 20 & 7) {
      case 0:
      case 1:
      case 2:
        net[k] += map.try_insert(key, static_cast<Value>(k)) == insert_result::inserted;
        break;
      case 3:
      case 4:
        net[k] -= map.erase(key);
        break;
      case 5:
        net[k] += map.insert_or_assign(key, static_cast<Value>(k)) == insert_result::inserted;
        break;
      case 6:
        net[k] += map.insert_or_apply(key, static_cast<Value>(k), [](Value&) {}) ==
                  insert_result::inserted;
        break;
      default:
        if (const auto found = map.find(key)) {
          EXPECT(static_cast<int>(*found) == k);
        }
      }
    }
  });
  std::size_t present = 0;
  for (int k = 0; k < keys; ++k) {
    const bool there = net[k] == 1;
    EXPECT(there || net[k] == 0);
    EXPECT(map.contains(static_cast<Key>(k - 1)) == there);
    present += there;
  }
  EXPECT(map.size() == present);
  for (int k = 0; k < keys; ++k) {
    EXPECT(map.erase(static_cast<Key>(k - 1)) == (net[k] == 1));
  }
  EXPECT(map.size() == 0); // no second copy of anything
}

/// Who finds a pointer sees what it points to: the map orders it.
template <class Layout> void publishes(int rounds) {
  heddle::concurrent_map<
      long,
      int*,
      cuda::thread_scope_system,
      heddle::hash<long>,
      heddle::equal_to<long>,
      heddle::host_allocator,
      Layout>
      map(rounds * 2);
  std::vector<int> cells(rounds);
  together([&](int t) {
    for (int r = 0; r < rounds; ++r) {
      if (t == 0) {
        cells[r] = r + 1;
        map.try_insert(r, &cells[r]);
      } else if (const auto found = map.find(r)) {
        EXPECT(**found == r + 1);
      }
    }
  });
}

struct Fragile {
  std::string text;
  Fragile(int t, int r) : text(std::to_string(t)) {
    if (r % 3 != 0) {
      throw std::runtime_error("not this time");
    }
  }
};

void constructors_that_throw(int rounds) {
  heddle::concurrent_map<std::string, Fragile, cuda::thread_scope_system> map(20);
  together([&](int t) {
    for (int r = 0; r < rounds; ++r) {
      const std::string key = std::to_string(r % 5);
      try {
        map.try_emplace(key, t, r + t);
      } catch (const std::runtime_error&) {
      }
      map.find(key, [](const Fragile& f) { EXPECT(f.text.size() == 1); });
      if (r % 7 == 0) {
        map.erase(key);
      }
    }
  });
}

struct one_path {
  template <class Key> std::uint64_t operator()(const Key&) const { return 5; }
};
template <class Key, class Layout, class Hash = heddle::hash<Key>>
using map_of = heddle::concurrent_map<
    Key,
    Key,
    cuda::thread_scope_system,
    Hash,
    heddle::equal_to<Key>,
    heddle::host_allocator,
    Layout>;

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4000;
  churn<map_of<int, heddle::layout::packed8>>(30, 28, rounds);
  churn<map_of<int, heddle::layout::packed8>>(3, 14, rounds);
  churn<map_of<int, heddle::layout::packed8, one_path>>(12, 14, rounds);
  churn<map_of<long, heddle::layout::packed16>>(30, 28, rounds);
  churn<map_of<long, heddle::layout::packed16, one_path>>(12, 14, rounds);
  churn<map_of<int, heddle::layout::state>>(30, 28, rounds);
  churn<map_of<int, heddle::layout::state, one_path>>(6, 7, rounds);
  churn<map_of<long, heddle::layout::talk>>(30, 28, rounds);
  publishes<heddle::layout::packed16>(rounds);
  publishes<heddle::layout::state>(rounds);
  publishes<heddle::layout::talk>(rounds);
  constructors_that_throw(rounds);
  return failures == 0 ? 0 : 1;
}
