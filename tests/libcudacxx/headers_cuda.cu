// Every header of cuda/ in the toolkit: barriers with copies and transactions, pipelines of all scopes, semaphores, annotated pointers, cuda::ptx, arithmetic helpers, shuffles, atomic_ref, streams.
//@ exercises: cuda/barrier, pipeline, latch, semaphore, annotated_ptr, discard_memory, atomic, functional, ptx, cmath, bit, warp, stream_ref; bulk copies and asynchronous stores in a cluster
//@ flags: --extended-lambda --expt-relaxed-constexpr
#include "../run/support.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/bit>
#include <cuda/cmath>
#include <cuda/discard_memory>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/mdspan>
#include <cuda/memory_resource>
#include <cuda/numeric>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
#include <cuda/std/chrono>
#include <cuda/stream_ref>
#include <cuda/type_traits>
#include <cuda/version>
#include <cuda/warp>

#include <cstring>

#define REQUIRE(...)                                                                               \
  do {                                                                                             \
    if (!(__VA_ARGS__)) {                                                                          \
      printf("line %d is wrong: %s\n", __LINE__, #__VA_ARGS__);                                    \
      ++bad;                                                                                       \
    }                                                                                              \
  } while (0)

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using bar_t = cuda::barrier<cuda::thread_scope_block>;
__global__ void barriers(int* o, const int* in) {
  __shared__ bar_t b;
  __shared__ alignas(16) int buf[256];
  if (threadIdx.x == 0) {
    init(&b, blockDim.x);
  }
  __syncthreads();
  cuda::memcpy_async(buf + threadIdx.x, in + threadIdx.x, sizeof(int), b);
  b.arrive_and_wait();
  int v = buf[(threadIdx.x + 1) % blockDim.x];
  b.arrive_and_wait();
  auto blk = cg::this_thread_block();
  cuda::memcpy_async(blk, buf, in, cuda::aligned_size_t<16>(1024), b);
  b.arrive_and_wait();
  v += buf[(threadIdx.x + 2) % blockDim.x];
  b.wait(b.arrive());
  if (threadIdx.x == 0) {
    cuda::memcpy_async(buf, in, cuda::aligned_size_t<16>(1024), b);
    auto t = cuda::device::barrier_arrive_tx(b, 1, 0);
    b.wait(std::move(t));
  } else {
    b.wait(b.arrive());
  }
  v += buf[(threadIdx.x + 3) % blockDim.x];
  auto tok = b.arrive();
  while (!b.try_wait_for(std::move(tok), cuda::std::chrono::nanoseconds(100)))
    ;
  bool p = true;
  if (threadIdx.x >= 128) {
    b.arrive_and_drop();
  } else {
    b.arrive_and_wait();
  }
  if (threadIdx.x < 128) {
    b.arrive_and_wait();
  }
  o[threadIdx.x] = v + 0 * p;
}
struct Compl {
  int* c;
  __device__ void operator()() { atomicAdd(c, 1); }
};
__global__ void complb(int* c) {
  __shared__ cuda::barrier<cuda::thread_scope_block, Compl> b;
  if (threadIdx.x == 0) {
    init(&b, blockDim.x, Compl{c});
  }
  __syncthreads();
  for (int i = 0; i < 5; i++) {
    b.arrive_and_wait();
  }
}
template <int S> __global__ void pipe(const float* in, float* o, int n) {
  extern __shared__ float sm[];
  auto g = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> st;
  auto p = cuda::make_pipeline(g, &st);
  int B = g.size();
  int nb = n / B;
  float acc = 0;
  int f = 0;
  for (int c = 0; c < nb; c++) {
    for (; f < nb && f < c + S; f++) {
      p.producer_acquire();
      cuda::memcpy_async(g, sm + (f % S) * B, in + f * B, cuda::aligned_size_t<4>(4 * B), p);
      p.producer_commit();
    }
    p.consumer_wait();
    acc += sm[(c % S) * B + (g.thread_rank() + 1) % B];
    p.consumer_release();
  }
  o[g.thread_rank()] = acc;
}
__global__ void pipe2(const float* in, float* o, int n) {
  extern __shared__ float sm[];
  auto g = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
  auto role = g.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto p = cuda::make_pipeline(g, &st, role);
  int nb = n / 32;
  float acc = 0;
  if (role == cuda::pipeline_role::producer) {
    for (int c = 0; c < nb; c++) {
      p.producer_acquire();
      cuda::memcpy_async(sm + (c % 2) * 32 + g.thread_rank(), in + c * 32 + g.thread_rank(), 4, p);
      p.producer_commit();
    }
  } else {
    for (int c = 0; c < nb; c++) {
      p.consumer_wait();
      acc += sm[(c % 2) * 32 + (g.thread_rank() & 31)];
      p.consumer_release();
    }
    o[g.thread_rank() - 32] = acc;
  }
}
__global__ void pipet(const int4* in, int4* o) {
  __shared__ int4 s[2][64];
  auto p = cuda::make_pipeline();
  for (int i = 0; i < 2; i++) {
    p.producer_acquire();
    cuda::memcpy_async(&s[i][threadIdx.x], in + i * 64 + threadIdx.x, sizeof(int4), p);
    p.producer_commit();
  }
  cuda::pipeline_consumer_wait_prior<1>(p);
  int4 a = s[0][threadIdx.x];
  p.consumer_release();
  p.consumer_wait();
  int4 b = s[1][threadIdx.x];
  p.consumer_release();
  p.quit();
  o[threadIdx.x] = make_int4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__global__ void sems(int* o) {
  __shared__ alignas(16) char sb[sizeof(cuda::binary_semaphore<cuda::thread_scope_block>)],
      lb[sizeof(cuda::latch<cuda::thread_scope_block>)];
  auto& s = *(cuda::binary_semaphore<cuda::thread_scope_block>*)sb;
  auto& l = *(cuda::latch<cuda::thread_scope_block>*)lb;
  __shared__ int x;
  if (threadIdx.x == 0) {
    new (&s) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    new (&l) cuda::latch<cuda::thread_scope_block>(blockDim.x);
    x = 0;
  }
  __syncthreads();
  s.acquire();
  x = x + 1;
  s.release();
  l.arrive_and_wait();
  o[threadIdx.x] = x;
}
__global__ void ann(const int* in, int* o, int n) {
  cuda::annotated_ptr<const int, cuda::access_property::persisting> a(in);
  cuda::annotated_ptr<int, cuda::access_property::streaming> b(o);
  int i = threadIdx.x;
  const int* c = in;
  b[i] = a[i] + c[i];
  __shared__ int sh[64];
  cuda::annotated_ptr<int, cuda::access_property::shared> d(sh);
  d[i] = i;
  b[i] = b[i] + d[i];
  cuda::apply_access_property(in, n * 4, cuda::access_property::normal{});
  const int* q = cuda::associate_access_property(in, cuda::access_property::normal{});
  o[i] += 0 * q[i];
  cuda::discard_memory(o + 1000, 256);
}
__global__ void ptxs(unsigned* o, int* g) {
  int n = 0;
  if (threadIdx.x == 0) {
    o[n++] = ptx::get_sreg_tid_x();
    o[n++] = ptx::get_sreg_ntid_x();
    o[n++] = ptx::get_sreg_laneid();
    o[n++] = ptx::get_sreg_nctaid_x();
    o[n++] = ptx::get_sreg_warpid();
    o[n++] = ptx::get_sreg_lanemask_lt();
    o[n++] = ptx::get_sreg_cluster_nctarank();
    ptx::fence(ptx::sem_acq_rel, ptx::scope_gpu);
    ptx::fence(ptx::sem_sc, ptx::scope_sys);
    ptx::fence_proxy_async();
    ptx::fence_proxy_alias();
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __shared__ uint64_t mb;
  __shared__ alignas(16) int buf[32];
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&mb, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  uint64_t st;
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf, g, 128, &mb);
    st = ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release,
        ptx::scope_cta,
        ptx::space_shared,
        &mb,
        128
    );
  } else {
    st = ptx::mbarrier_arrive(&mb);
  }
  while (!ptx::mbarrier_try_wait(ptx::sem_acquire, ptx::scope_cta, &mb, st))
    ;
  o[32 + threadIdx.x] = buf[threadIdx.x];
  buf[threadIdx.x] *= 2;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, g, buf, 128);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, g, buf, 128);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}
