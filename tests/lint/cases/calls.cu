// Barriers in helpers, lambdas, members, templates, through pointers.
__device__ void deep_sync() { __syncthreads(); } // expect: thread_synchronization_in_divergent_region
__device__ void helper() { deep_sync(); }

__global__ void two_down_bad(int* p) {
  if (threadIdx.x == 0) helper();
  p[threadIdx.x] = 1;
}

__device__ void deep_sync_ok() { __syncthreads(); }
__device__ void helper_ok() { deep_sync_ok(); }
__global__ void two_down(int* p, int flag) {
  if (flag) helper_ok();
  helper_ok();
  p[threadIdx.x] = 1;
}

__device__ void sync_if(bool c) {
  if (c) __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__global__ void by_argument_bad(int* p) {
  sync_if(threadIdx.x < 5);
  p[threadIdx.x] = 1;
}

__device__ void sync_if_ok(bool c) {
  if (c) __syncthreads();
}
__global__ void by_argument(int* p, int n) {
  sync_if_ok(n > 5);
  sync_if_ok(blockIdx.x == 0);
  p[threadIdx.x] = 1;
}

__device__ int identity(int x) { return x; }
__device__ int warp_of(int t) { return t / 32; }
__global__ void through_result_bad(int* p) {
  if (identity(warp_of(threadIdx.x)) == 1) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = 1;
}
__global__ void through_result(int* p) {
  if (identity(blockIdx.x) == 1) __syncthreads();
  p[threadIdx.x] = 1;
}

__device__ void out_parameter(int& x, int* y, int v) { x = v; *y = 3; }
__global__ void by_reference_bad(int* p) {
  int a = 0, b = 0;
  out_parameter(a, &b, threadIdx.x);
  if (b == 3) __syncthreads();
  if (a == 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = 1;
}

__global__ void in_lambda_bad(int* p, int n) {
  auto sync = [&](int limit) {
    if (limit > n) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  };
  sync(threadIdx.x);
  p[threadIdx.x] = 1;
}
__global__ void in_lambda(int* p, int n) {
  auto sync = [=](int limit) {
    if (limit > n) __syncthreads();
  };
  sync(4);
  p[threadIdx.x] = 1;
}
__global__ void captured_bad(int* p, int n) {
  int mine = threadIdx.x;
  auto sync = [mine, n]() {
    if (mine > n) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  };
  sync();
  p[threadIdx.x] = 1;
}

struct Tile {
  int row, width;
  __device__ Tile(int r, int w) : row(r), width(w) {}
  __device__ bool inside() const { return row < width; }
  __device__ bool wide() const { return width > 16; }
};
__global__ void member_bad(int* p, int w) {
  Tile tile(threadIdx.y, w);
  if (tile.inside()) {
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[threadIdx.x] = 1;
}
__global__ void member(int* p, int w) {
  Tile tile(threadIdx.y, w);
  if (tile.wide()) {
    p[0] = 1;
    __syncthreads();
  }
  p[threadIdx.x] = 1;
}

struct Parameters {
  int n;
  const int* data;
  bool flag;
};
__global__ void by_struct(Parameters q, int* p) {
  for (int i = 0; i < q.n; ++i) {
    p[i] = q.data[i];
    __syncthreads();
  }
  if (q.flag) __syncthreads();
  p[threadIdx.x] = 1;
}

template <class F> __device__ void for_tiles(int n, F body) {
  for (int i = 0; i < n; ++i) body(i);
}
__global__ void functor(int* p, int n) {
  for_tiles(n, [&](int i) {
    p[i] = i;
    __syncthreads();
  });
}
__global__ void functor_bad(int* p, int n) {
  for_tiles(threadIdx.x, [&](int i) {
    p[i] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  });
  p[n] = 1;
}

typedef void (*Step)(int*);
__device__ void step_one(int* p) {
  p[0] = 1;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__device__ void step_two(int* p) { p[0] = 2; }
__global__ void by_pointer_bad(int* p) {
  Step step = threadIdx.x < 4 ? step_one : step_two;
  step(p);
  p[threadIdx.x] = 1;
}

template <class T, int N> __device__ T block_sum(T value, T* scratch) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (int offset = N / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) scratch[threadIdx.x] += scratch[threadIdx.x + offset];
    __syncthreads();
  }
  T total = scratch[0];
  __syncthreads();
  return total;
}
__global__ void uses_block_sum(const float* in, float* out) {
  __shared__ float scratch[128];
  float total = block_sum<float, 128>(in[threadIdx.x], scratch);
  while (total > 1.0f) {
    out[threadIdx.x] = total;
    total = block_sum<float, 128>(out[threadIdx.x] * 0.5f, scratch);
  }
}

// Read as a pattern: nothing instantiates it.
template <class T> __global__ void never_made(T* p, T limit, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = n;
  if (n > 3) __syncthreads();
  if (p[threadIdx.x] < limit) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = s[0];
}

__device__ int recursive(int n) { return n <= 0 ? 0 : 1 + recursive(n - 1); }
__global__ void uses_recursion(int* p, int n) {
  if (recursive(n) > 2) __syncthreads();
  p[threadIdx.x] = 1;
}

__device__ void returns_early(int t, int n) {
  if (t >= n) return; // expect: thread_synchronization_bypassed
  __syncthreads();
}
__global__ void helper_returns_bad(int* p, int n) {
  returns_early(threadIdx.x, n);
  p[threadIdx.x] = 1;
}
__device__ bool should_skip(int t, int n) {
  if (t >= n) return true;
  return false;
}
__global__ void helper_decides(int* p, int n) {
  if (!should_skip(threadIdx.x, n)) p[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x + 1] = 1;
}
