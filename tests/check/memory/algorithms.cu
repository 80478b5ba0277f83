// Published algorithms that rest on a fence or an order: the right versions end, and those with one
// of these taken out give a wrong result under PTX's memory consistency model, although no
// interleaving of their accesses does.
#include "../idioms/cases.h"

using cuda::memory_order_seq_cst;

// --- Chase and Lev's work-stealing deque ---------------------------------------------------------
// (As Le, Pop, Cohen, Zappa Nardelli, "Correct and efficient work-stealing for weak memory models",
// PPoPP 2013.) There are two items. The owner takes one, a thief steals twice: no item is handed
// out twice. Both fences are needed: the owner takes the last but one item without an update.
//@ case: deque plain
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: deque block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: deque-take-unfenced plain
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: deque-steal-unfenced plain
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: deque-take-unfenced plain
//@ verdict: terminates
//@ case: deque-steal-unfenced plain
//@ verdict: terminates
__device__ Atomic<int> top{0}, bottom{2};
__device__ int taken_by[3]; // of each take: which item, from 1; 0: none

template <bool Fence> __device__ void fence() {
  if (Fence) {
    cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
  }
}

template <bool Fence> __device__ int take() {
  const int last = bottom.load(memory_order_relaxed) - 1;
  bottom.store(last, memory_order_relaxed);
  fence<Fence>();
  int first = top.load(memory_order_relaxed);
  int item = 0;
  if (first < last) {
    return last + 1;
  }
  if (first == last && top.compare_exchange_strong(first, first + 1, memory_order_relaxed)) {
    item = last + 1;
  }
  bottom.store(last + 1, memory_order_relaxed);
  return item;
}

template <bool Fence> __device__ int steal() {
  int first = top.load(memory_order_acquire);
  fence<Fence>();
  const int end = bottom.load(memory_order_acquire);
  return first < end && top.compare_exchange_strong(first, first + 1, memory_order_relaxed)
             ? first + 1
             : 0;
}

template <bool TakeFence, bool StealFence> __global__ void deque() {
  if (me() == 0) {
    taken_by[0] = take<TakeFence>();
  } else {
    taken_by[1] = steal<StealFence>();
    taken_by[2] = steal<StealFence>();
  }
}

int run_deque(Setup setup, void (*kernel)()) {
  if (run_kernel(setup, kernel) != 0) {
    return 2;
  }
  int item[3];
  cudaMemcpyFromSymbol(item, taken_by, sizeof item);
  const auto twice = [&](int a, int b) { return item[a] != 0 && item[a] == item[b]; };
  return twice(0, 1) || twice(0, 2) || twice(1, 2) ? 1 : 0;
}

// --- Look-back -----------------------------------------------------------------------------------
// A scan whose blocks publish their sum in one word and in another one that it is there. (Both are
// atomic, so nothing races.)
//@ case: look-back cooperative 2
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: look-back-relaxed cooperative 2
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: look-back-relaxed cooperative 2
//@ verdict: terminates
//@ case: look-back-one-word cooperative 2
//@ flags: --memory=ptx
//@ verdict: terminates
__device__ Atomic<int> status, value;
__device__ Atomic<unsigned long long> both;
__device__ int prefix;

enum class Publish {
  Ordered,
  Relaxed,
  OneWord
};
template <Publish P> __global__ void look_back() {
  constexpr int sum = 5;
  constexpr auto there = 1ULL << 32;
  if (me() == 0) {
    if (P == Publish::OneWord) {
      both.store(there | sum, memory_order_relaxed);
    } else {
      value.store(sum, memory_order_relaxed);
      status.store(1, P == Publish::Ordered ? memory_order_release : memory_order_relaxed);
    }
  } else if (P == Publish::OneWord) {
    unsigned long long seen = 0;
    while ((seen = both.load(memory_order_relaxed)) < there) {
    }
    prefix = static_cast<int>(seen - there);
  } else {
    while (status.load(P == Publish::Ordered ? memory_order_acquire : memory_order_relaxed) == 0) {
    }
    prefix = value.load(memory_order_relaxed);
  }
}

int run_look_back(Setup setup, void (*kernel)()) {
  if (run_kernel(setup, kernel) != 0) {
    return 2;
  }
  int found = 0;
  cudaMemcpyFromSymbol(&found, prefix, sizeof found);
  return found != 5 ? 1 : 0;
}

// --- Additions whose result nobody uses ----------------------------------------------------------
// They commute, and yet their order counts: an acquire fence behind one of them takes over what an
// earlier one has released. Only where thread 1 comes first there is a race.
//@ case: counted-first block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: counted-last block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
__device__ Atomic<int> counter;
__device__ int data, copy;
template <int Writer> __global__ void counted() {
  if (me() == Writer) {
    data = 1;
    counter.fetch_add(1, memory_order_release);
  } else {
    counter.fetch_add(1, memory_order_relaxed);
    cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
    copy = data;
  }
}

// --- Published programs by which searches are measured -------------------------------------------
// Compare-and-swaps in rotation, and the last zero of an array whose elements are made of each
// other: of so many threads as others report (tests of CDSChecker, Nidhugg, GenMC).
//@ case: cas-rotation plain 10
//@ flags: --memory=ptx --max-states=4000
//@ verdict: terminates
//@ large: every order of the fences
//@ case: last-zero block 12
//@ flags: --memory=ptx --max-states=20000
//@ verdict: terminates
//@ large: every order of the stores
__device__ Atomic<int> rotating;
__global__ void cas_rotation() {
  int expected = me();
  rotating.compare_exchange_strong(expected, me() + 1);
}

__device__ Atomic<int> elements[16];
__global__ void last_zero(int last) {
  if (me() == 0) {
    while (elements[last].load(memory_order_relaxed) != 0) {
      --last;
    }
  } else {
    elements[me()].store(elements[me() - 1].load(memory_order_relaxed) + 1, memory_order_relaxed);
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"deque", [](Setup s) { return run_deque(s, deque<true, true>); }},
          {"deque-take-unfenced", [](Setup s) { return run_deque(s, deque<false, true>); }},
          {"deque-steal-unfenced", [](Setup s) { return run_deque(s, deque<true, false>); }},
          {"counted-first", [](Setup s) { return run_kernel(s, counted<0>); }},
          {"counted-last", [](Setup s) { return run_kernel(s, counted<1>); }},
          {"cas-rotation", [](Setup s) { return run_kernel(s, cas_rotation); }},
          {"last-zero",
           [](Setup s) {
             last_zero<<<1, s.n>>>(s.n - 1);
             return static_cast<int>(cudaDeviceSynchronize());
           }},
          {"look-back", [](Setup s) { return run_look_back(s, look_back<Publish::Ordered>); }},
          {"look-back-relaxed",
           [](Setup s) { return run_look_back(s, look_back<Publish::Relaxed>); }},
          {"look-back-one-word",
           [](Setup s) { return run_look_back(s, look_back<Publish::OneWord>); }},
      }
  );
}
