// Ways by which the ticket that a block has drawn can get to where it decides something: through memory
// of the thread, bytes that are put together, other lanes of the warp, functions. If one order stands for
// all, block 0 draws the first ticket; what happens if it draws the last one must be found all the same.
//
// Each way is there twice: the block that drew the last ticket waits for ever, or for a flag that it has set.
// All these programs are so small that every order is searched once the one order has been given up.
#include "cases.h"

__device__ unsigned tickets;
__device__ Atomic<int> flag, set_flag;

constexpr unsigned blocks = 5;

/// `bad`: waits for what nobody does.
template <bool bad> __device__ void decide_by(unsigned value, unsigned last = blocks - 1) {
  if (value == last && blockIdx.x == 0) {
    if (!bad) {
      set_flag.store(1, memory_order_relaxed);
    }
    Atomic<int>& awaited = bad ? flag : set_flag;
    while (awaited.load(memory_order_relaxed) == 0) {
    }
  }
}

/// Nobody else can tell that it is always the same.
__device__ unsigned zero, zero_too;

// --- Memory of the thread ----------------------------------------------------------------------------

//@ case: local
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: local-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool bad> __global__ void local() {
  unsigned a[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  a[zero & 7] = atomicAdd(&tickets, 1);
  decide_by<bad>(a[zero_too & 7]);
}

// Where it is written depends on the ticket.
//@ case: local-place
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: local-place-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool bad> __global__ void local_place() {
  unsigned a[8] = {};
  a[atomicAdd(&tickets, 1) & 7] = 1;
  decide_by<bad>(a[zero + blocks - 1 & 7], 1);
}

// … or whether it is.
//@ case: local-maybe
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: local-maybe-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool bad> __global__ void local_maybe() {
  unsigned a[8] = {};
  if (atomicAdd(&tickets, 1) == blocks - 1) {
    a[zero & 7] = 1;
  }
  decide_by<bad>(a[zero_too & 7], 1);
}

// By a generic address, and single bytes of it.
//@ case: local-generic
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: local-generic-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool bad> __global__ void local_generic() {
  __shared__ unsigned s[8];
  unsigned a[8] = {};
  s[zero & 7] = 0;
  unsigned* const place = zero > 7 ? s : a;
  place[zero & 7] = atomicAdd(&tickets, 1);
  decide_by<bad>(reinterpret_cast<unsigned char*>(a)[zero * 4 & 31]);
}

// --- Bytes ---------------------------------------------------------------------------------------------

//@ case: bytes
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: bytes-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool bad> __global__ void bytes() {
  const unsigned turned = __byte_perm(atomicAdd(&tickets, 1), 0x11223344, 0x4560);
  decide_by<bad>(__byte_perm(turned, 0, 0x4440) & 0xff);
}

// --- Other lanes, which stand elsewhere in the text ------------------------------------------------------

__device__ unsigned shuffle(unsigned value) {
  unsigned result;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, 3;" : "=r"(result) : "r"(value));
  return result;
}
__device__ unsigned any(unsigned value) {
  unsigned result;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, 3; selp.u32 %0, 1, 0, q; }"
      : "=r"(result) : "r"(value));
  return result;
}
__device__ unsigned same(unsigned value) {
  unsigned result;
  asm volatile("match.any.sync.b32 %0, %1, 3;" : "=r"(result) : "r"(value));
  return result;
}
__device__ unsigned sum(unsigned value) {
  unsigned result;
  asm volatile("redux.sync.add.u32 %0, %1, 3;" : "=r"(result) : "r"(value));
  return result;
}

// Lane 0 draws the ticket, lane 1 is told of it.
//@ case: shuffle
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: shuffle-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
//@ case: vote
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: vote-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
//@ case: match
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: match-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
//@ case: redux
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: redux-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
using Collective = unsigned (*)(unsigned);
enum class Way { Shuffle, Vote, Match, Redux };
template <Way way> __device__ unsigned meet(unsigned value) {
  return way == Way::Shuffle ? shuffle(value)
         : way == Way::Vote  ? any(value)
         : way == Way::Match ? same(value)
                             : sum(value);
}
template <Way way, bool bad> __global__ void lanes() {
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(&tickets, 1);
    meet<way>(way == Way::Vote ? ticket == blocks - 1 : ticket);
  } else {
    const unsigned found = meet<way>(way == Way::Match ? blocks - 1 : 0);
    decide_by<bad>(found, way == Way::Vote ? 1 : way == Way::Match ? 3 : blocks - 1);
  }
}

