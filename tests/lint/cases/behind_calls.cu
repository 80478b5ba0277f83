// Barriers behind calls, objects, templates and macros.
#define SYNC() __syncthreads()
#define SYNC_IF(c) do { if (c) __syncthreads(); } while (0)
#define FOR_EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
__global__ void macro_bad(int* p) {
  SYNC_IF(threadIdx.x == 0); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void macro(int* p, int n) {
  SYNC_IF(n == 0);
  SYNC();
  p[0] = 1;
}
__global__ void macro_loop_bad(int* p, int n) {
  FOR_EACH(i, n) {
    p[i] = 1;
    SYNC(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void macro_loop(int* p, int n) {
  FOR_EACH(i, n) p[i] = 1;
  SYNC();
  p[0] = 1;
}
__global__ void lambda_bad(int* p, int n) {
  auto work = [&](int i) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  };
  if (threadIdx.x < n) work(threadIdx.x);
  p[0] = 2;
}
__global__ void lambda(int* p, int n) {
  auto work = [&](int i) {
    p[i] = 1;
    __syncthreads();
  };
  if (blockIdx.x < n) work(threadIdx.x);
  p[0] = 2;
}
__global__ void lambda_returns_bad(int* p, int n) {
  auto work = [=](int i) {
    if (p[i] == 0) return; // expect: thread_synchronization_bypassed
    __syncthreads();
    p[i] = n;
  };
  work(threadIdx.x);
  p[0] = 2;
}
template <class F> __device__ void apply_twice(F f, int* p) {
  f(p, 0);
  f(p, 1);
}
struct Waits {
  int limit;
  __device__ void operator()(int* p, int i) const {
    if (i < limit) __syncthreads();
    p[i] = 1;
  }
};
struct WaitsBad {
  int limit;
  __device__ void operator()(int* p, int i) const {
    if (threadIdx.x < limit) __syncthreads(); // expect: thread_synchronization_in_divergent_region
    p[i] = 1;
  }
};
__global__ void functor(int* p, int n) { apply_twice(Waits{n}, p); }
__global__ void functor_bad(int* p, int n) { apply_twice(WaitsBad{n}, p); }
struct LimitedBad {
  int limit;
  __device__ void operator()(int* p, int i) const {
    if (i < limit) __syncthreads(); // expect: thread_synchronization_in_divergent_region
    p[i] = 1;
  }
};
__global__ void functor_of_thread_bad(int* p, int n) { apply_twice(LimitedBad{n - (int)threadIdx.x}, p); }

template <bool Waits> __device__ void step(int* p) {
  p[threadIdx.x] = 1;
  if constexpr (Waits) __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
template <int N, bool Barrier> __global__ void by_constant_bad(int* p) {
  if (threadIdx.x < N) step<Barrier>(p);
  p[0] = 1;
}
template __global__ void by_constant_bad<32, true>(int*);
template __global__ void by_constant_bad<64, false>(int*);
template <bool Waits> __device__ void quiet_step(int* p) {
  p[threadIdx.x] = 1;
  if constexpr (Waits) __syncthreads();
}
template <int N, bool Barrier> __global__ void by_constant(int* p) {
  if (threadIdx.x < N) quiet_step<false>(p);
  quiet_step<Barrier>(p);
  p[0] = 1;
}
template __global__ void by_constant<32, true>(int*);
template <int N> struct Unrolled {
  __device__ static void run(int* p) {
    p[N] = threadIdx.x;
    __syncthreads();
    Unrolled<N - 1>::run(p);
  }
};
template <> struct Unrolled<0> {
  __device__ static void run(int*) {}
};
__global__ void unrolled(int* p) { Unrolled<6>::run(p); }
template <int N> struct UnrolledBad {
  __device__ static void run(int* p) {
    if (threadIdx.x < N) {
      p[N] = threadIdx.x;
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
    UnrolledBad<N / 2>::run(p);
  }
};
template <> struct UnrolledBad<0> {
  __device__ static void run(int* p) { p[0] = 1; }
};
__global__ void unrolled_bad(int* p) { UnrolledBad<64>::run(p); }

__device__ void third(int* p) {
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[3] = 1;
}
__device__ void second(int* p) { third(p); }
__device__ void first(int* p, bool go) {
  if (go) second(p);
}
__global__ void three_down_bad(int* p) {
  first(p, threadIdx.x % 32 == 0);
  p[0] = 1;
}
__device__ void third_ok(int* p) {
  __syncthreads();
  p[3] = 1;
}
__device__ void first_ok(int* p, bool go) {
  if (go) third_ok(p);
}
__global__ void three_down(int* p, int n) {
  first_ok(p, n % 32 == 0);
  first_ok(p, blockIdx.x == gridDim.x - 1);
  p[0] = 1;
}
__device__ void halve_bad(int* p, int n) {
  if (n == 0) return; // expect: thread_synchronization_bypassed
  p[n] = 1;
  __syncthreads();
  halve_bad(p, n / 2);
}
__global__ void recursion_bad(int* p) {
  halve_bad(p, threadIdx.x);
  p[0] = 1;
}
__device__ void halve(int* p, int n) {
  if (n == 0) return;
  p[n] = 1;
  __syncthreads();
  halve(p, n / 2);
}
__global__ void recursion(int* p, int n) {
  halve(p, n);
  p[0] = 1;
}
struct Base {
  __device__ virtual void run(int* p) = 0;
};
struct Derived : Base {
  __device__ void run(int* p) override {
    p[1] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
};
__global__ void virtual_bad(int* p) {
  Derived d;
  Base* b = &d;
  if (threadIdx.x < 3) b->run(p);
  p[0] = 1;
}
struct OtherBase {
  __device__ virtual void run(int* p) = 0;
};
struct Plain : OtherBase {
  __device__ void run(int* p) override {
    p[1] = 1;
    __syncthreads();
  }
};
__global__ void direct(int* p, int n) {
  Plain d;
  OtherBase& b = d;
  if (n < 3) b.run(p);
  p[0] = 1;
}
typedef void (*Step)(int*, int, float);
__device__ void waits_step(int* p, int i, float) {
  p[i] = 1;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__global__ void pointer_bad(int* p) {
  Step f = waits_step;
  if (threadIdx.x < 7) f(p, 1, 0.f);
  p[0] = 1;
}
typedef void (*Other)(int*, short);
__device__ void other_step(int* p, short i) {
  p[i] = 1;
  __syncthreads();
}
__global__ void pointer(int* p, int n) {
  Other f = other_step;
  if (n < 7) f(p, 1);
  p[0] = 1;
}
__device__ Other table_of_steps[] = {other_step};
__global__ void table(int* p, int n) {
  table_of_steps[n](p, 2);
  p[0] = 1;
}
class Tile {
public:
  __device__ Tile(float* memory, int n) : memory_(memory), n_(n) { __syncthreads(); }
  __device__ ~Tile() { __syncthreads(); }
  __device__ void fill(float v) {
    for (int i = threadIdx.x; i < n_; i += blockDim.x) memory_[i] = v;
    __syncthreads();
  }

private:
  float* memory_;
  int n_;
};
__global__ void scoped(float* p, int n) {
  Tile tile(p, n);
  tile.fill(2.f);
}
class TileBad {
public:
  __device__ TileBad(float* memory) : memory_(memory) {}
  __device__ ~TileBad() { __syncthreads(); } // expect: thread_synchronization_in_divergent_region

private:
  float* memory_;
};
__global__ void scoped_bad(float* p) {
  if (threadIdx.x < 3) {
    TileBad tile(p);
    p[0] = 1;
  }
  p[1] = 1;
}
struct Config {
  int rounds;
  bool waits;
};
__global__ void structure(int* p, Config c) {
  for (int i = 0; i < c.rounds; ++i) {
    p[threadIdx.x] = i;
    if (c.waits) __syncthreads();
  }
}
__global__ void structure_bad(int* p, Config c) {
  c.rounds -= threadIdx.x;
  for (int i = 0; i < c.rounds; ++i) {
    p[threadIdx.x] = i;
    if (c.waits) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__device__ bool is_first() { return threadIdx.x + threadIdx.y + threadIdx.z == 0; }
__global__ void predicate_bad(int* p) {
  if (!is_first()) return; // expect: early_exit_before_synchronization
  __syncthreads();
  p[0] = 1;
}
__device__ void out_parameter(int* which, bool& flag) {
  *which = threadIdx.x;
  flag = blockIdx.x > 3;
}
__global__ void out_of_call(int* p) {
  int t;
  bool b;
  out_parameter(&t, b);
  if (b) {
    p[t] = 1;
    __syncthreads();
  }
  p[0] = 1;
}
__global__ void out_of_call_bad(int* p) {
  int t;
  bool b;
  out_parameter(&t, b);
  if (t) {
    p[t] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 1;
}
struct Derives : Config {
  using Config::Config;
  __device__ Derives(int r, int t) : Config{r, t != 0} {}
};
struct DerivesAgain : Derives {
  using Derives::Derives;
};
__global__ void inherited_constructor(int* p, int n) {
  DerivesAgain c(n, threadIdx.x);
  for (int i = 0; i < c.rounds; ++i) __syncthreads();
  p[0] = c.waits;
}
__global__ void inherited_constructor_bad(int* p, int n) {
  DerivesAgain c(n, threadIdx.x);
  if (c.waits) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = c.rounds;
}

struct Guard {
  int* p;
  __device__ ~Guard() {
    __syncthreads();
    p[2] = 1;
  }
};
struct Holds {
  Guard guard;
};
__global__ void guard_of_scope(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    Guard guard{p};
    p[threadIdx.x] = i;
    if (i == 3) continue;
    p[0] = 1;
  }
}
__global__ void guard_of_return(int* p, int n) {
  Holds holds{{p}};
  if (n > 3) return;
  p[threadIdx.x] = 1;
}
struct GuardBad {
  int* p;
  __device__ ~GuardBad() {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    p[2] = 1;
  }
};
struct HoldsBad {
  GuardBad guard;
};
__global__ void member_of_guard_bad(int* p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    HoldsBad holds{{p}};
    p[i] = 1;
  }
  p[1] = 1;
}
