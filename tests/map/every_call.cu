// Calls everything that the headers offer, to be compiled by other compilers and toolkits: see
// toolkits.py. It is not run.
#include "../../include/heddle/concurrent_map.cuh"
#include "../../include/heddle/mpmc_queue.cuh"
#include "../../include/heddle/mutex.cuh"
#include "../../include/heddle/once.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

struct companions {
  heddle::mpmc_queue<int, 4> queue;
  heddle::mutex<> mutex;
  heddle::ticket_mutex<> ticket;
  heddle::once<> once;
};

template <class Ref> __device__ void one_thread(Ref map) {
  using Key = typename Ref::key_type;
  using Value = typename Ref::mapped_type;
  map.try_insert(Key(1), Value(2));
  map.insert_or_assign(Key(1), Value(3));
  map.insert_or_apply(Key(1), [](Value& v) { v += Value(1); });
  map.insert_or_apply(Key(1), Value(7), [](Value& v) { v += Value(1); });
  map.find(Key(1), [](const Value&) {});
  if (map.find(Key(1)) && map.contains(Key(2))) {
    map.erase(Key(1));
  }
  map.visit_place(0, [](const Key&, const Value&) {});
}
template <class Ref> __global__ void on_device(Ref map, companions* c) {
  using Key = typename Ref::key_type;
  using Value = typename Ref::mapped_type;
  one_thread(map);
  one_thread(map.relaxed());
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  map.try_insert(warp, Key(1), Value(2));
  if (map.find(warp, Key(1)) && map.contains(warp, Key(1))) {
    map.erase(warp, Key(1));
  }
  __shared__ heddle::shared_map<Key, Value, 100> shared;
  shared.clear(cg::this_thread_block());
  one_thread(shared.ref());
  c->mutex.lock();
  c->mutex.unlock();
  c->ticket.lock();
  c->ticket.unlock();
  c->once.call([] {});
  int value = 1;
  c->queue.push(value);
  if (c->queue.try_pop(value)) {
    c->queue.try_push(c->queue.pop());
  }
}
template <class Key, class Layout> void use(Key* keys, bool* found, companions* c) {
  heddle::concurrent_map<
      Key,
      Key,
      cuda::thread_scope_system,
      heddle::hash<Key>,
      heddle::equal_to<Key>,
      heddle::managed_allocator,
      Layout>
      map(100000);
  on_device<<<1, 32>>>(map.ref(), c);
  map.insert(keys, keys + 10, keys, nullptr);
  map.contains(keys, keys + 10, found, nullptr);
  map.erase(keys, keys + 10, nullptr);
  map.find(keys, keys + 10, keys, Key(0), nullptr);
  map.retrieve_all(keys, keys, 5, nullptr);
  map.try_emplace(Key(1), Key(2));
  map.insert_or_apply(Key(1), [](Key& v) { v += 1; });
  map.for_each([](const Key&, const Key&) {});
  map.rehash(map.size() + map.size(nullptr));
  map.clear();
}

int main() {
  use<int, heddle::layout::automatic>(nullptr, nullptr, nullptr);
  use<long long, heddle::layout::automatic>(nullptr, nullptr, nullptr);
  use<long long, heddle::layout::talk>(nullptr, nullptr, nullptr);
}
