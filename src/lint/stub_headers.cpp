// Declarations of CUDA for machines without a toolkit: what kernels commonly use, nothing more. The
// names and signatures are CUDA's, the text is ours. Bodies do not matter: functions.def says what
// the functions mean. A file that uses more is read with errors, and the report says so.
#include "lint/frontend.h"
#include "lint/prelude.h"
#include "lint/stub_types.h"

namespace heddle::lint {
namespace {

constexpr const char* runtime = R"cuda(
#pragma once
#pragma clang system_header
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((annotate("heddle_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __host_device__ __host__ __device__
#define CUDART_VERSION 13000
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#define CUDART_CB
#define HEDDLE_BOTH inline __host__ __device__
typedef decltype(sizeof(0)) size_t;
typedef unsigned char uchar;
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#define HEDDLE_VECTORS(T, N) \
  struct N##1 { T x; }; struct N##2 { T x, y; }; struct N##3 { T x, y, z; }; struct N##4 { T x, y, z, w; }; \
  __host__ __device__ N##1 make_##N##1(T); __host__ __device__ N##2 make_##N##2(T, T); \
  __host__ __device__ N##3 make_##N##3(T, T, T); __host__ __device__ N##4 make_##N##4(T, T, T, T);
HEDDLE_VECTORS(char, char) HEDDLE_VECTORS(unsigned char, uchar) HEDDLE_VECTORS(short, short)
HEDDLE_VECTORS(unsigned short, ushort) HEDDLE_VECTORS(int, int) HEDDLE_VECTORS(unsigned, uint)
HEDDLE_VECTORS(long, long) HEDDLE_VECTORS(unsigned long, ulong) HEDDLE_VECTORS(long long, longlong)
HEDDLE_VECTORS(unsigned long long, ulonglong) HEDDLE_VECTORS(float, float) HEDDLE_VECTORS(double, double)
#include <__clang_cuda_builtin_vars.h>
#define HEDDLE_INDEX(N) \
  __device__ inline __cuda_builtin_##N##_t::operator dim3() const { return dim3(x, y, z); } \
  __device__ inline __cuda_builtin_##N##_t::operator uint3() const { return {x, y, z}; }
HEDDLE_INDEX(threadIdx) HEDDLE_INDEX(blockIdx) HEDDLE_INDEX(blockDim) HEDDLE_INDEX(gridDim)
// nvcc reads these first as well: what is of the host comes from them.
#if __has_include(<stdlib.h>) && __has_include(<string.h>) && __has_include(<math.h>)
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define HEDDLE_HOST_TOO __device__
#else
#define HEDDLE_HOST_TOO __host__ __device__
#endif
extern "C" {
__device__ int printf(const char*, ...);
HEDDLE_HOST_TOO void* memcpy(void*, const void*, size_t);
HEDDLE_HOST_TOO void* memmove(void*, const void*, size_t);
HEDDLE_HOST_TOO void* memset(void*, int, size_t);
HEDDLE_HOST_TOO void* malloc(size_t);
HEDDLE_HOST_TOO void free(void*);
__device__ void __assert_fail(const char*, const char*, unsigned, const char*) __attribute__((noreturn));
}
#ifndef assert
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, ""))
#endif
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ void __barrier_sync(unsigned);
__device__ void __barrier_sync_count(unsigned, unsigned);
__device__ void __syncwarp(unsigned = 0xffffffffu);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ void __threadfence_system();
__device__ void __trap();
__device__ void __nanosleep(unsigned);
__device__ unsigned __activemask();
__device__ int __any_sync(unsigned, int);
__device__ int __all_sync(unsigned, int);
__device__ unsigned __ballot_sync(unsigned, int);
template <class T> __device__ unsigned __match_any_sync(unsigned, T);
template <class T> __device__ unsigned __match_all_sync(unsigned, T, int*);
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __reduce_add_sync(unsigned, T);
template <class T> __device__ T __reduce_max_sync(unsigned, T);
template <class T> __device__ T __reduce_min_sync(unsigned, T);
template <class T> __device__ T __reduce_and_sync(unsigned, T);
template <class T> __device__ T __reduce_or_sync(unsigned, T);
template <class T> struct heddle_same { typedef T type; };
#define HEDDLE_ATOMIC(N) \
  template <class T> __device__ T N(T*, typename heddle_same<T>::type); \
  template <class T> __device__ T N##_block(T*, typename heddle_same<T>::type); \
  template <class T> __device__ T N##_system(T*, typename heddle_same<T>::type); \
  template <class T> __device__ T N(volatile T*, typename heddle_same<T>::type);
HEDDLE_ATOMIC(atomicAdd) HEDDLE_ATOMIC(atomicSub) HEDDLE_ATOMIC(atomicExch) HEDDLE_ATOMIC(atomicMin)
HEDDLE_ATOMIC(atomicMax) HEDDLE_ATOMIC(atomicInc) HEDDLE_ATOMIC(atomicDec) HEDDLE_ATOMIC(atomicAnd)
HEDDLE_ATOMIC(atomicOr) HEDDLE_ATOMIC(atomicXor)
template <class T> __device__ T atomicCAS(T*, typename heddle_same<T>::type, typename heddle_same<T>::type);
template <class T> __device__ T atomicCAS_block(T*, typename heddle_same<T>::type, typename heddle_same<T>::type);
template <class T> __device__ T atomicCAS_system(T*, typename heddle_same<T>::type, typename heddle_same<T>::type);
template <class T> __device__ T __ldg(const T*);
__device__ long long clock64();
__device__ int clock();
template <class A, class B> __host__ __device__ auto min(A a, B b) -> decltype(true ? a : b);
template <class A, class B> __host__ __device__ auto max(A a, B b) -> decltype(true ? a : b);
__device__ int __popc(unsigned);
__device__ int __popcll(unsigned long long);
__device__ int __clz(int);
__device__ int __ffs(int);
__device__ unsigned __brev(unsigned);
__device__ int __float_as_int(float);
__device__ float __int_as_float(int);
__device__ int __mul24(int, int);
__device__ unsigned __umul24(unsigned, unsigned);
__device__ unsigned __umulhi(unsigned, unsigned);
__device__ float __fdividef(float, float);
#define HEDDLE_SAME __attribute__((const)) HEDDLE_HOST_TOO
#define HEDDLE_MATH1(N) HEDDLE_SAME float N##f(float); HEDDLE_SAME double N(double);
HEDDLE_MATH1(sqrt) HEDDLE_MATH1(rsqrt) HEDDLE_MATH1(exp) HEDDLE_MATH1(exp2) HEDDLE_MATH1(log) HEDDLE_MATH1(log2)
HEDDLE_MATH1(sin) HEDDLE_MATH1(cos) HEDDLE_MATH1(tan) HEDDLE_MATH1(tanh) HEDDLE_MATH1(fabs) HEDDLE_MATH1(floor)
HEDDLE_MATH1(ceil) HEDDLE_MATH1(erf) HEDDLE_MATH1(round) HEDDLE_MATH1(cbrt) HEDDLE_MATH1(atan) HEDDLE_MATH1(log10)
#define HEDDLE_MATH2(N) HEDDLE_SAME float N##f(float, float); HEDDLE_SAME double N(double, double);
HEDDLE_MATH2(pow) HEDDLE_MATH2(fmin) HEDDLE_MATH2(fmax) HEDDLE_MATH2(atan2) HEDDLE_MATH2(fmod)
#define HEDDLE_PARTS(T, F) \
  HEDDLE_HOST_TOO T frexp##F(T, int*); HEDDLE_HOST_TOO T modf##F(T, T*); HEDDLE_HOST_TOO T remquo##F(T, T, int*); \
  HEDDLE_SAME T ldexp##F(T, int); HEDDLE_SAME T scalbn##F(T, int); HEDDLE_SAME int ilogb##F(T); \
  __device__ void sincos##F(T, T*, T*); __device__ void sincospi##F(T, T*, T*);
HEDDLE_PARTS(float, f) HEDDLE_PARTS(double, )
HEDDLE_HOST_TOO float fmaf(float, float, float);
HEDDLE_HOST_TOO double fma(double, double, double);
HEDDLE_HOST_TOO int abs(int);
__device__ float __expf(float);
__device__ float __exp10f(float);
__device__ float __log2f(float);
__device__ float __log10f(float);
__device__ float __tanf(float);
__device__ float __saturatef(float);
__device__ float __frcp_rn(float);
__device__ float __fsqrt_rn(float);
__device__ float __frsqrt_rn(float);
__device__ float __fmaf_rn(float, float, float);
__device__ float __fmul_rn(float, float);
__device__ float __fadd_rn(float, float);
__device__ float __fdiv_rn(float, float);
__device__ void __sincosf(float, float*, float*);
__device__ int __float2int_rn(float);
__device__ int __float2int_rd(float);
__device__ int __float2int_rz(float);
__device__ unsigned __float2uint_rn(float);
__device__ unsigned __float2uint_rz(float);
__device__ float __int2float_rn(int);
__device__ float __uint2float_rn(unsigned);
__device__ unsigned __float_as_uint(float);
__device__ float __uint_as_float(unsigned);
__device__ long long __double_as_longlong(double);
__device__ double __longlong_as_double(long long);
__device__ int __clzll(long long);
__device__ int __ffsll(long long);
__device__ unsigned long long __brevll(unsigned long long);
__device__ int __mulhi(int, int);
__device__ unsigned __byte_perm(unsigned, unsigned, unsigned);
__device__ unsigned __funnelshift_l(unsigned, unsigned, unsigned);
__device__ unsigned __funnelshift_r(unsigned, unsigned, unsigned);
__device__ int __dp4a(int, int, int);
__device__ unsigned __sad(int, int, unsigned);
__device__ unsigned __vabsdiffu4(unsigned, unsigned);
#define HEDDLE_PARTS_OF_WORD(N) __device__ unsigned N##2(unsigned, unsigned); __device__ unsigned N##4(unsigned, unsigned);
HEDDLE_PARTS_OF_WORD(__vadd) HEDDLE_PARTS_OF_WORD(__vsub) HEDDLE_PARTS_OF_WORD(__vmaxs) HEDDLE_PARTS_OF_WORD(__vmaxu)
HEDDLE_PARTS_OF_WORD(__vmins) HEDDLE_PARTS_OF_WORD(__vminu) HEDDLE_PARTS_OF_WORD(__vcmpeq) HEDDLE_PARTS_OF_WORD(__vcmpne)
HEDDLE_PARTS_OF_WORD(__vaddss) HEDDLE_PARTS_OF_WORD(__vsubss) HEDDLE_PARTS_OF_WORD(__vabsdiffs) HEDDLE_PARTS_OF_WORD(__vcmpgts)
__device__ size_t __cvta_generic_to_shared(const void*);
__device__ unsigned __isShared(const void*);
__device__ unsigned __isGlobal(const void*);
template <class T> __device__ T __ldcg(const T*);
template <class T> __device__ T __ldca(const T*);
template <class T> __device__ T __ldcs(const T*);
template <class T> __device__ T __ldcv(const T*);
template <class T> __device__ T __ldlu(const T*);
template <class T> __device__ void __stcg(T*, T);
template <class T> __device__ void __stwb(T*, T);
template <class T> __device__ void __stcs(T*, T);
template <class T> __device__ void __stwt(T*, T);
__device__ float __logf(float);
__device__ float __sinf(float);
__device__ float __cosf(float);
__device__ float __powf(float, float);

typedef int cudaError_t;
enum { cudaSuccess = 0, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
extern "C" {
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaHostRegister(void*, size_t, unsigned = 0);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaDeviceReset();
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaMemcpyPeer(void*, int, const void*, int, size_t);
cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemset2D(void*, size_t, int, size_t, size_t);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0);
cudaError_t cudaMemAdvise(const void*, size_t, int, int);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaDeviceSetLimit(int, size_t);
cudaError_t cudaDeviceGetLimit(size_t*, int);
cudaError_t cudaDeviceSetCacheConfig(int);
cudaError_t cudaDeviceCanAccessPeer(int*, int, int);
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaSetDeviceFlags(unsigned);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*);
cudaError_t cudaStreamAddCallback(cudaStream_t, void (*)(cudaStream_t, cudaError_t, void*), void*, unsigned);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = 0);
}
template <class T> cudaError_t cudaMalloc(T**, size_t);
template <class T> cudaError_t cudaMallocAsync(T**, size_t, cudaStream_t);
template <class T> cudaError_t cudaMallocPitch(T**, size_t*, size_t, size_t);
template <class T> cudaError_t cudaGetSymbolSize(size_t*, const T&);
template <class T> cudaError_t cudaFuncSetCacheConfig(T, int);
template <class T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int*, int*, T, size_t = 0, int = 0);
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
template <class T> __device__ T tex1D(cudaTextureObject_t, float);
template <class T> __device__ T tex1Dfetch(cudaTextureObject_t, int);
template <class T> __device__ T tex2D(cudaTextureObject_t, float, float);
template <class T> __device__ T tex3D(cudaTextureObject_t, float, float, float);
template <class T> __device__ void surf2Dwrite(T, cudaSurfaceObject_t, int, int);
template <class T> __device__ void surf2Dread(T*, cudaSurfaceObject_t, int, int);
template <class T> cudaError_t cudaMallocManaged(T**, size_t, unsigned = 1);
template <class T> cudaError_t cudaMallocHost(T**, size_t, unsigned = 0);
template <class T> cudaError_t cudaHostAlloc(T**, size_t, unsigned);
template <class T> cudaError_t cudaHostGetDevicePointer(T**, void*, unsigned = 0);
template <class T> cudaError_t cudaLaunchCooperativeKernel(T, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class T> cudaError_t cudaGetSymbolAddress(void**, const T&);
template <class T> cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaFuncSetAttribute(T, int, int);
template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, T, int, size_t);
template <class T> cudaError_t cudaLaunchKernel(T, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int warpSize, maxThreadsPerBlock, major, minor, multiProcessorCount, clockRate, cooperativeLaunch;
};
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
#define cudaStreamPerThread ((cudaStream_t)2)
#define cudaStreamLegacy ((cudaStream_t)1)
template <class T> cudaError_t cudaMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
enum { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrCooperativeLaunch = 95, cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum { cudaHostRegisterDefault = 0, cudaHostAllocDefault = 0, cudaErrorAssert = 710, cudaErrorInvalidValue = 1, cudaMemAttachGlobal = 1 };
enum { cudaErrorMemoryAllocation = 2, cudaErrorLaunchFailure = 719, cudaErrorCooperativeLaunchTooLarge = 720 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaMemAttachHost = 2 };
enum { cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2 };
enum { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76 };
enum { cudaHostAllocMapped = 2, cudaHostRegisterMapped = 2, cudaStreamNonBlocking = 1 };
#include <heddle_atomics.h>
)cuda";

