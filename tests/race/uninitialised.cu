// Memory that nobody has written ([MEM-INIT]): the racy twin uses it, the right one writes it first, or does no
// more than copy it.
//@ find: uninitialised
//@ nvcc: -std=c++20
#include "cases.h"

#include <cuda/atomic>

template <class T> T* unwritten_memory(size_t count) {
  T* p = nullptr;
  must(cudaMalloc(&p, count * sizeof(T)));
  return p;
}

constexpr int n = 256;

__global__ void add(const float* a, const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] + b[i];
}
CASE(input_never_copied, "read of memory that was never written") {
  auto* a = device_memory<float>(n);
  auto* b = right ? device_memory<float>(n) : unwritten_memory<float>(n);
  auto* c = unwritten_memory<float>(n);
  add<<<2, n / 2>>>(a, b, c);
}
CASE(input_half_copied, "a result in global memory was computed from uninitialised memory(.|\\n)*c.i. = a.i.") {
  auto* a = device_memory<float>(n);
  auto* b = unwritten_memory<float>(n);
  must(cudaMemset(b, 0, (right ? n : n / 2) * sizeof(float)));
  auto* c = unwritten_memory<float>(n);
  add<<<2, n / 2>>>(a, b, c);
}

template <bool right> __global__ void sum_tile(const int* in, int count, int* out) {
  __shared__ int tile[n];
  const int i = threadIdx.x;
  if (i < count) {
    tile[i] = in[i];
  } else if (right) {
    tile[i] = 0;
  }
  __syncthreads();
  for (int half = n / 2; half != 0; half /= 2) {
    if (i < half) {
      tile[i] += tile[i + half];
    }
    __syncthreads();
  }
  if (i == 0) {
    *out = tile[0];
  }
}
CASE(tail_of_tile, "computed from uninitialised memory(.|\\n)*shared memory of the block") {
  sum_tile<right><<<1, n>>>(device_memory<int>(n), 200, unwritten_memory<int>(1));
}

template <bool right> __global__ void dynamic_tile(int* out) {
  extern __shared__ int dynamic[];
  if (right || threadIdx.x != 5) {
    dynamic[threadIdx.x] = threadIdx.x;
  }
  __syncthreads();
  out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x] * 3;
}
CASE(dynamic_shared, "computed from uninitialised memory(.|\\n)*shared memory") {
  dynamic_tile<right><<<1, 64, 64 * sizeof(int)>>>(unwritten_memory<int>(64));
}

template <bool right> __global__ void count_kinds(const int* kinds, int* out) {
  int counts[16];
  if (right) {
    for (int& c : counts) {
      c = 0;
    }
  }
  for (int i = 0; i < 64; ++i) {
    ++counts[kinds[i] & 15];
  }
  for (int k = 0; k < 16; ++k) {
    out[threadIdx.x * 16 + k] = counts[(k + kinds[k]) & 15];
  }
}
CASE(local_array, "computed from uninitialised memory(.|\\n)*local memory of the thread") {
  count_kinds<right><<<1, 32>>>(device_memory<int>(64), unwritten_memory<int>(512));
}

struct State {
  int ready;
  int index;
  int value[8];
};
template <bool right> __global__ void prepare(State* s) {
  s->value[threadIdx.x & 7] = threadIdx.x & 7;
  if (right) {
    s->ready = 1;
    s->index = 2;
  }
}
__global__ void use_flag(const State* s, int* out) {
  if (s->ready == 1) {
    *out = 4;
  }
}
__global__ void use_index(const State* s, int* out) {
  *out = s->value[s->index & 7];
}
CASE(branch, "a branch depends|whether something is executed") {
  auto* s = unwritten_memory<State>(1);
  prepare<right><<<1, 1>>>(s);
  use_flag<<<1, 1>>>(s, device_memory<int>(1));
}
CASE(address, "an address depends") {
  auto* s = unwritten_memory<State>(1);
  prepare<right><<<1, 8>>>(s);
  use_index<<<1, 1>>>(s, device_memory<int>(1));
}

__global__ void count_all(unsigned* counter) {
  atomicAdd(counter, 1u);
}
CASE(counter, "an atomic operation uses") {
  count_all<<<4, 64>>>(right ? device_memory<unsigned>(1) : unwritten_memory<unsigned>(1));
}

__global__ void lock_once(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}
CASE(lock, "an atomic operation uses") {
  lock_once<<<4, 1>>>(right ? device_memory<int>(1) : unwritten_memory<int>(1), device_memory<int>(1));
}

// Smaller than a word: what lies beside it is compared, too.
template <bool right> __global__ void bytes(int* out) {
  __shared__ cuda::atomic<signed char, cuda::thread_scope_block> byte;
  __shared__ signed char other;
  if (threadIdx.x == 0 && right) {
    byte.store(1);
  }
  __syncthreads();
  byte.fetch_add(2);
  if (threadIdx.x == 0) {
    out[0] = byte.load() + (right ? 0 : other);
  }
}
CASE(atomic_byte, "uses uninitialised memory") { bytes<right><<<1, 32>>>(device_memory<int>(1)); }

