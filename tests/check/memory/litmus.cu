// The classical litmus tests, with libcu++'s atomics, under the memory consistency model of PTX:
// the program ends with status 1 if it has seen the outcome that the test is about. So "terminates"
// says that the outcome is excluded, and "defect" that PTX allows it.
//
// The name says the strengths: -rlx relaxed, -ra release and acquire, -sc sequentially consistent,
// -f fences of that order between relaxed accesses; -block: block scope.
//@ flags: --memory=ptx
#include "../idioms/cases.h"

// Of ones own: nvcc cannot launch a kernel whose template parameter is a cuda::memory_order.
enum Order {
  rlx,
  acq,
  rel,
  both,
  sc
};
enum Scope {
  of_block,
  of_device
};
__device__ constexpr cuda::memory_order order(Order o) {
  return o == rlx    ? cuda::memory_order_relaxed
         : o == acq  ? cuda::memory_order_acquire
         : o == rel  ? cuda::memory_order_release
         : o == both ? cuda::memory_order_acq_rel
                     : cuda::memory_order_seq_cst;
}
template <Scope S> struct ThreadScope {
  static constexpr cuda::thread_scope value =
      S == of_block ? cuda::thread_scope_block : cuda::thread_scope_device;
};

__device__ int x, y, z, data;
__device__ int result[8]; // what has been read

template <Scope S> __device__ void store(int& place, int value, Order o) {
  cuda::atomic_ref<int, ThreadScope<S>::value>(place).store(value, order(o));
}
template <Scope S> __device__ int load(int& place, Order o) {
  return cuda::atomic_ref<int, ThreadScope<S>::value>(place).load(order(o));
}
template <Scope S> __device__ int add(int& place, int value, Order o) {
  return cuda::atomic_ref<int, ThreadScope<S>::value>(place).fetch_add(value, order(o));
}
template <Scope S, Order F> __device__ void fence() {
  if constexpr (F != rlx) {
    cuda::atomic_thread_fence(order(F), ThreadScope<S>::value);
  }
}

struct Results {
  int r[8];
};

/// Ends with 1 if seen(registers, x, y) holds at the end.
template <class F> int run(Setup setup, void (*kernel)(), F seen) {
  if (run_kernel(setup, kernel) != 0) {
    return 2;
  }
  Results results;
  int now[2];
  cudaMemcpyFromSymbol(&results, result, sizeof results);
  cudaMemcpyFromSymbol(&now[0], x, sizeof now[0]);
  cudaMemcpyFromSymbol(&now[1], y, sizeof now[1]);
  return seen(results.r, now[0], now[1]) ? 1 : 0;
}

// --- Message passing: the flag is seen, and what was written before it is not
// ---------------------
//@ case: MP-rlx plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: MP-rlx block
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: MP-ra plain
//@ verdict: terminates
//@ case: MP-ra block
//@ verdict: terminates
//@ case: MP-ra cluster
//@ verdict: terminates
//@ case: MP-only-release plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: MP-only-acquire plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: MP-fences plain
//@ verdict: terminates
//@ case: MP-sc plain
//@ verdict: terminates
//@ case: MP-ra-block block
//@ verdict: terminates
//@ case: MP-ra-block plain
//@ verdict: defect
//@ finding: data-race RACE-STRONG
template <Scope S, Order St, Order Ld, Order F = rlx> __global__ void mp() {
  if (me() == 0) {
    store<S>(x, 1, rlx);
    fence<S, F>();
    store<S>(y, 1, St);
  } else {
    result[0] = load<S>(y, Ld);
    fence<S, F>();
    result[1] = load<S>(x, rlx);
  }
}
bool stale(const int* r, int, int) {
  return r[0] == 1 && r[1] == 0;
}

// --- The same with plain data, which nobody may read without an order
// -----------------------------
//@ case: MP-plain-rlx plain
//@ verdict: defect
//@ finding: data-race RACE
//@ case: MP-plain-ra plain
//@ verdict: terminates
template <Order St, Order Ld> __global__ void mp_plain() {
  if (me() == 0) {
    data = 1;
    store<of_device>(y, 1, St);
  } else if (load<of_device>(y, Ld) == 1) {
    result[0] = data;
  }
}
bool nothing(const int*, int, int) {
  return false;
}

// --- Store buffering: neither sees the other's write
// ----------------------------------------------
//@ case: SB-rlx plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: SB-ra plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: SB-ra block
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: SB-acq-rel-fences plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: SB-sc plain
//@ verdict: terminates
//@ case: SB-sc-fences plain
//@ verdict: terminates
//@ case: SB-sc-fences block
//@ verdict: terminates
//@ case: SB-one-fence plain
//@ verdict: defect
//@ finding: exit-status EXIT
template <Order St, Order Ld, Order F0 = rlx, Order F1 = F0> __global__ void sb() {
  if (me() == 0) {
    store<of_device>(x, 1, St);
    fence<of_device, F0>();
    result[0] = load<of_device>(y, Ld);
  } else {
    store<of_device>(y, 1, St);
    fence<of_device, F1>();
    result[1] = load<of_device>(x, Ld);
  }
}
bool both_old(const int* r, int, int) {
  return r[0] == 0 && r[1] == 0;
}

