// Where the pieces lie that malloc gives in a kernel, variables in shared memory, and functions of devices, and what
// the state of an mbarrier is as a number: nothing promises that (spec/answers.md). A kernel that has stored such an
// address goes by its order all the same; the search of one order is bounded then. What every order does alike, an
// offset into a variable or a walk along a list, is searched to the end.
#include "cases.h"
#include "mbarrier.h"

#include <cstddef>
#include <cstdint>

__device__ Atomic<int> never;
__device__ int sum;

__device__ static void hang_if(bool bad) {
  while (bad && never.load(memory_order_relaxed) == 0) {
  }
}
template <class T> __device__ static std::uintptr_t number(T p) { return reinterpret_cast<std::uintptr_t>(p); }
template <class... Arguments>
static int one_block(void (*kernel)(Arguments...), int threads, std::size_t dynamic, Arguments... arguments) {
  kernel<<<1, threads, dynamic>>>(arguments...);
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- malloc in a kernel ----------------------------------------------------------------------------------------------

//@ case: pieces-ascend
//@ verdict: unknown
//@ coverage: bounded
//@ case: pieces-of-threads-ascend
//@ verdict: may-hang
//@ finding: livelock
//@ incomplete: other orders are looked at in single schedules, which find it
//@ case: pieces-differ
//@ verdict: terminates
//@ case: pieces-in-list
//@ verdict: terminates
struct Piece {
  Piece* next;
  int values[5];
};
template <bool Order> __global__ void two_pieces() {
  __shared__ Piece* volatile pieces[2];
  pieces[0] = static_cast<Piece*>(malloc(sizeof(Piece)));
  pieces[1] = static_cast<Piece*>(malloc(sizeof(Piece)));
  hang_if(Order ? number(pieces[0]) > number(pieces[1]) : pieces[0] == pieces[1]);
  free(pieces[1]);
  free(pieces[0]);
}
__global__ void piece_of_each() {
  __shared__ Piece* volatile pieces[2];
  pieces[threadIdx.x] = static_cast<Piece*>(malloc(sizeof(Piece)));
  __syncthreads();
  hang_if(number(pieces[0]) > number(pieces[1]));
}
__global__ void list_of_pieces() {
  Piece* list = nullptr;
  for (int i = 0; i < 4; ++i) {
    list = new Piece{list, {i, 1, 2, 3, 4}};
  }
  int all = 0;
  while (list != nullptr) {
    all += list->values[0] + list->values[4];
    Piece* const next = list->next;
    delete list;
    list = next;
  }
  sum = all;
  hang_if(all != 22);
}

// --- Variables in shared memory --------------------------------------------------------------------------------------

//@ case: shared-ascend
//@ verdict: unknown
//@ coverage: bounded
//@ case: shared-as-number
//@ verdict: unknown
//@ coverage: bounded
//@ case: shared-offsets
//@ verdict: terminates
//@ case: shared-beside-dynamic
//@ verdict: terminates
__global__ void compares_shared() {
  __shared__ int a[8], b[8];
  __shared__ int* volatile both[2];
  a[0] = b[0] = 1;
  both[0] = a;
  both[1] = b;
  hang_if(number(both[0]) > number(both[1]));
}
__global__ void counts_shared() {
  __shared__ int a[8], b[8];
  a[0] = b[0] = 1;
  hang_if(__cvta_generic_to_shared(a) > __cvta_generic_to_shared(b));
}
// Of different sizes, so that what is side by side in one order is not so in the other one.
__global__ void goes_by_offsets() {
  __shared__ char flags[3];
  __shared__ double values[4];
  __shared__ short counts[7];
  __shared__ char* volatile end;
  const unsigned t = threadIdx.x;
  values[t] = t;
  counts[t] = static_cast<short>(t);
  if (t < 3) {
    flags[t] = 1;
  }
  end = flags + 3;
  __syncthreads();
  hang_if(end - flags != 3 || values[3 - t] + counts[t] + flags[t % 3] != 4);
}
__global__ void beside_dynamic(int count) {
  extern __shared__ int numbers[];
  __shared__ char odd[5];
  __shared__ int last;
  const int t = static_cast<int>(threadIdx.x);
  numbers[t] = t;
  odd[t] = 1;
  if (t == 0) {
    last = numbers[0];
  }
  __syncthreads();
  hang_if(numbers[count - 1 - t] + t != count - 1 || last + odd[t] != 1);
}

// --- Functions -------------------------------------------------------------------------------------------------------

//@ case: functions-ascend
//@ verdict: unknown
//@ coverage: bounded
//@ case: functions-called
//@ verdict: terminates
using Function = int (*)(int);
__device__ __noinline__ int next(int x) { return x + 1; }
__device__ __noinline__ int twice(int x) { return x * 2; }
template <bool Order> __global__ void two_functions(volatile Function* table) {
  table[0] = next;
  table[1] = twice;
  const Function first = table[0], second = table[1];
  hang_if(Order ? number(first) > number(second) : second(first(3)) != 8 || first == second);
}
template <bool Order> static int functions(Setup) {
  void* table = nullptr;
  cudaMalloc(&table, 2 * sizeof(Function));
  cudaMemset(table, 0, 2 * sizeof(Function));
  return one_block(two_functions<Order>, 1, 0, static_cast<volatile Function*>(table));
}

// --- States of mbarriers ---------------------------------------------------------------------------------------------

//@ case: token-bit
//@ verdict: unknown
//@ coverage: bounded
//@ case: token-waited-for
//@ verdict: terminates
//@ case: token-pending
//@ verdict: terminates
enum class Token { Bit, Wait, Pending };
template <Token what> __global__ void has_token() {
  __shared__ std::uint64_t barrier;
  __shared__ volatile std::uint64_t kept;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  std::uint64_t token = 0;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
  kept = token;
  if (what == Token::Bit) {
    hang_if((kept & 4) != 0);
  } else if (what == Token::Wait) {
    int done = 0;
    while (done == 0) {
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(at), "l"(kept)
                   : "memory");
    }
  } else {
    unsigned pending = 0;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(kept));
    hang_if(pending != 1);
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {{"pieces-ascend", [](Setup) { return one_block(two_pieces<true>, 1, 0); }},
       {"pieces-of-threads-ascend", [](Setup) { return one_block(piece_of_each, 2, 0); }},
       {"pieces-differ", [](Setup) { return one_block(two_pieces<false>, 1, 0); }},
       {"pieces-in-list", [](Setup) { return one_block(list_of_pieces, 1, 0); }},
       {"shared-ascend", [](Setup) { return one_block(compares_shared, 1, 0); }},
       {"shared-as-number", [](Setup) { return one_block(counts_shared, 1, 0); }},
       {"shared-offsets", [](Setup) { return one_block(goes_by_offsets, 4, 0); }},
       {"shared-beside-dynamic", [](Setup) { return one_block(beside_dynamic, 4, 4 * sizeof(int), 4); }},
       {"functions-ascend", functions<true>},
       {"functions-called", functions<false>},
       {"token-bit", [](Setup) { return one_block(has_token<Token::Bit>, 1, 0); }},
       {"token-waited-for", [](Setup) { return one_block(has_token<Token::Wait>, 1, 0); }},
       {"token-pending", [](Setup) { return one_block(has_token<Token::Pending>, 1, 0); }}}
  );
}
