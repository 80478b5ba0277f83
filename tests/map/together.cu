// Host threads and device threads on one concurrent_map at the same time, and on the small
// companions.
//@ exercises: concurrent_map of system scope in managed memory used by host and device at once, in mapped memory;
// mutex, ticket_mutex, once, mpmc_queue between the two sides
#include "../../include/heddle/concurrent_map.cuh"
#include "../../include/heddle/mpmc_queue.cuh"
#include "../../include/heddle/mutex.cuh"
#include "../../include/heddle/once.cuh"

#include <cstdio>
#include <cstdlib>
#include <thread>
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
constexpr auto scope = cuda::thread_scope_system;
constexpr int host_threads = 2, device_threads = 64, keys = 12;

struct Shared {
  heddle::mutex<scope> mutex;
  heddle::ticket_mutex<scope> ticket;
  heddle::once<scope> once;
  heddle::mpmc_queue<int, 16, scope> queue;
  int by_mutex, by_ticket, by_once;
  unsigned long long pushed, popped;
  int net[keys], sums[keys];
};

__host__ __device__ void add(unsigned long long& to, unsigned long long n) {
  cuda::atomic_ref<unsigned long long, scope>(to).fetch_add(n);
}
__host__ __device__ void add(int& to, int n) {
  cuda::atomic_ref<int, scope>(to).fetch_add(n);
}

/// The same code for both sides: `Map` is the map on the host and its ref on the device.
#pragma nv_exec_check_disable
template <class Map> __host__ __device__ void work(Map& map, Shared& s, int me, int rounds) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  for (int r = 0; r < rounds; ++r) {
    const int k = (me * 5 + r * 7) % keys;
    const Key key = static_cast<Key>(k - 1);
    if (map.try_insert(key, static_cast<Value>(k)) == insert_result::inserted) {
      add(s.net[k], 1);
    }
    if (const auto found = map.find(key)) {
      add(s.sums[k], static_cast<int>(*found) != k);
    }
    if ((me + r) % 3 == 0 && map.erase(key)) {
      add(s.net[k], -1);
    }
    {
      heddle::lock_guard<heddle::mutex<scope>> hold(s.mutex);
      ++s.by_mutex;
    }
    {
      heddle::lock_guard<heddle::ticket_mutex<scope>> hold(s.ticket);
      ++s.by_ticket;
    }
    s.once.call([&s] { ++s.by_once; });
    int value = me * rounds + r + 1;
    if (s.queue.try_push(value)) {
      add(s.pushed, static_cast<unsigned long long>(value));
    }
    if (s.queue.try_pop(value)) {
      add(s.popped, static_cast<unsigned long long>(value));
    }
  }
}

template <class Ref> __global__ void device_part(Ref map, Shared* s, int rounds) {
  work(map, *s, host_threads + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), rounds);
}

/// With at_once host threads and device threads take part at the same time, otherwise in turn.
template <class Key, class Layout, class Allocator = heddle::managed_allocator>
void test(const char* name, int rounds, bool at_once = true) {
  using Map = heddle::concurrent_map<
      Key,
      Key,
      scope,
      heddle::hash<Key>,
      heddle::equal_to<Key>,
      Allocator,
      Layout>;
  Map map(keys + 2);
  Shared* s;
  CUDA_OK(cudaMallocManaged(&s, sizeof *s));
  new (s) Shared();
  device_part<<<2, device_threads / 2>>>(map.ref(), s, rounds);
  CUDA_OK(cudaGetLastError());
  if (!at_once) {
    CUDA_OK(cudaDeviceSynchronize());
  }
  std::vector<std::thread> team;
  for (int t = 0; t < host_threads; ++t) {
    team.emplace_back([&map, s, t, rounds] { work(map, *s, t, rounds); });
  }
  for (std::thread& thread : team) {
    thread.join();
  }
  CUDA_OK(cudaDeviceSynchronize());
  const int everybody = (host_threads + device_threads) * rounds;
  bool right = s->by_mutex == everybody && s->by_ticket == everybody && s->by_once == 1;
  for (int value; s->queue.try_pop(value);) {
    s->popped += value;
  }
  right = right && s->pushed == s->popped;
  std::size_t present = 0;
  for (int k = 0; k < keys; ++k) {
    right = right && (s->net[k] == 0 || s->net[k] == 1) && s->sums[k] == 0;
    present += s->net[k] == 1;
    right = right && map.contains(static_cast<Key>(k - 1)) == (s->net[k] == 1);
  }
  right = right && map.size() == present;
  for (int k = 0; k < keys; ++k) {
    right = right && map.erase(static_cast<Key>(k - 1)) == (s->net[k] == 1);
  }
  right = right && map.size() == 0;
  std::printf("%s: %s\n", name, right ? "ok" : "FAILED");
  CUDA_OK(cudaFree(s));
}

} // namespace

int main(int argc, char**) {
  int concurrent = 0;
  CUDA_OK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
  if (concurrent == 0) {
    std::printf("not a device for this test\n");
    return 0;
  }
  const int rounds = argc > 1 ? 200 : 12;
  test<int, heddle::layout::packed8>("packed8", rounds);
  test<long long, heddle::layout::packed16>("packed16", rounds);
  test<int, heddle::layout::state>("state", rounds);
  test<long long, heddle::layout::talk>("talk", rounds);
  // Host memory mapped into the device: exchanges of both sides are atomic only over some links.
  int native = 0;
  CUDA_OK(cudaDeviceGetAttribute(&native, cudaDevAttrHostNativeAtomicSupported, 0));
  test<int, heddle::layout::packed8, heddle::mapped_allocator>("mapped, packed8", rounds, native);
  test<int, heddle::layout::state, heddle::mapped_allocator>("mapped, state", rounds, native);
  return 0;
}
