// heddle::concurrent_map on the host alone: properties against std::unordered_map over random
// sequences of operations, for every layout; types with constructors; what happens when they throw.
#include <gtest/gtest.h>
#include <heddle/concurrent_map.cuh>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using heddle::insert_result;
constexpr auto system_scope = cuda::thread_scope_system;

template <class Key, class Value, class Layout, class Hash = heddle::hash<Key>>
using map_of = heddle::concurrent_map<
    Key,
    Value,
    system_scope,
    Hash,
    heddle::equal_to<Key>,
    heddle::host_allocator,
    Layout>;

struct one_path {
  template <class Key> std::uint64_t operator()(const Key&) const { return 5; }
};
struct two_paths {
  template <class Key> std::uint64_t operator()(const Key& key) const {
    return static_cast<std::uint64_t>(key) % 2;
  }
};

template <class Map> class ConcurrentMap : public testing::Test {};
using Maps = testing::Types<
    map_of<int, int, heddle::layout::packed8>,
    map_of<int, int, heddle::layout::packed8, one_path>,
    map_of<std::uint8_t, float, heddle::layout::packed8>,
    map_of<short, short, heddle::layout::packed8, two_paths>,
    map_of<long, long, heddle::layout::packed16>,
    map_of<long, long, heddle::layout::packed16, two_paths>,
    map_of<long, int, heddle::layout::packed16>,
    map_of<int, double, heddle::layout::state>,
    map_of<int, int, heddle::layout::state, one_path>,
    map_of<int, long, heddle::layout::talk>,
    map_of<int, int, heddle::layout::talk, two_paths>>;
TYPED_TEST_SUITE(ConcurrentMap, Maps);

/// What both maps hold is the same, looked at in every way.
template <class Map, class Model> void expect_same(const Map& map, const Model& model) {
  ASSERT_EQ(map.size(), model.size());
  std::size_t visited = 0;
  map.for_each([&](const auto& key, const auto& value) {
    ++visited;
    const auto at = model.find(key);
    ASSERT_NE(at, model.end());
    ASSERT_EQ(at->second, value);
  });
  ASSERT_EQ(visited, model.size());
}

TYPED_TEST(ConcurrentMap, AgreesWithUnorderedMap) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const std::size_t room = 1 + random() % 60;
    const int range = 1 + static_cast<int>(random() % 90); // also more keys than fit
    TypeParam map(room);
    std::unordered_map<Key, Value> model;
    for (int step = 0; step < 1500; ++step) {
      const Key key =
          static_cast<Key>(static_cast<int>(random() % range) - range / 2); // all ones among them
      const Value value = static_cast<Value>(random() % 1000);
      const auto at = model.find(key);
      const bool there = at != model.end();
      insert_result result = there ? insert_result::exists : insert_result::inserted;
      switch (random() % 8) {
      case 0:
      case 1:
        result = map.try_insert(key, value);
        if (result == insert_result::inserted) {
          model.emplace(key, value);
        }
        break;
      case 2:
        result = map.insert_or_assign(key, value);
        if (result != insert_result::full) {
          model[key] = value;
        }
        break;
      case 3:
        result = map.insert_or_apply(key, [&](Value& v) { v += value; });
        if (result != insert_result::full) {
          model[key] += value;
        }
        break;
      case 4:
        result = map.insert_or_apply(key, value, [](Value& v) { v += 1; });
        if (result != insert_result::full) {
          there ? model[key] += 1 : model[key] = value;
        }
        break;
      case 5:
        ASSERT_EQ(map.erase(key), model.erase(key) == 1);
        break;
      case 6: {
        const auto found = map.find(key);
        ASSERT_EQ(found.has_value(), there);
        if (there) {
          ASSERT_EQ(*found, at->second);
        }
        break;
      }
      default:
        ASSERT_EQ(map.contains(key), there);
      }
      if (result == insert_result::full) { // only when there is no room indeed
        ASSERT_FALSE(there);
        ASSERT_GE(model.size(), map.capacity());
      } else {
        ASSERT_EQ(result == insert_result::exists, there);
      }
    }
    expect_same(map, model);
    map.rehash(model.size() + random() % 50);
    expect_same(map, model);
    map.clear();
    ASSERT_EQ(map.size(), 0U);
  }
}

TYPED_TEST(ConcurrentMap, FillsEverySlotAndReusesEverySlot) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  TypeParam map(20);
  const int room = static_cast<int>(map.capacity());
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < room; ++i) {
      ASSERT_EQ(
          map.try_insert(static_cast<Key>(i + 1), static_cast<Value>(i)),
          insert_result::inserted
      );
    }
    ASSERT_EQ(map.try_insert(static_cast<Key>(room + 1), Value(0)), insert_result::full);
    ASSERT_EQ(
        map.insert_or_assign(static_cast<Key>(1), static_cast<Value>(7)),
        insert_result::exists
    );
    ASSERT_EQ(map.size(), static_cast<std::size_t>(room));
    for (int i = 0; i < room; ++i) {
      ASSERT_TRUE(map.erase(static_cast<Key>(i + 1)));
    }
    ASSERT_EQ(map.size(), 0U);
  }
}

TYPED_TEST(ConcurrentMap, RehashIntoTooLittleRoomChangesNothing) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  TypeParam map(40);
  for (int i = 0; i < 40; ++i) {
    map.try_insert(static_cast<Key>(i + 1), static_cast<Value>(i));
  }
  EXPECT_THROW(map.rehash(20), std::length_error);
  EXPECT_EQ(map.size(), 40U);
}

