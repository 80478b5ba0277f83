// lint-options: --arch=sm_90 -- -std=c++20 --extended-lambda --expt-relaxed-constexpr
// What nvcc accepts. Nothing here is wrong.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cmath>
#include <cassert>
#include <complex>
#include <algorithm>

__global__ void hints(float4* q, int* i, unsigned long long* u, __half* h, double2* d, char4* c, const long long* l) {
  __stcs(q, __ldcs(q));
  __stwt(q + 1, __ldlu(q));
  __stcg(i, __ldca(i));
  __stwb(u, __ldcv(u)); __stcs((long*)u, __ldcs((const long*)u)); __stcs(i, 1u ? 3 : 4); volatile int* vi = i; (void)vi;
  __stcg(h, __ldcg(h));
  __stwb(d, __ldlu(d));
  __stcs(c, __ldca(c));
  i[1] = (int)__ldlu(l);
}
__global__ void atomics(int* p, int* q, float* f, unsigned long long* u, unsigned short* s) {
  int v, w = 3;
  __nv_atomic_load(p, &v, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store(p, &w, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_store_n(p, 3, __NV_ATOMIC_RELAXED);
  *q = v + __nv_atomic_fetch_add(p, 1, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK) + __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE);
  *f = __nv_atomic_fetch_add(f, 1.0f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_CLUSTER);
  __nv_atomic_fetch_sub(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_and(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_or(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_xor(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_min(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(u, 1ull, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD);
  __nv_atomic_add(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_sub(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_and(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_or(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_xor(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_min(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_max(p, 1, __NV_ATOMIC_SEQ_CST);
  int old = __nv_atomic_exchange_n(p, 1, __NV_ATOMIC_CONSUME, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_exchange(p, &w, &old, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  bool won = __nv_atomic_compare_exchange(p, &old, &w, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  won |= __nv_atomic_compare_exchange_n(p, &old, 4, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
  atomicCAS(s, (unsigned short)1, (unsigned short)2);
  atomicAdd((__half2*)q, __half2());
  atomicAdd((__nv_bfloat16*)q, __nv_bfloat16());
  atomicAdd((float4*)q, float4());
}
struct alignas(64) Descriptor { char opaque[64]; };
__global__ void __launch_bounds__(256, 1, 2) attributes(const __grid_constant__ Descriptor d, int* p) { p[0] = d.opaque[0]; }
__global__ void __block_size__((128, 1, 1), (1, 1, 1)) sized(int* p) { p[0] = 1; }
__global__ void __block_size__((128, 1, 1), (2, 1, 1)) sized_cluster(int* p) { p[0] = 1; }
__global__ void __cluster_dims__(2, 1, 1) clustered(int* p) { p[0] = 1; }
__global__ void __cluster_dims__(1, 16, 1) large_cluster(int* p) { p[0] = 1; }
template <class T> struct Holder {
  template <class U> __device__ void store(U u) { at = u; }
  T at;
};
template <class T> __device__ void without_arguments(Holder<T>& holder) { holder.template store(3); }
__global__ void __maxnreg__(64) few(int* p) { p[0] = 1; }
__global__ void mathematics(float* f, double* d, int* e) {
  *f = frexpf(*f, e) + frexp(*f, e) + modff(*f, f + 1) + remquof(*f, 2.0f, e) + scalbnf(*f, 2) + std::frexp(*f, e);
  *d = frexp(*d, e) + modf(*d, d + 1) + remquo(*d, 2.0, e) + ldexp(*d, 3) + sinpi(*d) + rsqrt(*d) + norm3d(1.0, 2.0, 3.0);
  *f += __fmaf_ieee_rn(1, 2, 3) + exp10f(2) + erfcinvf(0.5f) + normcdff(1) + rhypotf(1, 2) + cyl_bessel_i0f(1) + __tanhf(1.0f);
  e[1] = abs(-3) + max(1, 2u) + min(3ll, 4ll) + max(1.0f, 2.0) + signbit(*f) + isnan(*d) + std::isinf(*f) + __viaddmax_s32(1, 2, 3) + __vimax3_s32(1, 2, 3);

  e[2] = std::abs(-3);
  assert(e[2] != 7);
}
__global__ void narrow(__nv_fp8_e4m3* a, __nv_fp6_e3m2* b, __nv_fp4_e2m1* c, __nv_fp8x4_e5m2* x, float* f, __nv_fp4x2_storage_t* s) {
  a[0] = __nv_fp8_e4m3(f[0]); b[0] = __nv_fp6_e3m2(f[1]); c[0] = __nv_fp4_e2m1(f[2]);
  x[0] = __nv_fp8x4_e5m2(make_float4(1, 2, 3, 4));
  f[3] = float(a[1]) + float(b[1]) + float(c[1]);
  s[0] = __nv_cvt_float2_to_fp4x2(make_float2(1, 2), __NV_E2M1, cudaRoundNearest);
  f[4] = __half2float(__half(__nv_cvt_fp8_to_halfraw(a[2].__x, __NV_E4M3)));
}
__global__ void copies(int* g) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &g[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  auto block = cooperative_groups::this_thread_block();
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[threadIdx.x], &g[threadIdx.x], cuda::aligned_size_t<4>(4), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  block.sync();
  g[0] = s[1];
  pipe.consumer_release();
}
__global__ void matrices(__half* a, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void barriers(int* p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  b.arrive_and_wait();
  auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  p[0] = cluster.block_rank() + (int)__cvta_generic_to_shared(&b) + __clusterDimIsSpecified() + __clusterRelativeBlockRank();
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
}
template <class F> __global__ void apply(F f, int* p) { p[threadIdx.x] = f(threadIdx.x); }
void lambdas(int* p) {
  int k = 3;
  apply<<<1, 32>>>([=] __device__(int i) { return i + k; }, p);
  apply<<<1, 32>>>([=] __host__ __device__(int i) -> int { return i * k; }, p);
}
__global__ void others(int* p, cudaTextureObject_t t) {
  float2 v = tex2D<float2>(t, 1.0f, 2.0f);
  p[0] = (int)v.x + __reduce_add_sync(~0u, 3) + __shfl_xor_sync(~0u, p[1], 1) + __match_any_sync(~0u, 3) + __nv_bswap32(3);
  p[1] = __dp4a(1, 2, 3) + __vadd4(1, 2) + __funnelshift_l(1, 2, 3) + __byte_perm(1, 2, 3) + __fns(1u, 0, 1);
  __nanosleep(20);
  __nv_associate_access_property(p, 0);
  if (__builtin_expect(p[0] == 1, 0)) __brkpt();
  void* heap = malloc(16); free(heap);
  new (p) int(3);
  alloca(4);
  printf("%d %p\n", p[0], heap);
  __prof_trigger(1);
}
#if __CUDACC__
__global__ void defined_as_one(int* p) { p[0] = __CUDA_ARCH_LIST__; }
#endif
#if __CUDACC_DEVICE_ATOMIC_BUILTINS__ != 1
#error "nvcc defines it"
#endif
typedef unsigned long long size_of_address;
__device__ unsigned first_lane() {
  unsigned lane;
  asm volatile("{ .reg .pred %p; elect.sync %0|%p, 0xffffffff; }" : "=r"(lane)); // a register of its own
  return lane;
}
__global__ void extensions(int* p) {
  typeof(p[0]) x = first_lane();
  __int128 wide = x;
  p[0] = (int)wide;
}
__global__ void sums_of_void(void* p, int n) {
  int* q = (int*)(p + n * 4);
  q[0] = (p += 4) == p;
  if (n > 3) __syncthreads();
  q[1] = 1;
}

// A macro for a directive.
#define UNROLL #pragma unroll
#define UNROLL_BY_FOUR #pragma unroll 4
__global__ void unrolled(int* p) {
  UNROLL
  for (int i = 0; i < 4; ++i) p[i] = i;
  UNROLL_BY_FOUR
  for (int i = 0; i < 4; ++i) p[i] += i;
}
// Declared for both sides, and again for one.
__host__ __device__ int of_both_sides(int x);
int of_both_sides(int x);
extern "C" void __assert_fail(const char*, const char*, unsigned, const char*) noexcept __attribute__((__noreturn__));
__global__ void declared_again(int* p) {
  p[0] = of_both_sides(3);
  assert(p[0]);
}
// A member of a base that depends on a parameter, without this->.
template <class T> struct Fragments {
  __device__ static T make_fragment(T x) { return x; }
};
template <class T> struct Slice : Fragments<T> {
  __device__ T first(T x) { return make_fragment(x); }
};
__global__ void member_of_base(int* p) { p[0] = Slice<int>().first(p[1]); }
template <class T> struct Cast {
  template <int N> __device__ static T to(T x) { return x + N; }
};
template <class T> struct Types {
  using type = T;
};
template <class T> __device__ T same(T x) { return x; }
template <class T> __device__ T without_words(T x) {
  T made = Cast<T>::to<3>(x);
  return same<Types<T>::type>(made);
}
template <class T, int N> struct Matrix {
  T at[N];
};
template <class T> struct Matrix<T, 3> {
  T at[3];
  __device__ static void never_called() {
    Matrix made;
    made.set_slice();
  }
};
struct alignas(64) Wide {
  int words[16];
};
struct Narrow {
  float scale;
};
// <cmath> has one, too.
inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__global__ void other_leniences(int* p, float* f, double d) {
  alignas(16) Wide one;
  one.words[0] = without_words(p[0]);
#pragma unroll
  p[0] = one.words[0];
  Narrow narrow = {d};
  f[0] = narrow.scale;
}
static_assert(!std::is_integral<__int128>::value);

// Of several types that could be assigned, `{}` is one of the left side's own.
__global__ void empty_braces(__half2* p) {
  __half2 zero;
  zero = {};
  p[0] = zero;
}
template <class T> struct Dispatcher {
  template <class Tag> void dispatch(Tag, int);
};
template <class T> template <class Tag> void Dispatcher<T>::dispatch<Tag>(Tag, int) {}
template <int N> __device__ int with_default(int a, int b);
template <int N> __device__ int with_default(int a, int b = N) { return a + b; }
// Without its constructor; nvcc warns.
struct Element {
  int first = 3;
  Element() = default;
};
struct Constructed {
  int first;
  __device__ Constructed() { first = 1; }
};
__global__ void constructors_of_shared(int* p) {
  __shared__ Element elements[4];
  __shared__ Constructed others[4];
  elements[0].first = with_default<3>(p[0]);
  others[0].first = 1;
  __syncthreads();
  p[0] = elements[0].first + others[0].first;
}
void fails();
constexpr int checked(int x) {
  if (x > 3) fails();
  return x;
}
__host__ __device__ int of_the_host(int x) {
  if (x > 3) fails();
  return x;
}
__global__ void through_both_sides(int* p) { p[0] = of_the_host(p[1]) + checked(p[2]); }
__device__ void without_commas(unsigned a, unsigned long long b) {
  asm volatile("{ .reg .u64 x; cvt.u64.u32 x, %0; add.u64 x, x, %1; }" : : "r"(a) "l"(b));
}
// A deduction guide for one side.
template <class T> struct box {
  __host__ __device__ box(T given) : value(given) {}
  T value;
};
template <class T> __host__ box(T) -> box<T>;
__global__ void guided(int* p) {
  box made(3);
  p[0] = made.value;
}
#ifdef __CUDA__
#error "by this programs ask for Clang"
#endif