constexpr const char* groups = R"cuda(
#pragma once
namespace cooperative_groups { inline namespace __v1 {
struct thread_group {
  __device__ void sync() const;
  __device__ unsigned thread_rank() const;
  __device__ unsigned size() const;
  __device__ unsigned num_threads() const;
};
struct thread_block : thread_group {
  struct arrival_token {};
  static __device__ void sync();
  static __device__ unsigned thread_rank();
  static __device__ unsigned size();
  static __device__ unsigned num_threads();
  static __device__ dim3 thread_index();
  static __device__ dim3 group_index();
  static __device__ dim3 dim_threads();
  static __device__ dim3 group_dim();
  __device__ arrival_token barrier_arrive() const;
  __device__ void barrier_wait(arrival_token&&) const;
};
struct grid_group : thread_group {
  static __device__ void sync();
  static __device__ bool is_valid();
  static __device__ unsigned long long thread_rank();
  static __device__ unsigned long long size();
  static __device__ unsigned long long num_threads();
  static __device__ unsigned long long block_rank();
  static __device__ unsigned long long num_blocks();
  static __device__ dim3 block_index();
  static __device__ dim3 dim_blocks();
  static __device__ dim3 group_dim();
};
struct cluster_group : thread_group {
  struct arrival_token {};
  static __device__ void sync();
  static __device__ arrival_token barrier_arrive();
  static __device__ void barrier_wait();
  static __device__ void barrier_wait(arrival_token&&);
  static __device__ unsigned thread_rank();
  static __device__ unsigned block_rank();
  static __device__ unsigned num_blocks();
  static __device__ unsigned num_threads();
  static __device__ dim3 block_index();
  static __device__ dim3 dim_blocks();
  template <class T> static __device__ T* map_shared_rank(T*, int);
};
struct coalesced_group : thread_group {
  __device__ void sync() const;
  __device__ unsigned thread_rank() const;
  __device__ unsigned size() const;
  __device__ unsigned num_threads() const;
  __device__ int any(int) const;
  __device__ int all(int) const;
  __device__ unsigned ballot(int) const;
  template <class T> __device__ T shfl(T, int) const;
  template <class T> __device__ T shfl_up(T, int) const;
  template <class T> __device__ T shfl_down(T, int) const;
};
template <unsigned N, class P = void> struct thread_block_tile : thread_group {
  thread_block_tile() = default;
  template <class Q> __device__ thread_block_tile(const thread_block_tile<N, Q>&);
  __device__ void sync() const;
  __device__ unsigned thread_rank() const;
  __device__ unsigned meta_group_rank() const;
  __device__ unsigned meta_group_size() const;
  static constexpr __device__ unsigned size() { return N; }
  static constexpr __device__ unsigned num_threads() { return N; }
  __device__ int any(int) const;
  __device__ int all(int) const;
  __device__ unsigned ballot(int) const;
  template <class T> __device__ T shfl(T, int) const;
  template <class T> __device__ T shfl_up(T, int) const;
  template <class T> __device__ T shfl_down(T, int) const;
  template <class T> __device__ T shfl_xor(T, int) const;
};
__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ cluster_group this_cluster();
__device__ coalesced_group coalesced_threads();
template <unsigned N, class G> __device__ thread_block_tile<N, G> tiled_partition(const G&);
__device__ thread_group tiled_partition(const thread_group&, unsigned);
template <class G> __device__ void sync(const G&);
template <class G> __device__ void wait(const G&);
template <class G, class T, class S> __device__ void memcpy_async(const G&, T*, const T*, const S&);
template <class T> struct plus { __device__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct bit_and { __device__ T operator()(T a, T b) const; };
template <class T> struct bit_or { __device__ T operator()(T a, T b) const; };
template <class T> struct bit_xor { __device__ T operator()(T a, T b) const; };
template <class G> __device__ coalesced_group binary_partition(const G&, bool);
template <class G, class L> __device__ coalesced_group labeled_partition(const G&, L);
template <class T> struct less { __device__ T operator()(T a, T b) const; };
template <class T> struct greater { __device__ T operator()(T a, T b) const; };
template <class G, class T, class F> __device__ T reduce(const G&, T, F);
template <class G, class T, class F> __device__ T inclusive_scan(const G&, T, F);
template <class G, class T, class F> __device__ T exclusive_scan(const G&, T, F);
} }
)cuda";