TEST(ConcurrentMapLayouts, AreChosenByType) {
  using heddle::concurrent_map;
  static_assert(
      std::is_same_v<concurrent_map<int, float, system_scope>::layout_type, heddle::layout::packed8>
  );
  static_assert(std::is_same_v<
                concurrent_map<long, float, system_scope>::layout_type,
                heddle::layout::packed16>);
  static_assert(
      std::
          is_same_v<concurrent_map<int, void*, system_scope>::layout_type, heddle::layout::packed16>
  );
  static_assert(
      std::is_same_v<concurrent_map<float, int, system_scope>::layout_type, heddle::layout::state>
  );
  static_assert(std::is_same_v<
                concurrent_map<std::string, int, system_scope>::layout_type,
                heddle::layout::state>);
  static_assert(std::is_same_v<
                concurrent_map<int, std::string, system_scope>::layout_type,
                heddle::layout::state>);
  static_assert(
      std::is_trivially_copyable_v<concurrent_map<std::string, int, system_scope>::ref_type>
  );
}

TEST(ConcurrentMapOfObjects, ConstructsAndDestroysEachOnce) {
  const auto counted = std::make_shared<int>(1);
  {
    heddle::concurrent_map<std::string, std::shared_ptr<int>, system_scope> map(10);
    EXPECT_EQ(map.try_insert("one", counted), insert_result::inserted);
    EXPECT_EQ(map.try_insert("one", counted), insert_result::exists);
    EXPECT_EQ(map.try_emplace("two", counted), insert_result::inserted);
    EXPECT_EQ(counted.use_count(), 3);
    EXPECT_TRUE(map.erase("one"));
    EXPECT_EQ(counted.use_count(), 2);
    EXPECT_EQ(map.insert_or_assign("two", nullptr), insert_result::exists);
    EXPECT_EQ(counted.use_count(), 1);
    map.insert_or_assign("two", counted);
    map.rehash(100);
    EXPECT_EQ(counted.use_count(), 2);
    auto moved = std::move(map);
    EXPECT_EQ(**moved.find("two"), 1);
    bool visited = false;
    EXPECT_TRUE(moved.find("two", [&](const std::shared_ptr<int>& value) {
      visited = value == counted;
    }));
    EXPECT_TRUE(visited);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

struct Fragile {
  int number;
  explicit Fragile(int n) : number(n) {
    if (n < 0) {
      throw std::runtime_error("negative");
    }
  }
};

TEST(ConcurrentMapOfObjects, SurvivesConstructorsThatThrow) {
  heddle::concurrent_map<std::string, Fragile, system_scope> map(3);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(map.try_emplace("key", -1), std::runtime_error);
    EXPECT_FALSE(map.contains("key"));
  }
  EXPECT_EQ(map.try_emplace("key", 5), insert_result::inserted); // nobody holds the slot
  EXPECT_EQ(map.size(), 1U);
  EXPECT_EQ(map.try_emplace("b", 1), insert_result::inserted);
  EXPECT_EQ(map.try_emplace("c", 2), insert_result::inserted); // and no slot was lost
}

TEST(ConcurrentMapOfObjects, SurvivesFunctionsThatThrow) {
  heddle::concurrent_map<std::string, int, system_scope> map(3);
  map.try_insert("key", 1);
  EXPECT_THROW(
      map.insert_or_apply("key", [](int&) { throw std::runtime_error("no"); }),
      std::runtime_error
  );
  EXPECT_THROW(
      map.find("key", [](const int&) { throw std::runtime_error("no"); }),
      std::runtime_error
  );
  EXPECT_EQ(*map.find("key"), 1);
  EXPECT_TRUE(map.erase("key"));
}

TEST(ConcurrentMapOfNumbers, ReservesNothing) {
  heddle::concurrent_map<unsigned, unsigned, system_scope> map(100);
  for (unsigned key : {0U, 1U, 0xffffffffU, 0xfffffffeU, 0x80000000U}) {
    for (unsigned value : {0U, 1U, 2U, 3U, 0xffffffffU}) {
      EXPECT_EQ(
          map.insert_or_assign(key, value),
          value == 0 ? insert_result::inserted : insert_result::exists
      );
      ASSERT_TRUE(map.find(key));
      EXPECT_EQ(*map.find(key), value);
    }
  }
  EXPECT_EQ(map.size(), 5U);
  for (unsigned key : {0U, 1U, 0xffffffffU, 0xfffffffeU, 0x80000000U}) {
    EXPECT_TRUE(map.erase(key));
    EXPECT_FALSE(map.erase(key));
    EXPECT_FALSE(map.contains(key));
  }
}

template <class Map> class MapOfProcesses : public testing::Test {};
using SharedMaps = testing::Types<
    map_of<int, int, heddle::layout::packed8>,
    map_of<int, int, heddle::layout::packed16>,
    map_of<int, int, heddle::layout::state>,
    map_of<int, int, heddle::layout::talk>>;
TYPED_TEST_SUITE(MapOfProcesses, SharedMaps);

// In memory of the caller's: no pointer of one process is in it.
TYPED_TEST(MapOfProcesses, TakeTurnsInOneMemory) {
  using map = TypeParam;
  constexpr std::size_t capacity = 4000;
  constexpr int processes = 4, keys = 3000;
  const std::size_t bytes = map::bytes_at(capacity);
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto ref = map::ref_at(memory, capacity);
      for (int i = 0; i < keys; ++i) { // each has an order of its own
        const int key = (i * 7 + process * 997) % keys;
        (void)ref.insert_or_apply(key, 1, [](int& n) { ++n; });
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto ref = map::ref_at(memory, capacity);
  for (int key = 0; key < keys; ++key) {
    const auto value = ref.find(key);
    ASSERT_TRUE(value) << key;
    EXPECT_EQ(*value, processes);
  }
  ::munmap(memory, bytes);
}

} // namespace