template <bool right> __global__ void from_heap(int* out) {
  auto* p = static_cast<int*>(malloc(4 * sizeof(int)));
  p[0] = 1;
  if (right) {
    p[1] = 2;
  }
  *out = p[0] + p[1];
  free(p);
}
CASE(heap, "computed from uninitialised memory") {
  from_heap<right><<<1, 1>>>(unwritten_memory<int>(1));
}

template <bool right> __global__ void fill(int* p) {
  if (right) {
    p[threadIdx.x] = threadIdx.x;
  }
}
CASE(results_never_written, "copy of memory that was never written") {
  auto* p = unwritten_memory<int>(n);
  fill<right><<<1, n>>>(p);
  static int host[n];
  must(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
}

template <bool right> __global__ void draw(cudaSurfaceObject_t surface) {
  if (right) {
    surf2Dwrite(1.0F, surface, threadIdx.x * sizeof(float), blockIdx.x);
  }
}
CASE(surface, "copy of memory that was never written") {
  static float host[8][16];
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  must(cudaMallocArray(&array, &format, 16, 8, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object = 0;
  must(cudaCreateSurfaceObject(&object, &resource));
  draw<right><<<8, 16>>>(object);
  must(cudaMemcpy2DFromArray(host, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
}

__global__ void twice(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] * 2;
}
CASE(through_copy, "computed from uninitialised memory") {
  auto* from = unwritten_memory<int>(n);
  auto* to = device_memory<int>(n);
  must(cudaMemset(from, 0, (right ? n : n - 1) * sizeof(int)));
  must(cudaMemcpy(to, from, n * sizeof(int), cudaMemcpyDeviceToDevice));
  twice<<<1, n>>>(to, unwritten_memory<int>(n));
}

template <bool right> __global__ void of_warp(int* out) {
  __shared__ int value[32];
  if (threadIdx.x < 31 || right) {
    value[threadIdx.x] = 1;
  }
  __syncwarp();
  int sum = value[threadIdx.x];
  for (int lanes = 16; lanes != 0; lanes /= 2) {
    sum += __shfl_down_sync(~0u, sum, lanes);
  }
  if (threadIdx.x == 0) {
    *out = sum;
  }
}
CASE(shuffled, "computed from uninitialised memory") {
  of_warp<right><<<1, 32>>>(unwritten_memory<int>(1));
}

// The upper lanes of the last warp leave early; a full mask does not bring them back.
template <bool right> __global__ void tail_of_warp(const int* in, int count, int* out) {
  const int i = threadIdx.x;
  if (!right && i >= count) {
    return;
  }
  int sum = i < count ? in[i] : 0;
  for (int lanes = 16; lanes != 0; lanes /= 2) {
    sum += __shfl_down_sync(~0u, sum, lanes);
  }
  if (i == 0) {
    *out = sum;
  }
}
CASE(shuffled_from_an_ended_lane, "what a shuffle gives for a lane that has ended(.|\\n)*lane 16 of its warp has ended") {
  tail_of_warp<right><<<1, 32>>>(device_memory<int>(32), 16, unwritten_memory<int>(1));
}

// What the others give does not reach the lanes whose results count.
template <bool right> __global__ void half_a_warp(const int* in, int* out) {
  int sum = in[threadIdx.x];
  for (int lanes = right ? 8 : 16; lanes != 0; lanes /= 2) {
    sum += __shfl_down_sync(~0u, sum, lanes);
  }
  if (threadIdx.x == 0) {
    *out = sum;
  }
}
CASE(shuffled_from_a_lane_that_never_was, "lane 16 of its warp has ended, or the block has no such thread") {
  half_a_warp<right><<<1, 16>>>(device_memory<int>(32), unwritten_memory<int>(1));
}

struct Padded {
  double d;
  char c;
};
struct Fields {
  unsigned a : 3;
  unsigned b : 7;
  unsigned c : 12;
};
template <bool right> __global__ void copy_padding(Padded* out, int* bits, int which) {
  __shared__ Padded made[32];
  made[threadIdx.x].d = threadIdx.x;
  if (right) {
    made[threadIdx.x].c = 'c';
  }
  __syncthreads();
  const Padded got = made[31 - threadIdx.x];
  out[threadIdx.x] = got;
  Fields f[4];
  f[which].b = 5; // the others stay open
  f[which].a = got.c == 'c' ? 1 : 2;
  bits[threadIdx.x] = f[which].a + f[which].b;
}
CASE(padding, "a branch depends|computed from uninitialised memory") {
  auto* out = unwritten_memory<Padded>(64);
  auto* all = unwritten_memory<Padded>(64);
  copy_padding<right><<<1, 32>>>(out, unwritten_memory<int>(32), 3);
  must(cudaMemcpy(all, out, 64 * sizeof(Padded), cudaMemcpyDeviceToDevice));
  static Padded host[64];
  must(cudaMemcpy(host, all, sizeof host, cudaMemcpyDeviceToHost));
}

struct Maybe {
  int value;
  bool there;
};
__global__ void make_empty(Maybe* p) {
  p[threadIdx.x].there = threadIdx.x % 2 == 0;
  if (threadIdx.x % 2 == 0) {
    p[threadIdx.x].value = threadIdx.x;
  }
}
template <bool right> __global__ void sum_what_is_there(const Maybe* p, Maybe* copy, int* out) {
  const Maybe m = p[threadIdx.x];
  copy[threadIdx.x] = m;
  out[threadIdx.x] = !right || m.there ? m.value + 1 : 7;
}
CASE(optional, "computed from uninitialised memory") {
  auto* p = unwritten_memory<Maybe>(32);
  make_empty<<<1, 32>>>(p);
  sum_what_is_there<right><<<1, 32>>>(p, unwritten_memory<Maybe>(32), unwritten_memory<int>(32));
}

// A tile with a border of which the corners are never used.
template <bool right> __global__ void stencil(const float* in, float* out, int width) {
  __shared__ float tile[18][18];
  const int x = threadIdx.x + 1;
  const int y = threadIdx.y + 1;
  tile[y][x] = in[threadIdx.y * width + threadIdx.x];
  if (threadIdx.x == 0) {
    tile[y][0] = tile[y][17] = 0;
  }
  if (threadIdx.y == 0) {
    tile[0][x] = 0;
    if (right || x != 4) {
      tile[17][x] = 0;
    }
  }
  __syncthreads();
  out[threadIdx.y * width + threadIdx.x] =
      tile[y][x] + tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
}
CASE(halo, "computed from uninitialised memory(.|\\n)*tile") {
  float* in = nullptr;
  size_t pitch = 0;
  must(cudaMallocPitch(&in, &pitch, 16 * sizeof(float), 16));
  must(cudaMemset2D(in, pitch, 0, 16 * sizeof(float), 16));
  stencil<right><<<1, dim3(16, 16)>>>(
      in,
      unwritten_memory<float>(16 * pitch),
      static_cast<int>(pitch / sizeof(float))
  );
}

// Values through functions that are not inlined, and through their local memory.
__device__ __noinline__ void make(int* into, int count) {
  for (int i = 0; i < count; ++i) {
    into[i] = i;
  }
}
template <bool right> __global__ void by_call(int* out, int which) {
  int made[8];
  make(made, right ? 8 : 7);
  out[threadIdx.x] = made[which] * 2;
}
CASE(written_by_callee, "computed from uninitialised memory(.|\\n)*local memory") {
  by_call<right><<<1, 32>>>(unwritten_memory<int>(32), 7);
}

// Sixteen bytes at once, of which nobody has written the last eight: they may be copied, and the first ones used.
template <bool right> __global__ void half_of_sixteen(ulonglong2* pair, ulonglong2* copy, unsigned long long* out) {
  pair->x = 1;
  unsigned long long first = 0, last = 0;
  asm volatile(
      "{ .reg .b128 both, again; ld.global.b128 both, [%2]; st.global.b128 [%3], both;\n"
      "ld.global.b128 again, [%3]; mov.b128 {%0, %1}, again; }"
      : "=l"(first), "=l"(last)
      : "l"(pair), "l"(copy)
      : "memory"
  );
  *out = (right ? first : last) * 3;
}
CASE(half_of_sixteen, "a result in global memory was computed from uninitialised memory") {
  half_of_sixteen<right><<<1, 1>>>(
      unwritten_memory<ulonglong2>(1), unwritten_memory<ulonglong2>(1), unwritten_memory<unsigned long long>(1)
  );
}

// The two halves of a register of 16 bytes are distinguished, whatever makes it.
template <bool right> __global__ void halves_of_register(const unsigned long long* in, unsigned long long* out) {
  unsigned long long first = 0, last = 0;
  asm volatile(
      "{ .reg .b128 both; mov.b128 both, {%2, %3}; mov.b128 {%0, %1}, both; }"
      : "=l"(first), "=l"(last)
      : "l"(5ULL), "l"(*in)
  );
  *out = (right ? first : last >> 40) + 1;
}
CASE(halves_of_register, "a result in global memory was computed from uninitialised memory") {
  unsigned long long* in = unwritten_memory<unsigned long long>(2);
  must(cudaMemset(in + 1, 0, 8)); // some byte is written: to read it is no defect by itself
  halves_of_register<right><<<1, 1>>>(in, unwritten_memory<unsigned long long>(1));
}

// An exchange of sixteen bytes, and one that compares them.
template <bool right> __global__ void exchange_of_sixteen(ulonglong2* pair, unsigned long long* out) {
  pair->x = 1;
  if (right) {
    pair->y = 2;
  }
  unsigned long long first = 0, last = 0;
  asm volatile(
      "{ .reg .b128 old, put; mov.b128 put, {%3, %3}; atom.global.exch.b128 old, [%2], put;\n"
      "mov.b128 {%0, %1}, old; }"
      : "=l"(first), "=l"(last)
      : "l"(pair), "l"(9ULL)
      : "memory"
  );
  *out = first + last + pair->y;
}
CASE(exchange_of_sixteen, "a result in global memory was computed from uninitialised memory") {
  exchange_of_sixteen<right><<<1, 1>>>(unwritten_memory<ulonglong2>(1), unwritten_memory<unsigned long long>(1));
}
