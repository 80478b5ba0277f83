// What was said wrongly, or not at all, with --memory=ptx: restricted fences, older values, accesses
// that a search makes at once, and plain writes of one value.
#include "../idioms/cases.h"

__device__ int data, out;
__device__ int flag;

__device__ void put_flag() {
  asm volatile("st.relaxed.cluster.global.b32 [%0], 1;" ::"l"(&flag) : "memory");
}
__device__ void wait_for_flag() {
  int v;
  do {
    asm volatile("ld.relaxed.cluster.global.b32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
  } while (v == 0);
}
__device__ int* in_block(int* object, int rank) {
  int* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(object), "r"(rank));
  return there;
}

// A fence that is restricted to shared memory hands on nothing that was done elsewhere
// [MEM-RESTRICT].
enum class Sender { Whole, Restricted, Proxy, MbarrierInit };
enum class Receiver { Whole, Restricted };
template <Sender S> __device__ void release() {
  switch (S) {
  case Sender::Whole:
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    break;
  case Sender::Restricted:
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
    break;
  case Sender::Proxy:
    asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
    break;
  case Sender::MbarrierInit:
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    break;
  }
}
template <Receiver R> __device__ void acquire() {
  if (R == Receiver::Whole) {
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  } else {
    asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
  }
}
//@ case: whole-global cluster
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: sender-global cluster
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: receiver-global cluster
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: proxy-global cluster
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: init-global cluster
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
template <Sender S, Receiver R> __global__ void in_global() {
  if (me() == 0) {
    data = 1;
    release<S>();
    put_flag();
  } else {
    wait_for_flag();
    acquire<R>();
    out = data;
  }
}
// … and all that was done there.
//@ case: sender-shared cluster
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: both-shared cluster
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: init-shared cluster
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
template <Sender S, Receiver R> __global__ void in_shared() {
  __shared__ int object;
  if (me() == 0) {
    object = 1;
    release<S>();
    put_flag();
  } else {
    wait_for_flag();
    acquire<R>();
    out = *in_block(&object, 0);
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
// ::shared::cta is the memory of the sender's own block.
//@ case: sender-elsewhere cluster
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: whole-elsewhere cluster
//@ flags: --memory=ptx
//@ verdict: terminates
template <Sender S> __global__ void elsewhere() {
  __shared__ int object;
  if (me() == 0) {
    *in_block(&object, 1) = 1;
    release<S>();
    put_flag();
  } else {
    wait_for_flag();
    acquire<Receiver::Whole>();
    out = object;
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

// Old values of a place that has been written often: found as long as each write has an instruction
// of its own. A loop leaves some out, and the verdict says so.
//@ case: written-twelve-times
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: trap
//@ case: written-once-released
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: written-in-a-loop
//@ flags: --memory=ptx
//@ verdict: unknown
//@ coverage: bounded
__device__ Atomic<int> often{0}, said{0};
template <int Times, bool Releases, bool Unrolled> __global__ void written_often() {
  if (me() == 0) {
    if (Unrolled) {
#pragma unroll
      for (int i = 1; i <= Times; ++i) {
        often.store(i, memory_order_relaxed);
      }
    } else {
#pragma unroll 1
      for (int i = 1; i <= Times; ++i) {
        often.store(i, memory_order_relaxed);
      }
    }
    said.store(1, Releases ? memory_order_release : memory_order_relaxed);
  } else {
    const int f = said.load(Releases ? memory_order_acquire : memory_order_relaxed);
    const int v = often.load(memory_order_relaxed);
    if (f == 1 && v == 0) {
      __trap();
    }
  }
}

// An access that was taken for one with a single way to make it: the search is made again.
//@ case: guessed block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: guessed cooperative
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: guessed-traps block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: trap
__device__ volatile int x;
__device__ Atomic<int> y{0};
template <bool Traps> __global__ void guessed() {
  if (me() == 0) {
    x = 2;
    __threadfence();
    y.store(2, memory_order_relaxed);
    if (Traps && y.load(memory_order_relaxed) == 1) {
      __trap();
    }
  } else {
    y.store(1, memory_order_relaxed);
  }
}

// Plain writes of one value are a note, as with --races.
//@ case: same-value block 4
//@ flags: --memory=ptx
//@ verdict: terminates
//@ bound: plain writes of the same value
//@ case: same-value block 4
//@ flags: --memory=ptx --same-value=error
//@ verdict: defect
//@ finding: data-race RACE
//@ case: other-value block 4
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: same-value-last block 4
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: same-value-read block 4
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: same-value-vector block 4
//@ flags: --memory=ptx
//@ verdict: terminates
//@ bound: plain writes of the same value
//@ case: other-value-vector block 4
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
__device__ uint4 wide;
template <bool Same> __global__ void same_vector() {
  if (me() % 2 == 1) {
    wide = make_uint4(1, 2, 3, Same ? 4 : me());
  }
}
enum class Write { Same, Other, SameLast, SameRead };
template <Write W> __global__ void same_value() {
  if (me() % 2 == 1) {
    if (W == Write::SameLast && me() == 1) {
      *const_cast<int volatile*>(&out) = 3; // keeps the compiler from dropping the first one
      data = 2;
      __threadfence_block();
    }
    data = W == Write::Other ? me() : 1;
  }
  if (W != Write::SameRead) {
    __syncthreads();
  }
  if (me() == 0 && data == 7) {
    out = 1;
  }
}

int main(int argc, char** argv) {
  using S = Sender;
  using R = Receiver;
  return run_case(
      argc,
      argv,
      {
          {"whole-global", [](Setup s) { return run_kernel(s, in_global<S::Whole, R::Whole>); }},
          {"sender-global", [](Setup s) { return run_kernel(s, in_global<S::Restricted, R::Whole>); }},
          {"receiver-global", [](Setup s) { return run_kernel(s, in_global<S::Whole, R::Restricted>); }},
          {"proxy-global", [](Setup s) { return run_kernel(s, in_global<S::Proxy, R::Whole>); }},
          {"init-global", [](Setup s) { return run_kernel(s, in_global<S::MbarrierInit, R::Whole>); }},
          {"sender-shared", [](Setup s) { return run_kernel(s, in_shared<S::Restricted, R::Whole>); }},
          {"both-shared", [](Setup s) { return run_kernel(s, in_shared<S::Restricted, R::Restricted>); }},
          {"init-shared", [](Setup s) { return run_kernel(s, in_shared<S::MbarrierInit, R::Whole>); }},
          {"sender-elsewhere", [](Setup s) { return run_kernel(s, elsewhere<S::Restricted>); }},
          {"whole-elsewhere", [](Setup s) { return run_kernel(s, elsewhere<S::Whole>); }},
          {"written-twelve-times", [](Setup s) { return run_kernel(s, written_often<12, false, true>); }},
          {"written-once-released", [](Setup s) { return run_kernel(s, written_often<12, true, true>); }},
          {"written-in-a-loop", [](Setup s) { return run_kernel(s, written_often<9, true, false>); }},
          {"guessed", [](Setup s) { return run_kernel(s, guessed<false>); }},
          {"guessed-traps", [](Setup s) { return run_kernel(s, guessed<true>); }},
          {"same-value", [](Setup s) { return run_kernel(s, same_value<Write::Same>); }},
          {"other-value", [](Setup s) { return run_kernel(s, same_value<Write::Other>); }},
          {"same-value-vector", [](Setup s) { return run_kernel(s, same_vector<true>); }},
          {"other-value-vector", [](Setup s) { return run_kernel(s, same_vector<false>); }},
          {"same-value-last", [](Setup s) { return run_kernel(s, same_value<Write::SameLast>); }},
          {"same-value-read", [](Setup s) { return run_kernel(s, same_value<Write::SameRead>); }},
      }
  );
}
