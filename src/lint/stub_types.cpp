// More of Heddle's own declarations of CUDA for machines without a toolkit: numbers of two bytes,
// pipelines, random numbers, matrix fragments. See stub_headers.cpp. Signatures only; members of
// numbers are spelled so that code which is read with them has no errors, not so that it could run.
#include "lint/stub_types.h"

namespace heddle::lint {

const char* const stub_half = R"cuda(
#pragma once
#define HEDDLE_DEVICE __host__ __device__
#define HEDDLE_SMALL_NUMBER(N, N2, RAW) \
  struct RAW { unsigned short x; }; \
  struct N { \
    unsigned short bits; \
    N() = default; \
    HEDDLE_DEVICE N(float); \
    HEDDLE_DEVICE N(double); \
    HEDDLE_DEVICE N(int); \
    HEDDLE_DEVICE N(unsigned); \
    HEDDLE_DEVICE N(RAW); \
    HEDDLE_DEVICE operator float() const; \
    HEDDLE_DEVICE N& operator+=(const N&); \
    HEDDLE_DEVICE N& operator-=(const N&); \
    HEDDLE_DEVICE N& operator*=(const N&); \
    HEDDLE_DEVICE N& operator/=(const N&); \
  }; \
  struct N2 { N x, y; N2() = default; HEDDLE_DEVICE N2(const N&, const N&); }; \
  HEDDLE_DEVICE N operator+(N, N); HEDDLE_DEVICE N operator-(N, N); HEDDLE_DEVICE N operator*(N, N); \
  HEDDLE_DEVICE N operator/(N, N); HEDDLE_DEVICE N operator-(N); HEDDLE_DEVICE bool operator<(N, N); \
  HEDDLE_DEVICE bool operator>(N, N); HEDDLE_DEVICE bool operator<=(N, N); HEDDLE_DEVICE bool operator>=(N, N); \
  HEDDLE_DEVICE bool operator==(N, N); HEDDLE_DEVICE bool operator!=(N, N); \
  HEDDLE_DEVICE N2 operator+(N2, N2); HEDDLE_DEVICE N2 operator-(N2, N2); HEDDLE_DEVICE N2 operator*(N2, N2); \
  HEDDLE_DEVICE N __hadd(N, N); HEDDLE_DEVICE N __hsub(N, N); HEDDLE_DEVICE N __hmul(N, N); \
  HEDDLE_DEVICE N __hdiv(N, N); HEDDLE_DEVICE N __hfma(N, N, N); HEDDLE_DEVICE N __hneg(N); HEDDLE_DEVICE N __habs(N); \
  HEDDLE_DEVICE N __hmax(N, N); HEDDLE_DEVICE N __hmin(N, N); HEDDLE_DEVICE bool __heq(N, N); HEDDLE_DEVICE bool __hne(N, N); \
  HEDDLE_DEVICE bool __hlt(N, N); HEDDLE_DEVICE bool __hle(N, N); HEDDLE_DEVICE bool __hgt(N, N); HEDDLE_DEVICE bool __hge(N, N); \
  HEDDLE_DEVICE bool __hisnan(N); HEDDLE_DEVICE int __hisinf(N); HEDDLE_DEVICE N hexp(N); HEDDLE_DEVICE N hlog(N); \
  HEDDLE_DEVICE N hsqrt(N); HEDDLE_DEVICE N hrsqrt(N); HEDDLE_DEVICE N hrcp(N); HEDDLE_DEVICE N htanh(N); \
  HEDDLE_DEVICE N2 __hadd2(N2, N2); HEDDLE_DEVICE N2 __hsub2(N2, N2); HEDDLE_DEVICE N2 __hmul2(N2, N2); \
  HEDDLE_DEVICE N2 __hfma2(N2, N2, N2); HEDDLE_DEVICE N2 __hmax2(N2, N2); HEDDLE_DEVICE N2 __hmin2(N2, N2); \
  HEDDLE_DEVICE N __low2half(N2); HEDDLE_DEVICE N __high2half(N2); HEDDLE_DEVICE float __low2float(N2); \
  HEDDLE_DEVICE float __high2float(N2); HEDDLE_DEVICE N2 __halves2half2(N, N);
HEDDLE_SMALL_NUMBER(__half, __half2, __half_raw)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
HEDDLE_DEVICE __half __float2half(float); HEDDLE_DEVICE __half __float2half_rn(float);
HEDDLE_DEVICE __half __double2half(double); HEDDLE_DEVICE __half __int2half_rn(int);
HEDDLE_DEVICE float __half2float(__half); HEDDLE_DEVICE int __half2int_rn(__half);
HEDDLE_DEVICE __half2 __float2half2_rn(float); HEDDLE_DEVICE __half2 __floats2half2_rn(float, float);
HEDDLE_DEVICE __half2 __float22half2_rn(float2); HEDDLE_DEVICE float2 __half22float2(__half2);
HEDDLE_DEVICE __half2 __half2half2(__half); HEDDLE_DEVICE __half2 make_half2(__half, __half);
HEDDLE_DEVICE unsigned short __half_as_ushort(__half); HEDDLE_DEVICE __half __ushort_as_half(unsigned short);
)cuda";