// --- Load buffering: beyond the bound of the search, and said so in the verdict
// --------------------
//@ case: LB-rlx plain
//@ verdict: terminates
//@ case: LB-ra plain
//@ verdict: terminates
template <Order Ld, Order St> __global__ void lb() {
  if (me() == 0) {
    result[0] = load<of_device>(x, Ld);
    store<of_device>(y, 1, St);
  } else {
    result[1] = load<of_device>(y, Ld);
    store<of_device>(x, 1, St);
  }
}
bool both_new(const int* r, int, int) {
  return r[0] == 1 && r[1] == 1;
}

// --- Independent reads of independent writes: two readers see them in different orders
// -------------
//@ case: IRIW-rlx plain 4
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: IRIW-ra plain 4
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: IRIW-sc-fences plain 4
//@ verdict: terminates
//@ case: IRIW-sc plain 4
//@ verdict: terminates
template <Order St, Order Ld, Order F = rlx> __global__ void iriw() {
  switch (me()) {
  case 0:
    store<of_device>(x, 1, St);
    break;
  case 1:
    store<of_device>(y, 1, St);
    break;
  case 2:
    result[0] = load<of_device>(x, Ld);
    fence<of_device, F>();
    result[1] = load<of_device>(y, Ld);
    break;
  default:
    result[2] = load<of_device>(y, Ld);
    fence<of_device, F>();
    result[3] = load<of_device>(x, Ld);
    break;
  }
}
bool disagree(const int* r, int, int) {
  return r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0;
}

// --- Write to read causality: what a thread has read it hands over
// ---------------------------------
//@ case: WRC-rlx plain 3
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: WRC-ra plain 3
//@ verdict: terminates
template <Order St, Order Ld> __global__ void wrc() {
  if (me() == 0) {
    store<of_device>(x, 1, rlx);
  } else if (me() == 1) {
    result[0] = load<of_device>(x, rlx);
    store<of_device>(y, 1, St);
  } else {
    result[1] = load<of_device>(y, Ld);
    result[2] = load<of_device>(x, rlx);
  }
}
bool not_handed_over(const int* r, int, int) {
  return r[0] == 1 && r[1] == 1 && r[2] == 0;
}

//@ case: ISA2-ra plain 3
//@ verdict: terminates
//@ case: ISA2-rlx-in-between plain 3
//@ verdict: defect
//@ finding: exit-status EXIT
template <Order Ld> __global__ void isa2() {
  if (me() == 0) {
    store<of_device>(x, 1, rlx);
    store<of_device>(y, 1, rel);
  } else if (me() == 1) {
    result[0] = load<of_device>(y, Ld);
    store<of_device>(z, 1, rel);
  } else {
    result[1] = load<of_device>(z, acq);
    result[2] = load<of_device>(x, rlx);
  }
}

// --- Read to write causality
// ------------------------------------------------------------------------
//@ case: RWC-ra plain 3
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: RWC-sc-fences plain 3
//@ verdict: terminates
template <Order F> __global__ void rwc() {
  if (me() == 0) {
    store<of_device>(x, 1, rel);
  } else if (me() == 1) {
    result[0] = load<of_device>(x, acq);
    fence<of_device, F>();
    result[1] = load<of_device>(y, acq);
  } else {
    store<of_device>(y, 1, rel);
    fence<of_device, F>();
    result[2] = load<of_device>(x, acq);
  }
}
bool is_rwc(const int* r, int, int) {
  return r[0] == 1 && r[1] == 0 && r[2] == 0;
}

// --- Orders of writes
// -------------------------------------------------------------------------------
//@ case: 2+2W-rlx plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: 2+2W-release plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: 2+2W-sc-fences plain
//@ verdict: terminates
template <Order St, Order F = rlx> __global__ void two_writes() {
  if (me() == 0) {
    store<of_device>(x, 1, rlx);
    fence<of_device, F>();
    store<of_device>(y, 2, St);
  } else {
    store<of_device>(y, 1, rlx);
    fence<of_device, F>();
    store<of_device>(x, 2, St);
  }
}
bool first_ones_last(const int*, int x, int y) {
  return x == 1 && y == 1;
}

