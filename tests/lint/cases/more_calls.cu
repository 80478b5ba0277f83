// Rule CUDA-1.14 through calls, templates, lambdas, members, groups and assembly; with twins.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int N> __device__ void sum_tree(int* s) {
  for (int o = N / 2; o > 0; o /= 2) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
}
template <int N> __device__ void sum_tree_bad(int* s) {
  for (int o = N / 2; o > threadIdx.x; o /= 2) {
    s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void uses_template_bad(int* p) { sum_tree_bad<64>(p); p[0] = 1; }
__global__ void uses_template(int* p) { sum_tree<64>(p); p[0] = 1; }
template <bool first> __device__ void by_flag(int* p) {
  if (first || threadIdx.x < 3) { // one instantiation is compliant
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
template <bool first> __device__ void by_constexpr(int* p) {
  if constexpr (first) __syncthreads();
  p[1] = 1;
}
__global__ void by_flag_bad(int* p) { by_flag<false>(p); }
__global__ void by_constexpr_both(int* p) { by_constexpr<false>(p); by_constexpr<true>(p); }
template <class T, int Rounds> __global__ void kernel_template_bad(T* p) {
  for (int i = 0; i < Rounds; ++i)
    if (p[threadIdx.x] > T(i)) {
      p[i] = 1;
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  p[0] = 1;
}
template <class T, int Rounds> __global__ void kernel_template(T* p) {
  for (int i = 0; i < Rounds; ++i) {
    if (p[threadIdx.x] > T(i)) p[i] = 1;
    __syncthreads();
  }
  p[0] = 1;
}
template __global__ void kernel_template_bad<float, 3>(float*);
template __global__ void kernel_template<float, 3>(float*);

// Generic lambdas and callables.
template <class F> __device__ void for_each_tile(int n, F f) {
  for (int t = 0; t < n; ++t) f(t);
}
template <class F> __device__ void for_my_tiles(int n, F f) {
  for (int t = threadIdx.x; t < n; t += blockDim.x) f(t);
}
__global__ void callable_bad(int* p, int n) {
  for_my_tiles(n, [=](int t) {
    p[t] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  });
  p[0] = 1;
}
__global__ void callable(int* p, int n) {
  for_each_tile(n, [=](int t) {
    p[t] = 1;
    __syncthreads();
  });
  p[0] = 1;
}
__global__ void generic_lambda_bad(int* p) {
  auto when = [p](auto limit) {
    if (threadIdx.x < limit) {
      p[0] = limit;
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  };
  when(5);
  p[1] = 1;
}
__global__ void generic_lambda(int* p) {
  auto when = [p](auto value, auto limit) {
    if (value < limit) {
      p[0] = limit;
      __syncthreads();
    }
  };
  when(blockIdx.x, 5u);
  p[1] = 1;
}
// Members, constructors, base classes, references.
struct Worker {
  int* data;
  int limit;
  __device__ explicit Worker(int* p) : data(p), limit(blockIdx.x) {}
  __device__ bool is_mine() const { return threadIdx.x < limit; }
  __device__ bool is_ours() const { return limit > 3; }
  __device__ void work_bad() {
    if (is_mine()) {
      data[0] = 1;
      sync(); // the call that leads to it is below
    }
    data[1] = 1;
  }
  __device__ void work() {
    if (is_ours()) {
      data[0] = 1;
      sync();
    }
    data[1] = 1;
  }
  __device__ void sync() { __syncthreads(); } // expect: thread_synchronization_in_divergent_region
};
__global__ void object_bad(int* p) { Worker(p).work_bad(); }
struct QuietWorker : Worker {
  __device__ explicit QuietWorker(int* p) : Worker(p) {}
  __device__ void run() {
    if (is_ours()) data[3] = 1;
    __syncthreads();
    data[1] = 1;
  }
};
__global__ void object(int* p) { QuietWorker w(p); w.run(); }
struct Step {
  __device__ Step() {}
  __device__ ~Step() {}
  __device__ void operator()(int* p) const { p[0] = 1; __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
};
struct QuietStep {
  __device__ void operator()(int* p) const { p[0] = 1; __syncthreads(); p[1] = 1; }
};
__global__ void call_operator_bad(int* p) { Step step; if (threadIdx.x & 1) step(p); p[2] = 1; }
__global__ void call_operator(int* p) { QuietStep step; if (blockIdx.x & 1) step(p); p[2] = 1; }
__device__ void set_limit_bad(int& limit) { limit = threadIdx.x; }
__device__ void set_limit(int& limit) { limit = blockIdx.x; }
__global__ void out_parameter_bad(int* p) {
  int limit;
  set_limit_bad(limit);
  while (limit-- > 0) { p[limit] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void out_parameter(int* p) {
  int limit;
  set_limit(limit);
  while (limit-- > 0) { p[limit] = 1; __syncthreads(); }
  p[0] = 1;
}
// Three helpers down; the same helper from a good place and from a bad one.
__device__ void level3_bad(int* p) { p[0] = 1; __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__device__ void level2_bad(int* p) { level3_bad(p); }
__device__ void level1_bad(int* p, bool take) { if (take) level2_bad(p); }
__global__ void three_down_bad(int* p) {
  level1_bad(p, true);
  level1_bad(p, threadIdx.x > 5);
  p[3] = 1;
}
__device__ void level3(int* p) { p[0] = 1; __syncthreads(); p[1] = 1; }
__device__ void level2(int* p) { level3(p); }
__device__ void level1(int* p, bool take) { if (take) level2(p); }
__global__ void three_down(int* p) {
  level1(p, true);
  level1(p, blockIdx.x > 5);
  p[3] = 1;
}
// Function pointers.
typedef void (*Action)(int*);
__device__ void with_barrier(int* p) { p[0] = 1; __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__device__ void without_barrier(int* p) { p[1] = 1; }
__global__ void pointer_bad(int* p) {
  Action a = threadIdx.x < 3 ? with_barrier : without_barrier;
  a(p);
  p[2] = 1;
}
typedef int (*Computes)(int*, int);
__device__ int one_way(int* p, int i) { __syncthreads(); return p[i]; }
__device__ int other_way(int* p, int i) { __syncthreads(); return p[i + 1]; }
__global__ void pointer(int* p, int which) {
  Computes c = which ? one_way : other_way;
  p[threadIdx.x] = c(p, 3);
}
// Recursion.
__device__ int depth_of(const int* p, int i) { return i < 2 ? 0 : 1 + depth_of(p, p[i]); }
__global__ void recursion_bad(int* p) {
  for (int i = depth_of(p, threadIdx.x); i > 0; --i) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 1;
}
__global__ void recursion(const int* q, int* p, int n) {
  for (int i = depth_of(q, n); i > 0; --i) {
    p[i + 100] = 1;
    __syncthreads();
  }
}
// Groups.
__global__ void cg_sync_bad(int* p) {
  auto block = cg::this_thread_block();
  if (block.thread_rank() > 3) {
    p[0] = 1;
    cg::sync(block); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void cg_sync(int* p) {
  auto block = cg::this_thread_block();
  if (block.group_index().x > 3) {
    p[0] = 1;
    cg::sync(block);
  }
  p[1] = 1;
}
__global__ void arrive_bad(int* p) {
  auto block = cg::this_thread_block();
  if (threadIdx.x < 32) {
    auto token = block.barrier_arrive(); // expect: thread_synchronization_in_divergent_region
    p[0] = 1;
    block.barrier_wait(static_cast<cg::thread_block::arrival_token&&>(token)); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void arrive(int* p) {
  auto block = cg::this_thread_block();
  auto token = block.barrier_arrive();
  if (threadIdx.x < 32) p[0] = 1;
  block.barrier_wait(static_cast<cg::thread_block::arrival_token&&>(token));
  p[1] = 1;
}
__device__ void sync_group_bad(cg::thread_block g, int* p) { if (g.thread_rank()) { p[0] = 1; g.sync(); } p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__device__ void sync_group(cg::thread_block g, int* p, int n) { if (n) { p[0] = 1; g.sync(); } p[1] = 1; }
__global__ void passes_bad(int* p) { sync_group_bad(cg::this_thread_block(), p); }
__global__ void passes(int* p, int n) { sync_group(cg::this_thread_block(), p, n); }
// The numbered barrier and assembly.
__global__ void numbered_bad(int* p) {
  if (threadIdx.x < 3) { p[0] = 1; __barrier_sync(0); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void numbered(int* p) {
  if (threadIdx.x < 64) { p[0] = 1; __barrier_sync_count(1, 64); }
  __barrier_sync(0);
  p[1] = 1;
}
__global__ void barrier_sync_asm_bad(int* p) {
  if (p[threadIdx.x]) { p[0] = 1; asm volatile("barrier.sync 0;"); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void barrier_sync_asm(int* p) {
  asm volatile("barrier.sync 0;" ::: "memory");
  if (threadIdx.x < 96) asm volatile("barrier.sync 2, 96;" ::: "memory");
  p[1] = 1;
}
__global__ void cta_asm_bad(int* p, int n) {
  unsigned id;
  asm("mov.u32 %0, %%tid.x;" : "=r"(id));
  for (int i = id; i < n; ++i) {
    p[i] = 1;
    asm volatile("barrier.cta.sync 0;" ::: "memory"); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void cta_asm(int* p, int n) {
  unsigned id;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(id));
  for (int i = id; i < n; ++i) {
    p[i] = 1;
    asm volatile("barrier.cta.sync 0;" ::: "memory");
  }
}
__global__ void red_asm_bad(int* p) {
  int all;
  if (threadIdx.x & 4) asm volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; barrier.cta.red.popc.u32 %0, 0, q; }" : "=r"(all) : "r"(p[0])); // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}

// A template that nothing instantiates: a function of its parameter may synchronise, and separate the
// loads of one round from the store of the next one. One that is called by a value hardly does.
template <class Scan> __global__ void by_parameter(const int* in, int* out, int n) {
  __shared__ typename Scan::Storage storage;
  __shared__ int done;
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    int all = 0;
    Scan(storage).sum(in[i], all);
    if (threadIdx.x == 0) done += all;
    __syncthreads();
    if (done > 10) break;
  }
  __syncthreads();
}
template <class Function> __global__ void by_value_bad(Function f, int* out, int n) {
  __shared__ int done;
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    const int all = f(i);
    if (threadIdx.x == 0) done += all;
    __syncthreads();
    if (done > 10) break; // expect: potentially_thread_synchronization_bypassed
  }
  __syncthreads();
}
