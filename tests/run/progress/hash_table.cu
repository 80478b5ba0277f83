// A concurrent hash table in global memory: insertion by compare-and-swap, lookup, counting, bucket chains with a lock, insertion from the host and the device at once.
//@ exercises: atomicCAS 32/64, open addressing, linked buckets with per-bucket spin locks, cuda::atomic of system scope used by both sides
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

#include <thread>

constexpr unsigned empty_key = 0xffffffffu;

__host__ __device__ unsigned mix(unsigned key) {
  key ^= key >> 16;
  key *= 0x7feb352du;
  key ^= key >> 15;
  key *= 0x846ca68bu;
  return key ^ key >> 16;
}

__global__ void clear(unsigned long long* table, int capacity) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < capacity; i += gridDim.x * blockDim.x) {
    table[i] = static_cast<unsigned long long>(empty_key) << 32;
  }
}

__global__ void insert(unsigned long long* table, unsigned mask, const unsigned* keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  unsigned key = keys[i], slot = mix(key) & mask;
  unsigned long long wanted = (static_cast<unsigned long long>(key) << 32) | 1;
  while (true) {
    unsigned long long seen = atomicCAS(&table[slot], static_cast<unsigned long long>(empty_key) << 32, wanted);
    unsigned seen_key = static_cast<unsigned>(seen >> 32);
    if (seen_key == empty_key) {
      return;
    }
    if (seen_key == key) {
      atomicAdd(&table[slot], 1ull); // counts duplicates in the low half
      return;
    }
    slot = (slot + 1) & mask;
  }
}

__global__ void find(const unsigned long long* table, unsigned mask, const unsigned* keys, int n, unsigned* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  unsigned slot = mix(keys[i]) & mask;
  while (true) {
    unsigned long long entry = table[slot];
    unsigned key = static_cast<unsigned>(entry >> 32);
    if (key == keys[i] || key == empty_key) {
      counts[i] = key == empty_key ? 0 : static_cast<unsigned>(entry);
      return;
    }
    slot = (slot + 1) & mask;
  }
}

// Chained buckets, each with a lock: critical sections of lanes of one warp.
struct Node {
  unsigned key, count;
  int next;
};
struct Chains {
  int heads[64];
  int locks[64];
  unsigned used;
  Node nodes[1024];
};

__global__ void chain_insert(Chains* chains, const unsigned* keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  unsigned bucket = mix(keys[i]) % 64;
  Patience patience;
  bool done = false;
  while (!done) {
    if (atomicCAS(&chains->locks[bucket], 0, 1) == 0) {
      __threadfence();
      int at = *static_cast<volatile int*>(&chains->heads[bucket]);
      while (at >= 0 && *static_cast<volatile unsigned*>(&chains->nodes[at].key) != keys[i]) {
        at = *static_cast<volatile int*>(&chains->nodes[at].next);
      }
      if (at >= 0) {
        atomicAdd(&chains->nodes[at].count, 1u);
      } else {
        unsigned fresh = atomicAdd(&chains->used, 1u);
        volatile Node& node = chains->nodes[fresh];
        node.key = keys[i];
        node.count = 1;
        node.next = chains->heads[bucket];
        __threadfence();
        *static_cast<volatile int*>(&chains->heads[bucket]) = static_cast<int>(fresh);
      }
      __threadfence();
      atomicExch(&chains->locks[bucket], 0);
      done = true;
    }
    patience.wait();
  }
}

// One set filled by the host and the device at the same time.
using Slot = cuda::atomic<unsigned, cuda::thread_scope_system>;
__host__ __device__ bool insert_both(Slot* slots, unsigned mask, unsigned key) {
  for (unsigned slot = mix(key) & mask;; slot = (slot + 1) & mask) {
    unsigned expected = 0;
    if (slots[slot].compare_exchange_strong(expected, key, cuda::memory_order_acq_rel)) {
      return true;
    }
    if (expected == key) {
      return false;
    }
  }
}

__global__ void device_side(Slot* slots, unsigned mask, unsigned first, int n, Slot* inserted) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && insert_both(slots, mask, first + i)) {
    inserted->fetch_add(1, cuda::memory_order_relaxed);
  }
}

int main() {
  constexpr int n = 2000, capacity = 4096;
  std::vector<unsigned> keys(n), host_counts(1000);
  Lcg random{31};
  for (auto& key : keys) {
    key = random.next() % 1000;
    ++host_counts[key];
  }
  Buffer<unsigned> dkeys(keys), counts(n);
  Buffer<unsigned long long> table(capacity);
  clear<<<4, 128>>>(table, capacity);
  insert<<<(n + 127) / 128, 128>>>(table, capacity - 1, dkeys, n);
  find<<<(n + 127) / 128, 128>>>(table, capacity - 1, dkeys, n, counts);
  SYNC_OK();
  auto found = counts.get();
  for (int i = 0; i < n; ++i) {
    EXPECT(found[i] == host_counts[keys[i]]);
  }
  std::printf("open addressing %016llx\n", static_cast<unsigned long long>(digest(found)));

  std::vector<Chains> empty(1);
  std::fill(empty[0].heads, empty[0].heads + 64, -1);
  Buffer<Chains> chains(empty);
  chain_insert<<<(n + 63) / 64, 64>>>(chains, dkeys, n);
  SYNC_OK();
  auto filled = chains.get()[0];
  unsigned distinct = 0;
  for (unsigned count : host_counts) {
    distinct += count > 0;
  }
  EXPECT(filled.used == distinct);
  for (unsigned i = 0; i < filled.used; ++i) {
    EXPECT(filled.nodes[i].count == host_counts[filled.nodes[i].key]);
  }
  std::printf("chains %u\n", filled.used);

  constexpr unsigned both_capacity = 2048;
  Slot* slots;
  CUDA_OK(cudaMallocManaged(&slots, (both_capacity + 1) * sizeof(Slot)));
  for (unsigned i = 0; i <= both_capacity; ++i) {
    new (&slots[i]) Slot(0);
  }
  // Without concurrent managed access the two sides would have to take turns.
  int concurrent = 0;
  CUDA_OK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
  EXPECT(concurrent);
  device_side<<<8, 64>>>(slots, both_capacity - 1, 1, 500, &slots[both_capacity]);
  CUDA_OK(cudaGetLastError());
  int by_host = 0;
  for (unsigned key = 251; key <= 750; ++key) {
    by_host += insert_both(slots, both_capacity - 1, key);
  }
  SYNC_OK();
  unsigned present = 0;
  for (unsigned i = 0; i < both_capacity; ++i) {
    present += slots[i].load() != 0;
  }
  std::printf("both sides %u, inserted %u\n", present, slots[both_capacity].load() + by_host);
  CUDA_OK(cudaFree(slots));
}