//@ case: R-ra plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: R-sc-fences plain
//@ verdict: terminates
template <Order F> __global__ void r_test() {
  if (me() == 0) {
    store<of_device>(x, 1, rel);
    fence<of_device, F>();
    store<of_device>(y, 1, rel);
  } else {
    store<of_device>(y, 2, rel);
    fence<of_device, F>();
    result[0] = load<of_device>(x, acq);
  }
}
bool is_r(const int* r, int, int y) {
  return y == 2 && r[0] == 0;
}

//@ case: S-rlx plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: S-ra plain
//@ verdict: terminates
template <Order St, Order Ld> __global__ void s_test() {
  if (me() == 0) {
    store<of_device>(x, 2, rlx);
    store<of_device>(y, 1, St);
  } else {
    result[0] = load<of_device>(y, Ld);
    store<of_device>(x, 1, rlx);
  }
}
bool is_s(const int* r, int x, int) {
  return r[0] == 1 && x == 2;
}

// --- Coherence: one place is always seen in one order
// ----------------------------------------------
//@ case: CoRR plain
//@ verdict: terminates
//@ case: CoRR2 plain 4
//@ verdict: terminates
//@ case: CoWR plain
//@ verdict: terminates
//@ case: CoRW plain
//@ verdict: terminates
//@ case: CoWW plain 1
//@ verdict: terminates
__global__ void corr() {
  if (me() == 0) {
    store<of_device>(x, 1, rlx);
  } else {
    result[0] = load<of_device>(x, rlx);
    result[1] = load<of_device>(x, rlx);
  }
}
__global__ void corr2() {
  if (me() < 2) {
    store<of_device>(x, me() + 1, rlx);
  } else {
    result[2 * me() - 4] = load<of_device>(x, rlx);
    result[2 * me() - 3] = load<of_device>(x, rlx);
  }
}
bool two_orders(const int* r, int, int) {
  return r[0] == 1 && r[1] == 2 && r[2] == 2 && r[3] == 1;
}
__global__ void cowr() {
  store<of_device>(x, me() + 1, rlx);
  result[me()] = load<of_device>(x, rlx);
}
bool old_of_ones_own(const int* r, int x, int) {
  return r[0] == 0 || r[1] == 0 || (r[0] == 2 && r[1] == 1 && x != 0);
}
__global__ void corw() {
  if (me() == 0) {
    result[0] = load<of_device>(x, rlx);
    store<of_device>(x, 1, rlx);
  } else {
    store<of_device>(x, 2, rlx);
  }
}
bool read_before_older(const int* r, int x, int) {
  return r[0] == 2 && x == 2;
}
__global__ void coww() {
  store<of_device>(x, 1, rlx);
  store<of_device>(x, 2, rlx);
}
bool first_one_last(const int*, int x, int) {
  return x == 1;
}

// --- Updates
// ----------------------------------------------------------------------------------------
//@ case: lost-update plain 3
//@ verdict: terminates
//@ case: lost-update-block plain
//@ verdict: defect
//@ finding: data-race RACE-STRONG
//@ case: release-sequence plain 3
//@ verdict: terminates
//@ case: SB-updates plain
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: SB-update-of-one-place plain
//@ verdict: terminates
template <Scope S> __global__ void lost_update() {
  add<S>(x, 1, rlx);
}
bool lost(const int*, int x, int) {
  return x != 3;
}
__global__ void release_sequence() { // an update in between hands on what was released before it
  if (me() == 0) {
    data = 1;
    store<of_device>(y, 1, rel);
  } else if (me() == 1) {
    add<of_device>(y, 1, rlx);
  } else if (load<of_device>(y, acq) == 2) {
    result[0] = data;
  }
}
__global__ void sb_updates() { // of different places: no order with the reads behind them
  add<of_device>(me() == 0 ? x : y, 1, both);
  result[me()] = load<of_device>(me() == 0 ? y : x, acq);
}
__global__ void sb_one_place() { // the second one reads from the first
  store<of_device>(me() == 0 ? x : y, 1, rlx);
  add<of_device>(z, 1, both);
  result[me()] = load<of_device>(me() == 0 ? y : x, rlx);
}