__global__ void __cluster_dims__(2) clus(int* o) {
  __shared__ alignas(16) int buf[4];
  __shared__ uint64_t mb;
  unsigned r = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&mb, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0) {
    auto* rb = cg::this_cluster().map_shared_rank(buf, r ^ 1);
    auto* rm = cg::this_cluster().map_shared_rank(&mb, r ^ 1);
    uint64_t t = ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release,
        ptx::scope_cta,
        ptx::space_shared,
        &mb,
        16
    );
    int v[4] = {(int)r * 10, 1, 2, 3};
    ptx::st_async(rb, v, rm);
    while (!ptx::mbarrier_try_wait(ptx::sem_acquire, ptx::scope_cluster, &mb, t))
      ;
    for (int i = 0; i < 4; i++) {
      o[r * 4 + i] = buf[i];
    }
    t = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &mb, 4);
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    ptx::red_async(ptx::op_add, rb, 5, rm);
    while (!ptx::mbarrier_try_wait(ptx::sem_acquire, ptx::scope_cluster, &mb, t))
      ;
    o[8 + r] = buf[0];
  } else {
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}
__host__ __device__ int misc() {
  int bad = 0;
  REQUIRE(cuda::ceil_div(7, 3) == 3);
  REQUIRE(cuda::round_up(7, 4) == 8 && cuda::round_down(7, 4) == 4);
  REQUIRE(cuda::ilog2(17) == 4 && cuda::ilog10(1000) == 3);
  REQUIRE(cuda::bit_reverse(1u) == 0x80000000u);
  REQUIRE(cuda::bitfield_insert(0u, 0xffu, 4, 4) == 0xf0u);
  REQUIRE(cuda::bitfield_extract(0xabcdu, 4, 8) == 0xbcu);

  REQUIRE(cuda::maximum<int>{}(1, 2) == 2 && cuda::minimum<>{}(1., 2.) == 1);
  auto f = cuda::proclaim_return_type<int>([] __host__ __device__(int x) { return x + 1; });
  REQUIRE(f(1) == 2);

  return bad;
}
__global__ void misck(int* o) {
  *o = misc();
}
__global__ void warpk(int* o) {
  int l = threadIdx.x;
  auto r = cuda::device::warp_shuffle_idx(l * 10, 5);
  int s = cuda::device::warp_shuffle_down(l, 4).data;
  auto x = cuda::device::warp_shuffle_xor(make_double2(l, -l), 1);
  o[l] = r.data + s * 1000 + (int)x.data.x * 100000;
}
__global__ void atoms(int* o) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(o[0]);
  a.fetch_max((int)threadIdx.x);
  a.fetch_add(0, cuda::memory_order_relaxed);
  cuda::atomic_ref<double, cuda::thread_scope_block> d(*(double*)(o + 2));
  d.fetch_add(1.5);
  cuda::atomic_ref<unsigned long long> e(*(unsigned long long*)(o + 4));
  e |= 1ull << threadIdx.x;
  cuda::atomic_ref<short> s(*(short*)(o + 6));
  s += 1;
  cuda::atomic_ref<char> c(*(char*)(o + 7));
  char z = 0;
  c.compare_exchange_strong(z, (char)9);
  cuda::atomic_ref<float> f(*(float*)(o + 8));
  f.fetch_min(-(float)threadIdx.x);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