constexpr const char* atomic = R"cuda(
#pragma once
namespace cuda {
enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 10 };
namespace std {
enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
namespace this_thread { HEDDLE_BOTH void yield(); }
}
using namespace std;
using std::memory_order; using std::memory_order_relaxed; using std::memory_order_acquire;
using std::memory_order_release; using std::memory_order_acq_rel; using std::memory_order_seq_cst;
#define HEDDLE_ATOMIC_BODY \
  __host__ __device__ T load(memory_order = memory_order_seq_cst) const; \
  __host__ __device__ void store(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T exchange(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ bool compare_exchange_weak(T&, T, memory_order = memory_order_seq_cst, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ bool compare_exchange_strong(T&, T, memory_order = memory_order_seq_cst, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T fetch_add(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T fetch_sub(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T fetch_max(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T fetch_min(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T fetch_or(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ T fetch_and(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ void wait(T, memory_order = memory_order_seq_cst) const; \
  __host__ __device__ void notify_one() const; \
  __host__ __device__ void notify_all() const; \
  __host__ __device__ T operator++() const; \
  __host__ __device__ T operator++(int) const; \
  __host__ __device__ T operator--() const; \
  __host__ __device__ T operator=(T) const; \
  __host__ __device__ T operator+=(T) const; \
  __host__ __device__ operator T() const;
template <class T, thread_scope S = thread_scope_system> struct atomic {
  T value;
  constexpr atomic() = default;
  __host__ __device__ constexpr atomic(T v) : value(v) {}
  HEDDLE_ATOMIC_BODY
};
template <class T, thread_scope S = thread_scope_system> struct atomic_ref {
  T* place;
  __host__ __device__ explicit atomic_ref(T& v) : place(&v) {}
  HEDDLE_ATOMIC_BODY
};
__host__ __device__ void atomic_thread_fence(memory_order, thread_scope = thread_scope_system);
}
)cuda";

constexpr const char* barrier = R"cuda(
#pragma once
#include "atomic"
namespace cuda {
template <thread_scope S> struct barrier {
  typedef unsigned long long arrival_token;
  __host__ __device__ void arrive_and_wait();
  __host__ __device__ arrival_token arrive(long = 1);
  __host__ __device__ void wait(arrival_token&&) const;
  __host__ __device__ void arrive_and_drop();
};
template <thread_scope S> __device__ void init(barrier<S>*, long);
template <class... A> __device__ void memcpy_async(A&&...);
}
)cuda";

constexpr const char* standard = R"cuda(
#pragma once
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
)cuda";

constexpr const char* runtime_only = "#pragma once\n#include \"cuda_runtime.h\"\n";

/// cuda/std/type_traits and its like, from the host's library.
#define HEDDLE_HOST_LIBRARY(NAME)                                                                  \
  "#pragma once\n#include <" NAME ">\nnamespace cuda { namespace std { using namespace ::std; } "  \
  "}\n"

} // namespace

const std::vector<StubHeader>& stub_headers() {
  static const std::vector<StubHeader> headers = {
      {"cuda_runtime.h", runtime},
      {"heddle_atomics.h", nvcc_atomics},
      {"cuda_runtime_api.h", runtime_only},
      {"cuda.h", runtime_only},
      {"cuda_fp16.h", stub_half},
      {"cuda_bf16.h", stub_brain},
      {"cuda_pipeline.h", "#pragma once\n#include <cuda_pipeline_primitives.h>\n"},
      {"cuda_pipeline_primitives.h", stub_copies},
      {"curand_kernel.h", stub_random},
      {"math_constants.h", stub_constants},
      {"mma.h", stub_fragments},
      // All of these are in cuda_runtime.h. They stand here lest those of a toolkit that lies on
      // the compiler's own path are read with it.
      {"builtin_types.h", runtime_only},
      {"channel_descriptor.h", runtime_only},
      {"common_functions.h", runtime_only},
      {"crt/host_defines.h", runtime_only},
      {"cuda_device_runtime_api.h", runtime_only},
      {"cuda_profiler_api.h", runtime_only},
      {"device_atomic_functions.h", runtime_only},
      {"device_functions.h", runtime_only},
      {"device_launch_parameters.h", runtime_only},
      {"device_types.h", runtime_only},
      {"driver_types.h", runtime_only},
      {"host_defines.h", runtime_only},
      {"math_functions.h", runtime_only},
      {"sm_20_atomic_functions.h", runtime_only},
      {"sm_20_intrinsics.h", runtime_only},
      {"sm_30_intrinsics.h", runtime_only},
      {"sm_32_atomic_functions.h", runtime_only},
      {"sm_32_intrinsics.h", runtime_only},
      {"sm_35_intrinsics.h", runtime_only},
      {"sm_60_atomic_functions.h", runtime_only},
      {"sm_61_intrinsics.h", runtime_only},
      {"surface_indirect_functions.h", runtime_only},
      {"surface_types.h", runtime_only},
      {"texture_indirect_functions.h", runtime_only},
      {"texture_types.h", runtime_only},
      {"vector_functions.h", runtime_only},
      {"vector_types.h", runtime_only},
      {"cooperative_groups.h", groups},
      {"cooperative_groups/reduce.h", "#pragma once\n#include <cooperative_groups.h>\n"},
      {"cooperative_groups/scan.h", "#pragma once\n#include <cooperative_groups.h>\n"},
      {"cooperative_groups/memcpy_async.h", "#pragma once\n#include <cooperative_groups.h>\n"},
      {"cuda/atomic", atomic},
      {"cuda/std/atomic", "#pragma once\n#include <cuda/atomic>\n"},
      {"cuda/barrier", barrier},
      {"cuda/pipeline", stub_pipeline},
      {"cuda/std/barrier", "#pragma once\n#include <cuda/barrier>\n"},
      {"cuda/std/cstddef", "#pragma once\n#include <cuda/std/cstdint>\n"},
      {"cuda/std/limits", HEDDLE_HOST_LIBRARY("limits")},
      {"cuda/std/tuple", HEDDLE_HOST_LIBRARY("tuple")},
      {"cuda/std/type_traits", HEDDLE_HOST_LIBRARY("type_traits")},
      {"cuda/std/utility", HEDDLE_HOST_LIBRARY("utility")},
      {"cuda/std/cstdint", standard},
  };
  return headers;
}

} // namespace heddle::lint