// --- Functions -------------------------------------------------------------------------------------------

//@ case: returned
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: returned-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
__device__ __noinline__ unsigned draw(unsigned* counter) { return atomicAdd(counter, 1); }
template <bool bad> __global__ void returned() { decide_by<bad>(draw(&tickets)); }

//@ case: by-address
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: by-address-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
__device__ __noinline__ void draw_to(unsigned* to) { *to = atomicAdd(&tickets, 1); }
template <bool bad> __global__ void by_address() {
  unsigned a[8] = {};
  draw_to(&a[zero & 7]);
  decide_by<bad>(a[zero & 7]);
}

// The function that decides reads what its caller has.
//@ case: read-by-address
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: read-by-address-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool bad> __device__ __noinline__ void decide_there(const unsigned* from) {
  decide_by<bad>(*from);
}
template <bool bad> __global__ void read_by_address() {
  unsigned a[8] = {};
  a[zero & 7] = atomicAdd(&tickets, 1);
  decide_there<bad>(&a[zero & 7]);
}

//@ case: argument
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: argument-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
struct Several {
  unsigned values[8];
};
template <bool bad> __device__ __noinline__ void decide_by_value(Several several) {
  decide_by<bad>(several.values[zero & 7]);
}
template <bool bad> __global__ void argument() {
  Several several = {};
  several.values[zero & 7] = atomicAdd(&tickets, 1);
  decide_by_value<bad>(several);
}

//@ case: recursion
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: recursion-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
__device__ __noinline__ unsigned deep(unsigned* at, unsigned rounds) {
  if (rounds == 0) {
    *at = atomicAdd(&tickets, 1);
    return 0;
  }
  unsigned own[2] = {};
  const unsigned result = deep(&own[zero & 1], rounds - 1) + 1;
  *at = own[zero & 1];
  return result;
}
template <bool bad> __global__ void recursion() {
  unsigned a[8] = {};
  const unsigned rounds = deep(&a[zero & 7], zero + 2);
  decide_by<bad>(a[zero & 7] + rounds - 2);
}

//@ case: indirect
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: indirect-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
__device__ unsigned draw_none(unsigned*) { return 0; }
using Draw = unsigned (*)(unsigned*);
__device__ Draw draws[2] = {draw, draw_none};
template <bool bad> __global__ void indirect() { decide_by<bad>(draws[zero & 1](&tickets)); }

// It says which function is called.
//@ case: chooses-function
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: chooses-function-harmless
//@ flags: --one-order-after=1 --schedules=0
//@ verdict: terminates
using Decide = void (*)(unsigned);
template <bool bad> __device__ void last_one(unsigned) { decide_by<bad>(0, 0); }
__device__ void other_one(unsigned) {}
template <bool bad> __device__ Decide decisions[8] = {
    other_one, other_one, other_one, other_one, last_one<bad>, other_one, other_one, other_one};
template <bool bad> __global__ void chooses_function() {
  decisions<bad>[atomicAdd(&tickets, 1) & 7](zero);
}

template <class... P> int run(void (*kernel)(P...), unsigned threads = 1) {
  kernel<<<blocks, threads>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

#define BOTH(name, kernel)                          \
  {name, [](Setup) { return run(kernel<true>); }},  \
  {name "-harmless", [](Setup) { return run(kernel<false>); }}
#define LANES(name, way)                                           \
  {name, [](Setup) { return run(lanes<Way::way, true>, 2); }},     \
  {name "-harmless", [](Setup) { return run(lanes<Way::way, false>, 2); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      BOTH("local", local),
      BOTH("local-place", local_place),
      BOTH("local-maybe", local_maybe),
      BOTH("local-generic", local_generic),
      BOTH("bytes", bytes),
      LANES("shuffle", Shuffle),
      LANES("vote", Vote),
      LANES("match", Match),
      LANES("redux", Redux),
      BOTH("returned", returned),
      BOTH("by-address", by_address),
      BOTH("read-by-address", read_by_address),
      BOTH("argument", argument),
      BOTH("recursion", recursion),
      BOTH("indirect", indirect),
      BOTH("chooses-function", chooses_function),
  });
}