int main() {
  int bad = 0;
  int *in, *o;
  CUDA_OK(cudaMallocManaged(&in, 8192));
  CUDA_OK(cudaMallocManaged(&o, 8192));
  for (int i = 0; i < 2048; i++) {
    in[i] = i;
  }
  barriers<<<1, 256>>>(o, in);
  CUDA_OK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < 256; i++) {
    ok &= o[i] == (i + 1) % 256 + (i + 2) % 256 + (i + 3) % 256;
  }
  REQUIRE(ok);
  o[0] = 0;
  complb<<<1, 96>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  REQUIRE(o[0] == 5);
  float *fi, *fo;
  CUDA_OK(cudaMallocManaged(&fi, 4096 * 4));
  CUDA_OK(cudaMallocManaged(&fo, 4096));
  for (int i = 0; i < 4096; i++) {
    fi[i] = i % 13;
  }
  pipe<2><<<1, 128, 2 * 128 * 4>>>(fi, fo, 4096);
  CUDA_OK(cudaDeviceSynchronize());
  ok = true;
  for (int i = 0; i < 128; i++) {
    float s = 0;
    for (int c = 0; c < 32; c++) {
      s += fi[c * 128 + (i + 1) % 128];
    }
    ok &= s == fo[i];
  }
  REQUIRE(ok);
  pipe<4><<<1, 64, 4 * 64 * 4>>>(fi, fo, 4096);
  CUDA_OK(cudaDeviceSynchronize());
  ok = true;
  for (int i = 0; i < 64; i++) {
    float s = 0;
    for (int c = 0; c < 64; c++) {
      s += fi[c * 64 + (i + 1) % 64];
    }
    ok &= s == fo[i];
  }
  REQUIRE(ok);
  pipe2<<<1, 96, 256>>>(fi, fo, 1024);
  CUDA_OK(cudaDeviceSynchronize());
  ok = true;
  for (int i = 0; i < 64; i++) {
    float s = 0;
    for (int c = 0; c < 32; c++) {
      s += fi[c * 32 + i % 32];
    }
    ok &= s == fo[i];
  }
  REQUIRE(ok);
  pipet<<<1, 64>>>((int4*)in, (int4*)o);
  CUDA_OK(cudaDeviceSynchronize());
  REQUIRE(o[4] == in[4] + in[4 + 256]);
  sems<<<1, 64>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  ok = true;
  for (int i = 0; i < 64; i++) {
    ok &= o[i] == 64;
  }
  REQUIRE(ok);
  ann<<<1, 64>>>(in, o, 64);
  CUDA_OK(cudaDeviceSynchronize());
  ok = true;
  for (int i = 0; i < 64; i++) {
    ok &= o[i] == 3 * i;
  }
  REQUIRE(ok);
  unsigned* u;
  CUDA_OK(cudaMallocManaged(&u, 1024));
  ptxs<<<1, 32>>>(u, in);
  CUDA_OK(cudaDeviceSynchronize());
  REQUIRE(u[1] == 32 && u[3] == 1 && u[6] == 1 && u[32 + 7] == 7 && in[7] == 28);
  clus<<<2, 32>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  REQUIRE(o[0] == 10 && o[4] == 0 && o[8] == 15 && o[9] == 5 && o[3] == 3);
  bad += misc();
  misck<<<1, 1>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  bad += o[0];
  warpk<<<1, 32>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  REQUIRE(o[3] == 50 + 7000 + 200000 && o[31] == 50 + 31000 + 3000000);
  memset(o, 0, 64);
  atoms<<<1, 32>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  REQUIRE(
      o[0] == 31 && *(double*)(o + 2) == 48 && o[4] == -1 && *(short*)(o + 6) == 32 &&
      *(char*)(o + 7) == 9 && *(float*)(o + 8) == -31
  );
  cudaStream_t s;
  CUDA_OK(cudaStreamCreate(&s));
  cuda::stream_ref r(s);
  r.wait();
  REQUIRE(r.ready());
  std::printf("%d wrong\n", bad);
}
