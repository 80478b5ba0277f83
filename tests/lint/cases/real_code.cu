// What libraries write (CUTLASS, CUB and their users): function objects that are constants, choices at compile
// time, pointers to functions whose value the text says, values that are copied byte by byte. With twins.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// --- Templates that nothing instantiates
struct Product {
  template <class T> __host__ __device__ constexpr int operator()(T const&) const { return sizeof(T); }
};
struct Own {
  __device__ int operator()(int n) const { return n > 3 ? threadIdx.x : 0; }
};
static constexpr Product product;
static constexpr Own own;
template <class T> __host__ __device__ constexpr auto size(T const& a) { return product(a); }

template <class Shape> __device__ void chosen_at_compile_time(int* p) {
  if constexpr (size(Shape{}) > 1) {
    p[1] = 1;
  } else {
    __syncthreads();
  }
  p[0] = 1;
}
template <class Shape> __device__ void chosen_by_a_constant(int* p) {
  constexpr bool wide = size(Shape{}) > 1 && Shape::has_rows(3);
  constexpr auto layout = Shape::layout();
  if (wide) {
    p[1] = 1;
  } else {
    __syncthreads();
  }
  if (layout) __syncthreads();
  p[0] = 1;
}
template <class Shape> __device__ void chosen_at_compile_time_in_a_branch_bad(int* p) {
  if constexpr (size(Shape{}) > 1) {
    if (threadIdx.x > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 1;
}
template <class Shape> __device__ void a_function_object(int* p, Shape shape) {
  if (product(shape) > 1) __syncthreads();
  p[0] = 1;
}
template <class Shape> __device__ void a_function_object_bad(int* p) {
  if (own(Shape::size)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}

// --- What is not known is not certain
__device__ int elsewhere(int);
__global__ void not_known_bad(int* p) {
  if (elsewhere(threadIdx.x)) __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void vote_on_what_is_read_bad(int* p) {
  if (__any_sync(~0u, p[threadIdx.x])) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void vote_on_what_is_not_known_bad(int* p) {
  if (__any_sync(~0u, elsewhere(3))) __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void shared_between_blocks_bad(int* p) {
  __shared__ int last;
  if (threadIdx.x == 0) last = p[0];
  __syncthreads();
  if (last) cg::this_cluster().sync(); // expect: potentially_thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void count_of_a_block_bad(int* p) {
  if (__syncthreads_or(p[0])) cg::this_grid().sync(); // expect: potentially_thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void count_of_a_block(int* p) {
  if (__syncthreads_or(p[threadIdx.x])) __syncthreads();
  p[0] = 1;
}

// --- Pointers to functions
__device__ void waits(int* p) { __syncthreads(); p[1] = 1; }
__device__ void works(int* p) { p[2] = 1; }
template <void (*F)(int*)> __device__ void through_an_argument(int* p) {
  if (threadIdx.x < 5) F(p);
  p[0] = 1;
}
__global__ void by_argument(int* p) { through_an_argument<works>(p); }
__global__ void by_constant(int* p) {
  constexpr auto f = &works;
  void (*const g)(int*) = works;
  if (threadIdx.x < 5) {
    f(p);
    g(p);
  }
  p[0] = 1;
}
struct Stage {
  int* p;
  __device__ void wait() { __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  __device__ void work() { p[3] = 1; }
};
__global__ void by_member(int* p) {
  Stage stage{p};
  if (threadIdx.x < 5) (stage.*(&Stage::work))();
  (stage.*(&Stage::wait))();
  p[0] = 1;
}
__global__ void by_member_bad(int* p) {
  Stage stage{p};
  constexpr void (Stage::*step)() = &Stage::wait;
  if (threadIdx.x < 5) ((&stage)->*step)();
  p[0] = 1;
}

// --- Bytes
union Bits {
  float f;
  int i;
};
__global__ void copied_bad(int* p) {
  int x = 0, t = threadIdx.x;
  memcpy(&x, &t, sizeof x);
  if (x) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void copied(int* p) {
  int x = threadIdx.x, t = blockIdx.x;
  memcpy(&x, &t, sizeof x);
  if (x) __syncthreads();
  p[0] = 1;
}
__global__ void copied_in_part_bad(int* p) {
  int x[4] = {}, t = threadIdx.x;
  memcpy(x + 1, &t, sizeof t);
  if (x[1]) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void copied_array_bad(int* p) {
  int x[4], t[4] = {1, 2, (int)threadIdx.x, 3};
  memcpy(x, t, sizeof x);
  if (x[2]) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void copied_array(int* p) {
  int x[4], t[4] = {1, 2, (int)threadIdx.x, 3};
  memcpy(x, t, sizeof x);
  if (x[1]) __syncthreads();
  p[0] = 1;
}
__global__ void copied_from_memory_bad(int* p) {
  int x;
  memcpy(&x, p + threadIdx.x, sizeof x);
  if (x) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void copied_from_memory(int* p, const int* q) {
  int x;
  memcpy(&x, q + blockIdx.x, sizeof x);
  if (x) __syncthreads();
  p[0] = 1;
}
__global__ void cast_bad(int* p) {
  unsigned t = threadIdx.x;
  float f = __builtin_bit_cast(float, t);
  if (f > 1) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void cast(int* p) {
  unsigned t = blockIdx.x;
  float f = __builtin_bit_cast(float, t);
  if (f > 1) __syncthreads();
  p[0] = 1;
}
__global__ void of_a_union_bad(int* p) {
  Bits b;
  b.f = threadIdx.x;
  if (b.i) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void of_a_union(int* p) {
  Bits b;
  b.i = threadIdx.x;
  b.f = 3;
  if (b.i) __syncthreads();
  p[0] = 1;
}

// --- nvcc's own atomic functions
__global__ void own_atomics_bad(int* p) {
  int v;
  __nv_atomic_load(p + threadIdx.x, &v, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (v) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (__nv_atomic_fetch_add(p, 1, __NV_ATOMIC_RELAXED) == 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void own_atomics(int* p, int* q) {
  __nv_atomic_store_n(p, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  *q = __nv_atomic_fetch_max(p, 1, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
}
__global__ void own_scope_bad(int* count) {
  __nv_atomic_fetch_add(count, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); // expect: cuda_scope_too_narrow
}
__global__ void own_scope(int* count) {
  __nv_atomic_fetch_add(count, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
void launch_scopes(int* p) {
  own_scope_bad<<<4, 32>>>(p);
  own_scope<<<4, 32>>>(p);
}

// --- Arithmetic
__global__ void nothing_left(int* p, const int* q) {
  int none = threadIdx.x * 0;
  if (none < q[0]) __syncthreads();
  if ((threadIdx.x & 0) == q[1]) __syncthreads();
  p[0] = 1;
}
__global__ void something_left_bad(float* p) {
  if (threadIdx.x * 0.0f == p[0]) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void __launch_bounds__(128) rank_in_a_row(int* p, int n) {
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  while (index - t < n) {
    if (index < n) p[index] = 1;
    block.sync();
    index += gridDim.x * blockDim.x;
  }
  p[0] = 2;
}
__global__ void rank_in_a_plane_bad(int* p, int n) {
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index - t < n) block.sync(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.y] = 2;
}
__global__ void rank_where_launched_so_bad(int* p, int n) {
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index - t < n) block.sync(); // expect: thread_synchronization_in_divergent_region
  p[index] = 2;
}
void launch(int* p) { rank_where_launched_so_bad<<<1, dim3(32, 4)>>>(p, 3); }

// --- Roles of warps in a cluster: each waits at a call of its own
__global__ void roles(int* p) {
  const int warp = threadIdx.x / 32;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  if (warp == 0) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    p[0] = 1;
  }
  if (warp > 0) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    p[1] = 1;
  }
}
__global__ void one_role_waits(int* p) {
  const int warp = threadIdx.x / 32;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  if (warp == 0) asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  p[1] = 1;
}
__global__ void roles_of_lanes_bad(int* p) {
  const int lane = threadIdx.x % 32;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  if (lane == 0) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); // expect: thread_synchronization_in_divergent_region
    p[0] = 1;
  }
  if (lane > 0) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); // expect: thread_synchronization_in_divergent_region
    p[1] = 1;
  }
}
