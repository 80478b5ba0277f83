// Values that take another way than a variable's name: copies of threadIdx, bits as another type, pointers to
// functions and to members.
#include <string.h>
#include <utility>

__device__ void wait_for_all() {
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__device__ void wait_too() { __syncthreads(); }
__device__ void go_on() {}

// threadIdx as an object.
template <class T> __device__ int sum(T t) { return t.x + t.y; }
template <class T> __device__ int sum_of(const T& t) { return t.x + t.y; }
__device__ int first(uint3 t) { return t.x; }
__device__ int itself(const unsigned& x) { return x; }

__global__ void copy_of_thread_index(int* p) {
  auto t = threadIdx;
  if (t.x > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void copy_by_parameter(int* p) {
  if (sum(threadIdx)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void by_reference(int* p) {
  if (sum_of(threadIdx)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void as_vector(int* p) {
  if (first(threadIdx)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void member_by_reference(int* p) {
  if (itself(threadIdx.x)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void vector_and_size(int* p) {
  uint3 t = threadIdx;
  dim3 size = blockDim;
  if (t.x + size.x > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void reference_to_it(int* p) {
  const auto& t = threadIdx;
  if (t.x > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void good_copy_written(int* p) {
  auto t = threadIdx;
  t.x = blockIdx.x;
  if (t.x) __syncthreads();
  p[0] = 1;
}
__global__ void good_copies_of_block_index(int* p) {
  auto tile = blockIdx;
  tile.x += gridDim.x;
  if (tile.x > 3) __syncthreads();
  if (sum(blockIdx)) __syncthreads();
  if (sum_of(blockIdx)) __syncthreads();
  if (first(blockIdx)) __syncthreads();
  if (itself(blockIdx.x)) __syncthreads();
  p[0] = 1;
}

// The bits of a value. Clang crashed on a bit cast of threadIdx.x itself.
__global__ void bits_of_thread_index(int* p) {
  if (__builtin_bit_cast(int, threadIdx.x) > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void bits_by_memcpy(int* p) {
  float f = 0;
  int t = threadIdx.x;
  memcpy(&f, &t, sizeof f);
  if (f > 0) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
union Bits {
  int i;
  float f;
};
struct Tagged {
  int tag;
  union {
    int i;
    float f;
  };
};
__global__ void bits_by_union(int* p) {
  Bits u;
  u.i = threadIdx.x;
  if (u.f > 0) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void bits_by_anonymous_union(int* p) {
  Tagged u;
  u.i = threadIdx.x;
  if (u.f > 0) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void good_bits(int* p) {
  if (__builtin_bit_cast(int, blockIdx.x) > 3) __syncthreads();
  float f = threadIdx.x;
  int b = blockIdx.x;
  memcpy(&f, &b, sizeof f);
  if (f > 0) __syncthreads();
  Bits u;
  u.i = blockIdx.x;
  if (u.f > 0) __syncthreads();
  Tagged two;
  two.tag = threadIdx.x;
  two.i = blockIdx.x;
  if (two.f > 0) __syncthreads();
  p[0] = two.tag;
}

// Pointers to functions.
__global__ void pointer_under_condition(int* p) {
  auto f = &wait_for_all;
  if (threadIdx.x) f();
  p[0] = 1;
}
__global__ void good_pointer_to_other(int* p) {
  auto f = &go_on; // of the same type as functions with a barrier
  if (threadIdx.x) f();
  auto all = &wait_too;
  all();
  p[0] = 1;
}
__global__ void good_uniform_choice(int* p) {
  auto f = blockIdx.x ? &go_on : &wait_too;
  f();
  p[0] = 1;
}
using Choice = void (*)(int);
__device__ void wait_by_choice(int) {
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__device__ void go_by_choice(int) {}
__global__ void divergent_choice(int* p) {
  Choice f = threadIdx.x ? &go_by_choice : &wait_by_choice;
  f(1);
  p[0] = 1;
}

// Pointers to members.
struct Team {
  int a, b;
  __device__ void wait() {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  __device__ void idle() {}
  __device__ void wait_rightly() { __syncthreads(); }
};
template <void (Team::*F)()> __device__ void call(Team& t) { (t.*F)(); }
__global__ void member_under_condition(int* p) {
  Team team;
  Team* at = &team;
  auto f = &Team::wait;
  if (threadIdx.x) (at->*f)();
  p[0] = 1;
}
__global__ void good_member_of_the_same_type(int* p) {
  Team team;
  auto f = &Team::idle;
  if (threadIdx.x) (team.*f)();
  auto all = &Team::wait_rightly;
  (team.*all)();
  if (threadIdx.x) call<&Team::idle>(team);
  call<&Team::wait_rightly>(team);
  p[0] = 1;
}
__global__ void data_member(int* p) {
  Team team{0, 0};
  int Team::* which = &Team::a;
  team.*which = threadIdx.x;
  if (team.a) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if ((&team)->*which) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void good_data_member(int* p) {
  Team team{0, 0};
  int Team::* which = &Team::a;
  team.b = threadIdx.x;
  team.*which = blockIdx.x;
  if (team.*which) __syncthreads();
  p[0] = team.b;
}

// Two functions through references: one lane writes, another reads.
__device__ void put(int& slot, int v) { slot = v; }
__device__ int get(int& slot) {
  return slot; // expect: cuda_syncwarp_missing
}
__device__ int get_own(int& slot) { return slot; }
struct Row {
  int (&slots)[32];
  __device__ void put(int v) { slots[threadIdx.x % 32] = v; }
  __device__ int neighbour() {
    return slots[(threadIdx.x % 32) ^ 1]; // expect: cuda_syncwarp_missing
  }
  __device__ int neighbour_then() { return slots[(threadIdx.x % 32) ^ 2]; }
};
__global__ void exchange_by_references(int* p) {
  __shared__ int s[32][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  put(s[warp][lane], lane);
  p[threadIdx.x] = get(s[warp][lane ^ 1]);
}
__global__ void exchange_by_object(int* p) {
  __shared__ int s[32][32];
  Row row{s[threadIdx.x / 32]};
  row.put(1);
  p[threadIdx.x] = row.neighbour();
}
__global__ void good_own_slot(int* p) {
  __shared__ int s[32][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  put(s[warp][lane], lane);
  p[threadIdx.x] = get_own(s[warp][lane]);
}
__global__ void good_exchange(int* p) {
  __shared__ int s[32][32];
  Row row{s[threadIdx.x / 32]};
  row.put(1);
  __syncwarp();
  p[threadIdx.x] = row.neighbour_then();
}

// Parts of what is like a tuple: each is what get<I>() gives.
struct Two {
  int a, b;
  template <int I> __host__ __device__ int get() const {
    if constexpr (I == 0) {
      return a;
    } else {
      return b;
    }
  }
};
template <> struct std::tuple_size<Two> {
  static constexpr size_t value = 2;
};
template <size_t I> struct std::tuple_element<I, Two> {
  using type = int;
};
__device__ Two next_of(Two at, int n) { return {at.a + n, at.b}; }
__global__ void parts(int* p) {
  Two two{(int)threadIdx.x, 1};
  auto [mine, same] = two;
  if (mine) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (same) __syncthreads();
  p[0] = 1;
}
__global__ void good_loop_over_parts(int* p, int n) {
  Two at{(int)blockIdx.x, 1};
  while (at.a < n) { // ends: it is another one each time
    auto [next, step] = next_of(at, gridDim.x);
    at = Two{next, step};
  }
  p[0] = at.a;
}