// --- Barriers
// ---------------------------------------------------------------------------------------
//@ case: MP-barrier block
//@ verdict: terminates
//@ case: MP-syncwarp block
//@ verdict: terminates
//@ case: MP-no-barrier block
//@ verdict: defect
//@ finding: data-race RACE
template <int Barrier> __global__ void mp_barrier() {
  if (me() == 0) {
    data = 1;
  }
  if (Barrier == 1) {
    __syncthreads();
  } else if (Barrier == 2) {
    __syncwarp();
  }
  if (me() == 1) {
    result[0] = data;
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"MP-rlx", [](Setup s) { return run(s, mp<of_device, rlx, rlx>, stale); }},
          {"MP-ra", [](Setup s) { return run(s, mp<of_device, rel, acq>, stale); }},
          {"MP-only-release", [](Setup s) { return run(s, mp<of_device, rel, rlx>, stale); }},
          {"MP-only-acquire", [](Setup s) { return run(s, mp<of_device, rlx, acq>, stale); }},
          {"MP-fences", [](Setup s) { return run(s, mp<of_device, rlx, rlx, both>, stale); }},
          {"MP-sc", [](Setup s) { return run(s, mp<of_device, sc, sc>, stale); }},
          {"MP-ra-block", [](Setup s) { return run(s, mp<of_block, rel, acq>, stale); }},
          {"MP-plain-rlx", [](Setup s) { return run(s, mp_plain<rlx, rlx>, nothing); }},
          {"MP-plain-ra", [](Setup s) { return run(s, mp_plain<rel, acq>, nothing); }},
          {"SB-rlx", [](Setup s) { return run(s, sb<rlx, rlx>, both_old); }},
          {"SB-ra", [](Setup s) { return run(s, sb<rel, acq>, both_old); }},
          {"SB-acq-rel-fences", [](Setup s) { return run(s, sb<rlx, rlx, both>, both_old); }},
          {"SB-sc", [](Setup s) { return run(s, sb<sc, sc>, both_old); }},
          {"SB-sc-fences", [](Setup s) { return run(s, sb<rlx, rlx, sc>, both_old); }},
          {"SB-one-fence", [](Setup s) { return run(s, sb<rlx, rlx, sc, rlx>, both_old); }},
          {"LB-rlx", [](Setup s) { return run(s, lb<rlx, rlx>, both_new); }},
          {"LB-ra", [](Setup s) { return run(s, lb<acq, rel>, both_new); }},
          {"IRIW-rlx", [](Setup s) { return run(s, iriw<rlx, rlx>, disagree); }},
          {"IRIW-ra", [](Setup s) { return run(s, iriw<rel, acq>, disagree); }},
          {"IRIW-sc-fences", [](Setup s) { return run(s, iriw<rlx, rlx, sc>, disagree); }},
          {"IRIW-sc", [](Setup s) { return run(s, iriw<sc, sc>, disagree); }},
          {"WRC-rlx", [](Setup s) { return run(s, wrc<rlx, rlx>, not_handed_over); }},
          {"WRC-ra", [](Setup s) { return run(s, wrc<rel, acq>, not_handed_over); }},
          {"ISA2-ra", [](Setup s) { return run(s, isa2<acq>, not_handed_over); }},
          {"ISA2-rlx-in-between", [](Setup s) { return run(s, isa2<rlx>, not_handed_over); }},
          {"RWC-ra", [](Setup s) { return run(s, rwc<rlx>, is_rwc); }},
          {"RWC-sc-fences", [](Setup s) { return run(s, rwc<sc>, is_rwc); }},
          {"2+2W-rlx", [](Setup s) { return run(s, two_writes<rlx>, first_ones_last); }},
          {"2+2W-release", [](Setup s) { return run(s, two_writes<rel>, first_ones_last); }},
          {"2+2W-sc-fences", [](Setup s) { return run(s, two_writes<rlx, sc>, first_ones_last); }},
          {"R-ra", [](Setup s) { return run(s, r_test<rlx>, is_r); }},
          {"R-sc-fences", [](Setup s) { return run(s, r_test<sc>, is_r); }},
          {"S-rlx", [](Setup s) { return run(s, s_test<rlx, rlx>, is_s); }},
          {"S-ra", [](Setup s) { return run(s, s_test<rel, acq>, is_s); }},
          {"CoRR", [](Setup s) { return run(s, corr, stale); }},
          {"CoRR2", [](Setup s) { return run(s, corr2, two_orders); }},
          {"CoWR", [](Setup s) { return run(s, cowr, old_of_ones_own); }},
          {"CoRW", [](Setup s) { return run(s, corw, read_before_older); }},
          {"CoWW", [](Setup s) { return run(s, coww, first_one_last); }},
          {"lost-update", [](Setup s) { return run(s, lost_update<of_device>, lost); }},
          {"lost-update-block", [](Setup s) { return run(s, lost_update<of_block>, nothing); }},
          {"release-sequence", [](Setup s) { return run(s, release_sequence, nothing); }},
          {"SB-updates", [](Setup s) { return run(s, sb_updates, both_old); }},
          {"SB-update-of-one-place", [](Setup s) { return run(s, sb_one_place, both_old); }},
          {"MP-barrier", [](Setup s) { return run(s, mp_barrier<1>, nothing); }},
          {"MP-syncwarp", [](Setup s) { return run(s, mp_barrier<2>, nothing); }},
          {"MP-no-barrier", [](Setup s) { return run(s, mp_barrier<0>, nothing); }},
      }
  );
}
