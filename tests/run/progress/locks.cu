// Locks of every kind, taken by lanes of one warp and by blocks: test-and-set, test-and-test-and-set with back-off, ticket, MCS queue, reader-writer, per-bucket.
//@ exercises: [WARP-ITS] blocking synchronisation between lanes (starvation-free only with independent scheduling), atomicCAS/atomicExch locks, __nanosleep, acquire/release orders
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

using Word = cuda::atomic<unsigned, cuda::thread_scope_device>;

__global__ void test_and_set(int* lock, int* counter, int* history) {
  Patience patience;
  while (atomicCAS(lock, 0, 1) != 0) {
    patience.wait();
  }
  __threadfence();
  int value = *static_cast<volatile int*>(counter);
  history[value] = 1;
  *static_cast<volatile int*>(counter) = value + 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void with_back_off(Word* lock, long long* sum) {
  Patience patience;
  unsigned delay = 8;
  while (true) {
    if (lock->load(cuda::memory_order_relaxed) == 0 && lock->exchange(1, cuda::memory_order_acquire) == 0) {
      break;
    }
    __nanosleep(delay);
    delay = delay < 256 ? delay * 2 : delay;
    patience.wait();
  }
  *sum = *sum * 1 + threadIdx.x + blockIdx.x * blockDim.x;
  lock->store(0, cuda::memory_order_release);
}

struct TicketLock {
  Word next, serving;
};

__global__ void ticket(TicketLock* lock, unsigned* order) {
  unsigned mine = lock->next.fetch_add(1, cuda::memory_order_relaxed);
  Patience patience;
  while (lock->serving.load(cuda::memory_order_acquire) != mine) {
    patience.wait();
  }
  order[mine] = mine + 1; // entered in the order of the tickets
  lock->serving.store(mine + 1, cuda::memory_order_release);
}

struct McsNode {
  cuda::atomic<McsNode*, cuda::thread_scope_device> next;
  Word locked;
};

__global__ void mcs(cuda::atomic<McsNode*, cuda::thread_scope_device>* tail, McsNode* nodes, int* counter) {
  McsNode& node = nodes[blockIdx.x * blockDim.x + threadIdx.x];
  Patience patience;
  node.next.store(nullptr, cuda::memory_order_relaxed);
  node.locked.store(1, cuda::memory_order_relaxed);
  McsNode* before = tail->exchange(&node, cuda::memory_order_acq_rel);
  if (before) {
    before->next.store(&node, cuda::memory_order_release);
    while (node.locked.load(cuda::memory_order_acquire)) {
      patience.wait();
    }
  }
  *counter += 1;
  McsNode* expected = &node;
  if (!tail->compare_exchange_strong(expected, nullptr, cuda::memory_order_acq_rel)) {
    McsNode* after;
    while (!(after = node.next.load(cuda::memory_order_acquire))) {
      patience.wait();
    }
    after->locked.store(0, cuda::memory_order_release);
  }
}

struct ReaderWriter {
  cuda::atomic<int, cuda::thread_scope_device> state; // -1: writer, n: readers
};

__global__ void reader_writer(ReaderWriter* lock, int* pair, int* errors) {
  Patience patience;
  if (threadIdx.x % 8 == 0) {
    int expected = 0;
    while (!lock->state.compare_exchange_weak(expected, -1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) {
      expected = 0;
      patience.wait();
    }
    pair[0] += 1;
    pair[1] += 2;
    lock->state.store(0, cuda::memory_order_release);
  } else {
    int seen = lock->state.load(cuda::memory_order_relaxed);
    while (seen < 0 || !lock->state.compare_exchange_weak(seen, seen + 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) {
      seen = lock->state.load(cuda::memory_order_relaxed);
      patience.wait();
    }
    volatile int* now = pair;
    if (now[1] != 2 * now[0]) {
      atomicAdd(errors, 1);
    }
    lock->state.fetch_sub(1, cuda::memory_order_release);
  }
}

__global__ void dining(Word* forks, int* meals, int count, int rounds) {
  // Ordered acquisition of two neighbouring locks: no deadlock whatever the schedule.
  int me = threadIdx.x, left = me, right = (me + 1) % count;
  int first = min(left, right), second = max(left, right);
  Patience patience;
  for (int i = 0; i < rounds; ++i) {
    while (forks[first].exchange(1, cuda::memory_order_acquire)) {
      patience.wait();
    }
    while (forks[second].exchange(1, cuda::memory_order_acquire)) {
      patience.wait();
    }
    meals[me] += 1;
    forks[second].store(0, cuda::memory_order_release);
    forks[first].store(0, cuda::memory_order_release);
  }
}

int main() {
  Buffer<int> lock(1), counter(1), history(512);
  test_and_set<<<4, 64>>>(lock, counter, history);
  SYNC_OK();
  int entered = 0;
  for (int mark : history.get()) {
    entered += mark;
  }
  std::printf("test-and-set %d %d\n", counter.get()[0], entered);

  Buffer<Word> word(1);
  Buffer<long long> sum(1);
  with_back_off<<<4, 32>>>(word, sum);
  SYNC_OK();
  std::printf("back-off %lld\n", sum.get()[0]);

  Buffer<TicketLock> tickets(1);
  Buffer<unsigned> order(128);
  ticket<<<2, 64>>>(tickets, order);
  SYNC_OK();
  bool ordered = true;
  auto entries = order.get();
  for (unsigned i = 0; i < 128; ++i) {
    ordered = ordered && entries[i] == i + 1;
  }
  std::printf("ticket %d\n", ordered);

  Buffer<cuda::atomic<McsNode*, cuda::thread_scope_device>> tail(1);
  Buffer<McsNode> nodes(96);
  counter.clear();
  mcs<<<3, 32>>>(tail, nodes, counter);
  SYNC_OK();
  std::printf("mcs %d\n", counter.get()[0]);

  Buffer<ReaderWriter> shared_lock(1);
  Buffer<int> pair(2), errors(1);
  reader_writer<<<2, 64>>>(shared_lock, pair, errors);
  SYNC_OK();
  std::printf("reader-writer %d %d errors %d\n", pair.get()[0], pair.get()[1], errors.get()[0]);

  constexpr int philosophers = 20;
  Buffer<Word> forks(philosophers);
  Buffer<int> meals(philosophers);
  dining<<<1, philosophers>>>(forks, meals, philosophers, 10);
  SYNC_OK();
  int total = 0;
  for (int count : meals.get()) {
    total += count;
  }
  std::printf("dining %d\n", total);
}
