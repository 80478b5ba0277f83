// malloc and free in kernels. As long as there is room whatever happens, calls of different threads commute, and a
// kernel that allocates is no more work for a search than one that does not; if there may be none, it matters who
// comes first, and malloc returns null to somebody.
#include "cases.h"

struct Node {
  int value;
  Node* next;
};
__device__ Node* lists[64];
__device__ Atomic<int> ready, failed, total;

// --- There is always room ---------------------------------------------------------------------------

//@ case: lists block 32
//@ verdict: terminates
//@ large: each order of 160 allocations
//@ case: lists plain 3
//@ verdict: terminates
//@ large: each order of 18 allocations
__global__ void build() {
  Node* head = nullptr;
  for (int i = 0; i < 2 + me() % 2; ++i) {
    auto* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = me();
    node->next = head;
    head = node;
  }
  lists[me()] = head;
}
__global__ void release_list() {
  int sum = 0;
  for (Node* node = lists[me()]; node != nullptr;) {
    Node* next = node->next;
    sum += node->value;
    free(node);
    node = next;
  }
  total += sum;
}
int run_lists(Setup setup) {
  const cudaError_t first = launch(setup, build), second = launch(setup, release_list);
  return static_cast<int>(first) + static_cast<int>(second) + static_cast<int>(cudaDeviceSynchronize());
}

/// Each thread makes a node and gives it to the next one, which frees it. `wrong`: nobody begins.
//@ case: ring block 3
//@ verdict: terminates
//@ case: ring plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: ring-wrong block 2
//@ verdict: may-hang
//@ finding: livelock
__device__ Atomic<Node*> mailbox[64];
template <bool wrong> __global__ void ring() {
  const int n = gridDim.x * blockDim.x, next = (me() + 1) % n;
  Node* mine = nullptr;
  if (!wrong) {
    mine = static_cast<Node*>(malloc(sizeof(Node)));
    mailbox[next].store(mine, memory_order_release);
  }
  Node* theirs = nullptr;
  while ((theirs = mailbox[me()].load(memory_order_acquire)) == nullptr) {
  }
  free(theirs);
  if (wrong) {
    mailbox[next].store(static_cast<Node*>(malloc(sizeof(Node))), memory_order_release);
  }
}

/// Whoever is first makes the table, the others wait for it.
//@ case: table block 3
//@ verdict: terminates
//@ case: table plain 2
//@ verdict: terminates
__device__ Atomic<int> claimed;
__device__ Atomic<int*> table;
__global__ void use_table() {
  if (claimed.exchange(1) == 0) {
    int* const mine = static_cast<int*>(malloc(16));
    for (int i = 0; i < 4; ++i) {
      mine[i] = 0;
    }
    table.store(mine, memory_order_release);
  }
  int* t = nullptr;
  while ((t = table.load(memory_order_acquire)) == nullptr) {
  }
  atomicAdd(&t[me() % 4], 1);
}

/// A loop that allocates comes back to where it was.
//@ case: again block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void again() {
  while (ready.load(memory_order_acquire) == 0) {
    free(malloc(16));
  }
}

// --- There is not -----------------------------------------------------------------------------------

// The heap holds two pieces. Whoever gets none waits for somebody to free his, or for ever.

//@ case: retried block 3
//@ verdict: terminates
//@ case: retried-kept block 3
//@ verdict: may-hang
//@ finding: livelock
//@ case: retried-silently block 3
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: counted block 3
//@ verdict: terminates
//@ case: all-needed block 2
//@ verdict: terminates
//@ case: all-needed block 3
//@ verdict: may-hang
//@ finding: livelock
constexpr std::size_t heap_bytes = 8 << 20, piece = 3 << 20;
template <bool kept, bool asks> __global__ void retried() {
  void* p = nullptr;
  while ((p = malloc(piece)) == nullptr) {
    if (asks) { // a step; a loop without one may be taken to end
      ready.load(memory_order_relaxed);
    }
  }
  if (!kept) {
    free(p);
  }
}
__global__ void counted() {
  if (void* p = malloc(piece)) {
    ++total;
    free(p);
  } else {
    ++failed;
  }
}
__global__ void all_needed() {
  if (malloc(piece) != nullptr) {
    ++ready;
  }
  while (ready.load(memory_order_acquire) != gridDim.x * blockDim.x) {
  }
}

// --- Wrong use --------------------------------------------------------------------------------------

//@ case: used-after-free block 2
//@ verdict: defect
//@ finding: use-after-free
//@ case: past-the-end block 2
//@ verdict: defect
//@ finding: out-of-bounds
//@ case: freed-twice block 2
//@ verdict: defect
//@ finding: double-free
__global__ void used_after_free() {
  auto* p = static_cast<volatile int*>(malloc(4 * sizeof(int)));
  free(const_cast<int*>(p));
  p[1] = 1;
}
__global__ void past_the_end() {
  auto* p = static_cast<volatile int*>(malloc((2 + me()) * sizeof(int)));
  p[2] = 1;
}
__global__ void freed_twice() {
  void* p = malloc(16);
  free(p);
  if (me() == 1) {
    free(p);
  }
}

int main(int argc, char** argv) {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap_bytes);
  return run_case(
      argc,
      argv,
      {{"lists", run_lists},
       {"ring", [](Setup s) { return run_kernel(s, ring<false>); }},
       {"ring-wrong", [](Setup s) { return run_kernel(s, ring<true>); }},
       {"table", [](Setup s) { return run_kernel(s, use_table); }},
       {"again", [](Setup s) { return run_kernel(s, again); }},
       {"retried", [](Setup s) { return run_kernel(s, retried<false, true>); }},
       {"retried-kept", [](Setup s) { return run_kernel(s, retried<true, true>); }},
       {"retried-silently", [](Setup s) { return run_kernel(s, retried<false, false>); }},
       {"counted", [](Setup s) { return run_kernel(s, counted); }},
       {"all-needed", [](Setup s) { return run_kernel(s, all_needed); }},
       {"used-after-free", [](Setup s) { return run_kernel(s, used_after_free); }},
       {"past-the-end", [](Setup s) { return run_kernel(s, past_the_end); }},
       {"freed-twice", [](Setup s) { return run_kernel(s, freed_twice); }}}
  );
}
