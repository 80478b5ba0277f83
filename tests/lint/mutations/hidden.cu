// Barriers that are hard to see in divergent code: in helpers, macros, conditions, lambdas, classes, other spellings.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define BARRIER() __syncthreads()
#define SYNC_AND(x) (__syncthreads(), (x))
#define FOR_TILE(body) do { body; BARRIER(); } while (0)

__device__ void level2(float* s) {
  s[threadIdx.x] *= 2;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__device__ void level1(float* s, int depth) {
  if (depth > 0) level2(s);
  s[0] += 1;
}
__global__ void two_levels_bad(float* x, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) level1(s, n);
  x[threadIdx.x] = s[threadIdx.x];
}
__device__ float block_max(float v, float* s) {
  s[threadIdx.x] = v;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  return s[0];
}
__global__ void softmax_bad(const float* x, float* y, int rows, int cols) {
  __shared__ float s[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    const float m = block_max(x[i], s);
    y[i] = expf(x[i] - m);
  }
}
__global__ void short_circuit_bad(const int* in, int* out, int n) {
  const int v = threadIdx.x < n ? in[threadIdx.x] : 0;
  if (v > 0 && __syncthreads_or(v > 10)) out[threadIdx.x] = v; // expect: thread_synchronization_in_divergent_region
  out[n] = 1;
}
__global__ void short_circuit_good(const int* in, int* out, int n) {
  const int v = threadIdx.x < n ? in[threadIdx.x] : 0;
  if (__syncthreads_or(v > 10) && v > 0) out[threadIdx.x] = v;
  out[n] = 1;
}
__global__ void or_bad(const int* in, int* out, int n) {
  const bool outside = threadIdx.x >= n;
  const bool stop = outside || __syncthreads_and(in[threadIdx.x] > 0); // expect: thread_synchronization_in_divergent_region
  out[threadIdx.x] = stop;
}
__global__ void ternary_bad(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  const int c = i < n ? __syncthreads_count(in[i] > 0) : 0; // expect: thread_synchronization_in_divergent_region
  out[i] = c;
}
__global__ void ternary_good(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  const int c = n > 0 ? __syncthreads_count(i < n ? in[i] > 0 : 0) : 0;
  out[i] = c;
}
__global__ void macro_bad(float* x, int n) {
  __shared__ float s[64];
  const int i = threadIdx.x;
  if (i < n) FOR_TILE(s[i] = x[i]); // expect: thread_synchronization_in_divergent_region
  x[i] = s[63 - i];
}
__global__ void comma_bad(float* x, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  float v = 0;
  if (threadIdx.x % 2) v = SYNC_AND(s[threadIdx.x - 1]); // expect: thread_synchronization_in_divergent_region
  x[threadIdx.x] = v;
}
__global__ void lambda_bad(float* x, int n) {
  __shared__ float s[64];
  auto exchange = [&](float v) {
    s[threadIdx.x] = v;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    return s[threadIdx.x ^ 1];
  };
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) x[i] = exchange(x[i]);
}
struct Stage {
  float* s;
  __device__ void put(float v) const { s[threadIdx.x] = v; }
  __device__ void commit() const { cg::this_thread_block().sync(); } // expect: thread_synchronization_in_divergent_region
};
template <class S> __device__ void run_stage(const S& stage, float v, bool mine) {
  if (mine) {
    stage.put(v);
    stage.commit();
  }
}
__global__ void member_bad(const float* in, float* out, int n) {
  __shared__ float s[256];
  const Stage stage{s};
  run_stage(stage, in[threadIdx.x], threadIdx.x < n);
  out[threadIdx.x] = s[0];
}
template <int UNROLL> struct Steps {
  template <class F> static __device__ void run(F f) {
    f(UNROLL);
    Steps<UNROLL - 1>::run(f);
  }
};
template <> struct Steps<0> {
  template <class F> static __device__ void run(F) {}
};
__global__ void recursion_bad(float* x, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  if (t & 1)
    Steps<2>::run([&](int k) {
      s[t] = x[t] * k;
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    });
  x[t] = s[t];
}
__global__ void asm_bad(int* x, int n) {
  if (threadIdx.x < n) {
    x[threadIdx.x] = 1;
    asm volatile("bar.sync 0;" ::: "memory"); // expect: thread_synchronization_in_divergent_region
  }
  x[0] += x[threadIdx.x + 1];
}
__global__ void warp_role_bad(float* x, int rounds) {
  __shared__ float s[256];
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    for (int r = 0; r < rounds; ++r) {
      s[threadIdx.x] = x[r * 32 + threadIdx.x];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
      x[r * 256 + threadIdx.x] = s[threadIdx.x % 32];
    }
  }
}
__global__ void switch_bad(int* x, int n) {
  switch (threadIdx.y) {
  case 0:
    x[threadIdx.x] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    break;
  case 1:
    x[threadIdx.x] = 2;
    break;
  default:
    break;
  }
  x[n] = x[0];
}
// The condition went through a structure, an array and a reference.
struct Work { int begin, end; };
__device__ void split(int n, Work& w) {
  w.begin = threadIdx.x * n;
  w.end = w.begin + n + (threadIdx.x == 0);
}
__global__ void structure_bad(float* x, int n) {
  Work w;
  split(n, w);
  for (int i = w.begin; i < w.end; ++i) {
    x[i] += 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
// Votes of a warp do not hold for the block.
__global__ void vote_bad(const int* in, int* out, int n) {
  int v = in[threadIdx.x];
  while (__any_sync(0xffffffffu, v > n)) {
    v -= n;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[threadIdx.x] = v;
}
__global__ void vote_good(const int* in, int* out, int n) {
  int v = in[threadIdx.x];
  while (__syncthreads_or(v > n)) v -= n;
  out[threadIdx.x] = v;
}
// Each warp fetches its own piece of work.
__global__ void warp_queue_bad(int* counter, float* x, int n) {
  const int lane = threadIdx.x % 32;
  while (true) {
    int at = 0;
    if (lane == 0) at = atomicAdd(counter, 32);
    at = __shfl_sync(0xffffffffu, at, 0);
    if (at >= n) break; // expect: thread_synchronization_bypassed
    x[at + lane] += 1;
    __syncthreads();
  }
}
__global__ void lock_bad(int* lock, float* x) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      x[0] += 1;
      __threadfence();
      atomicExch(lock, 0); // expect: cuda_legacy_atomic
      done = true;
    }
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void by_pointer_bad(const int* flags, const float* in, float* out) {
  const int* mine = flags + threadIdx.x;
  if (*mine) {
    out[threadIdx.x] = in[threadIdx.x];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[0] += out[threadIdx.x];
}
__global__ void do_while_bad(const int* next, int* out, int n) {
  int at = threadIdx.x;
  do {
    out[at] = 1;
    at = next[at];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  } while (at != -1);
}
template <bool GUARDED> __global__ void template_bad(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!GUARDED || i < n) {
    x[i] *= 2;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    x[i] += x[i ^ 1];
  }
}
template __global__ void template_bad<true>(float*, int);
template __global__ void template_bad<false>(float*, int);
int main() { return 0; }
