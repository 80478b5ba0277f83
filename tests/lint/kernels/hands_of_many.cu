// lint-options: --arch=sm_80 -- -std=c++17
// How programs hide where threads part: functors, packs, tuples, members, macros, cleanup labels, loops over loops,
// words that are packed. Half of them wrong.
#define FOR_THREADS(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CHECK_AND_SYNC(c) do { if (c) break; __syncthreads(); } while (0)
// --- A pack of functors, one after the other
template <class... Fs> struct Chain;
template <> struct Chain<> { __device__ void run(int) {} };
template <class F, class... Rest> struct Chain<F, Rest...> {
  F f; Chain<Rest...> rest;
  __device__ void run(int i) { f(i); rest.run(i); }
};
struct AddsUp { int* p; __device__ void operator()(int i) { p[i] += 1; } };
struct Meets { __device__ void operator()(int) { __syncthreads(); } };
struct MeetsApart { __device__ void operator()(int) { __syncthreads(); } }; // expect: thread_synchronization_in_divergent_region
__global__ void chain(int* p, int n) {
  Chain<AddsUp, Meets, AddsUp> c{{p}, {{}, {{p}, {}}}};
  for (int i = 0; i < n; ++i) c.run(i * 32 + threadIdx.x);
}
__global__ void chain_bad(int* p, int n) {
  Chain<AddsUp, MeetsApart, AddsUp> c{{p}, {{}, {{p}, {}}}};
  FOR_THREADS(i, n) c.run(i);
  p[0] = 1;
}
// --- A fold over a pack, `if constexpr` in it
template <int... Is> __device__ void fold_meets(int* p, bool (&flags)[sizeof...(Is)]) {
  ((flags[Is] ? (void)__syncthreads() : (void)(p[Is] = 1)), ...);
}
template <int... Is> __device__ void fold_meets_apart(int* p, bool (&flags)[sizeof...(Is)]) {
  ((flags[Is] ? (void)__syncthreads() : (void)(p[Is] = 1)), ...); // expect: thread_synchronization_in_divergent_region
}
__global__ void fold(int* p, int a) {
  bool flags[2] = {a > 3, blockIdx.x > 3};
  fold_meets<0, 1>(p, flags);
  p[threadIdx.x] = 1;
}
__global__ void fold_bad(int* p, int a) {
  bool flags[2] = {a > 3, threadIdx.x > 3};
  fold_meets_apart<0, 1>(p, flags);
  p[threadIdx.x] = 1;
}
// --- Coordinates in a struct; one axis is the thread's
struct Coordinates { int row, column; bool inside; };
__device__ Coordinates coordinates(int rows, int columns) {
  Coordinates c;
  c.row = blockIdx.x;
  c.column = threadIdx.x;
  c.inside = c.row < rows && c.column < columns;
  return c;
}
__global__ void by_row(int* p, int rows, int columns) {
  Coordinates c = coordinates(rows, columns);
  if (c.row >= rows) return;
  p[c.row * columns + c.column] = 1;
  __syncthreads();
  p[c.row] += 1;
}
__global__ void by_inside_bad(int* p, int rows, int columns) {
  Coordinates c = coordinates(rows, columns);
  if (!c.inside) return; // expect: early_exit_before_synchronization
  p[c.row * columns + c.column] = 1;
  __syncthreads();
  p[c.row] += 1;
}
// --- A word that holds two numbers
__global__ void packed(int* p) {
  unsigned word = blockIdx.x << 16 | threadIdx.x;
  if (word >> 16 & 1) __syncthreads();
  p[threadIdx.x] = 1;
}
__global__ void packed_bad(int* p) {
  unsigned word = blockIdx.x << 16 | threadIdx.x;
  if (word & 0xffff) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = 1;
}
// --- A cleanup label before the barrier, and behind it
__global__ void cleanup(int* p) {
  int* mine = p + threadIdx.x;
  if (*mine == 0) goto done;
  *mine = 1;
done:
  __syncthreads();
  *mine += p[0];
}
__global__ void cleanup_bad(int* p, int n) {
  int* mine = p + threadIdx.x;
  if (*mine == 0) goto done; // expect: thread_synchronization_bypassed
  *mine = 1;
  __syncthreads();
  *mine += p[0];
done:
  *mine += 2;
}
// --- A macro with a way out
__global__ void macro(int* p, int n) {
  CHECK_AND_SYNC(n == 3);
  p[threadIdx.x] = 1;
}
__global__ void macro_bad(int* p, int n) {
  CHECK_AND_SYNC(p[threadIdx.x] == 3); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = 1;
}
// --- A flag that an inner loop sets
__global__ void flag_of_inner_loop(const int* in, int* out, int n) {
  bool stop = false;
  for (int i = 0; i < n && !stop; ++i) {
    for (int j = 0; j < 8; ++j) if (in[blockIdx.x * 8 + j] < 0) { stop = true; break; }
    __syncthreads();
    out[i * blockDim.x + threadIdx.x] = i;
  }
}
__global__ void flag_of_inner_loop_bad(const int* in, int* out, int n) {
  bool stop = false;
  for (int i = 0; i < n && !stop; ++i) {
    for (int j = 0; j < 8; ++j) if (in[threadIdx.x * 8 + j] < 0) { stop = true; break; }
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i * blockDim.x + threadIdx.x] = i;
  }
}
// --- Values out of a loop that lanes leave at different trips
__global__ void trips(const int* in, int* out, int n) {
  int trips = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++trips;
  __syncthreads();
  for (int t = 0; t < 3; ++t) { out[threadIdx.x] += trips; __syncthreads(); }
}
__global__ void trips_bad(const int* in, int* out, int n) {
  int trips = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++trips;
  for (int t = 0; t < trips; ++t) { out[threadIdx.x] += in[t]; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  out[0] = 1;
}
// --- A destructor that waits
struct Meeting { int* p; __device__ Meeting(int* at) : p(at) {} __device__ ~Meeting() { __syncthreads(); p[0] += 1; } };
struct MeetingApart { int* p; __device__ MeetingApart(int* at) : p(at) {} __device__ ~MeetingApart() { __syncthreads(); p[0] += 1; } }; // expect: thread_synchronization_in_divergent_region
__global__ void guard(int* p, int n) {
  Meeting m(p);
  if (threadIdx.x < n) p[threadIdx.x] = 1;
}
__global__ void guard_bad(int* p, int n) {
  if (threadIdx.x < n) { MeetingApart m(p); p[threadIdx.x] = 1; }
  p[1] = 2;
}
// --- A helper that says whether the thread has work
__device__ bool has_work(const int* list, int i, int n) { return i < n && list[i] != 0; }
__global__ void work_of_block(const int* list, int* out, int n) {
  if (!has_work(list, blockIdx.x, n)) return;
  out[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] += out[0];
}
__global__ void work_of_thread_bad(const int* list, int* out, int n) {
  if (!has_work(list, blockIdx.x * blockDim.x + threadIdx.x, n)) return; // expect: early_exit_before_synchronization
  out[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] += out[0];
}
// --- A recursion of templates
template <int Level> struct Halves {
  static __device__ void run(int* s) {
    if (threadIdx.x < Level) s[threadIdx.x] += s[threadIdx.x + Level];
    __syncthreads();
    Halves<Level / 2>::run(s);
  }
};
template <> struct Halves<0> { static __device__ void run(int*) {} };
__global__ void halves(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  Halves<128>::run(s);
  out[threadIdx.x] = s[0];
}
template <int Level> struct HalvesApart {
  static __device__ void run(int* s) {
    if (threadIdx.x < Level) {
      s[threadIdx.x] += s[threadIdx.x + Level];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
      HalvesApart<Level / 2>::run(s);
    }
  }
};
template <> struct HalvesApart<0> { static __device__ void run(int*) {} };
__global__ void halves_bad(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  HalvesApart<128>::run(s);
  out[threadIdx.x] = s[0];
}
// --- A value that the block reads from shared memory: written by one thread, and by many
__global__ void one_writes(int* out) {
  __shared__ int chosen;
  if (threadIdx.x == 0) chosen = out[blockIdx.x];
  __syncthreads();
  if (chosen > 3) { out[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] += 1; }
}
__global__ void own_slot_bad(int* out) {
  __shared__ int chosen[256];
  chosen[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  if (chosen[threadIdx.x ^ 1] > 3) { out[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] += 1; } // expect: thread_synchronization_in_divergent_region
}
// --- A search whose bounds are the block's, and the thread's
__global__ void search(const int* keys, const int* wanted, int* out, int n) {
  int low = 0, high = n, key = wanted[blockIdx.x];
  while (low < high) {
    int middle = (low + high) / 2;
    if (keys[middle] < key) low = middle + 1; else high = middle;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = low;
}
__global__ void search_bad(const int* keys, const int* wanted, int* out, int n) {
  int low = 0, high = n, key = wanted[threadIdx.x];
  while (low < high) {
    int middle = (low + high) / 2;
    if (keys[middle] < key) low = middle + 1; else high = middle;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[threadIdx.x] = low;
}
// --- Rounded up, and not
__global__ void rounded(const int* in, int* out, int n) {
  const int up = (n + 255) / 256 * 256;
  for (int i = threadIdx.x; i < up; i += 256) {
    if (i < n) out[i] = in[i];
    __syncthreads();
  }
}
__global__ void rounded_in_vain_bad(const int* in, int* out, int n) {
  const int up = (n + 3) / 4 * 4;
  for (int i = threadIdx.x; i < up; i += 256) {
    if (i < n) out[i] = in[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