const char* const stub_brain = R"cuda(
#pragma once
#include <cuda_fp16.h>
HEDDLE_SMALL_NUMBER(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
HEDDLE_DEVICE __nv_bfloat16 __float2bfloat16(float); HEDDLE_DEVICE __nv_bfloat16 __float2bfloat16_rn(float);
HEDDLE_DEVICE float __bfloat162float(__nv_bfloat16);
HEDDLE_DEVICE __nv_bfloat162 __float2bfloat162_rn(float); HEDDLE_DEVICE __nv_bfloat162 __floats2bfloat162_rn(float, float);
HEDDLE_DEVICE float2 __bfloat1622float2(__nv_bfloat162); HEDDLE_DEVICE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
)cuda";

const char* const stub_pipeline = R"cuda(
#pragma once
#include "barrier"
namespace cuda {
enum class pipeline_role { producer, consumer };
template <thread_scope S, unsigned char N> struct pipeline_shared_state { unsigned long long words[2 * N]; };
template <thread_scope S> struct pipeline {
  __host__ __device__ void producer_acquire();
  __host__ __device__ void producer_commit();
  __host__ __device__ void consumer_wait();
  __host__ __device__ void consumer_release();
  __host__ __device__ bool quit();
};
__device__ pipeline<thread_scope_thread> make_pipeline();
template <class G, thread_scope S, unsigned char N> __device__ pipeline<S> make_pipeline(const G&, pipeline_shared_state<S, N>*);
template <class G, thread_scope S, unsigned char N> __device__ pipeline<S> make_pipeline(const G&, pipeline_shared_state<S, N>*, size_t);
template <class G, thread_scope S, unsigned char N> __device__ pipeline<S> make_pipeline(const G&, pipeline_shared_state<S, N>*, pipeline_role);
template <unsigned char N, thread_scope S> __device__ void pipeline_consumer_wait_prior(pipeline<S>&);
template <thread_scope S> __device__ void pipeline_producer_commit(pipeline<S>&, barrier<S>&);
}
)cuda";

const char* const stub_copies = R"cuda(
#pragma once
__device__ void __pipeline_memcpy_async(void*, const void*, size_t, size_t = 0);
__device__ void __pipeline_commit();
__device__ void __pipeline_wait_prior(size_t);
)cuda";

const char* const stub_random = R"cuda(
#pragma once
struct curandStateXORWOW { unsigned d, v[5]; };
struct curandStatePhilox4_32_10 { unsigned v[12]; };
struct curandStateMRG32k3a { unsigned v[12]; };
typedef curandStateXORWOW curandState; typedef curandStateXORWOW curandState_t; typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t; typedef curandStateMRG32k3a curandStateMRG32k3a_t;
template <class S> __device__ void curand_init(unsigned long long, unsigned long long, unsigned long long, S*);
template <class S> __device__ unsigned curand(S*);
template <class S> __device__ float curand_uniform(S*);
template <class S> __device__ double curand_uniform_double(S*);
template <class S> __device__ float curand_normal(S*);
template <class S> __device__ double curand_normal_double(S*);
template <class S> __device__ float2 curand_normal2(S*);
template <class S> __device__ float4 curand_uniform4(S*);
template <class S> __device__ float4 curand_normal4(S*);
template <class S> __device__ uint4 curand4(S*);
template <class S> __device__ void skipahead(unsigned long long, S*);
)cuda";

const char* const stub_fragments = R"cuda(
#pragma once
#include <cuda_fp16.h>
#include <cuda_bf16.h>
namespace nvcuda { namespace wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;
namespace precision { struct tf32 {}; struct s4 {}; struct u4 {}; struct b1 {}; }
enum layout_t { mem_row_major, mem_col_major };
template <class U, int M, int N, int K, class T, class L = void> struct fragment {
  static constexpr int num_elements = 8;
  T x[8];
};
template <class F, class P> __device__ void load_matrix_sync(F&, const P*, unsigned);
template <class F, class P> __device__ void load_matrix_sync(F&, const P*, unsigned, layout_t);
template <class F, class P> __device__ void store_matrix_sync(P*, const F&, unsigned, layout_t);
template <class F, class T> __device__ void fill_fragment(F&, const T&);
template <class D, class A, class B, class C> __device__ void mma_sync(D&, const A&, const B&, const C&, bool = false);
__device__ float __float_to_tf32(float);
} }
)cuda";

const char* const stub_constants = R"cuda(
#pragma once
#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_huge_val()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2_F 1.570796327f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_LN2_F 0.693147181f
#define CUDART_MAX_NORMAL_F 3.402823466e38f
)cuda";

} // namespace heddle::lint
