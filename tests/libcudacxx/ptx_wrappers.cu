// cuda::ptx and the shuffles of cuda/warp: what each wrapper of an instruction gives.
//@ exercises: cuda/ptx (integers, mbarriers, bulk copies, asynchronous updates), cuda/warp
//@ flags: -arch=sm_90
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/warp>

#include <cstdio>

#define REQUIRE(...)                                                                               \
  do {                                                                                             \
    if (!(__VA_ARGS__)) {                                                                          \
      printf("line %d is wrong: %s\n", __LINE__, #__VA_ARGS__);                                    \
    }                                                                                              \
  } while (0)

namespace p = cuda::ptx;
using u64 = cuda::std::uint64_t;
using u32 = cuda::std::uint32_t;
using i32 = cuda::std::int32_t;
__global__ void wrappers(u32* g) {
  REQUIRE(
      p::bfind(0x80u) == 7 && p::bfind(-1) == u32(-1) && p::bfind(u64(1) << 40) == 40 &&
      p::bfind_shiftamt(0x80u) == 24
  );
  REQUIRE(p::bmsk_clamp(4u, 8u) == 0xff0 && p::bmsk_wrap(36u, 8u) == 0xff0);
  REQUIRE(
      p::prmt(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u &&
      p::prmt_f4e(0x33221100u, 0x77665544u, 1) == 0x44332211u &&
      p::prmt_b4e(0x33221100u, 0x77665544u, 1) == 0x66770011u &&
      p::prmt_rc8(0x33221100u, 0u, 2) == 0x22222222u &&
      p::prmt_ecl(0x33221100u, 0u, 1) == 0x33221111u &&
      p::prmt_ecr(0x33221100u, 0u, 1) == 0x11111100u &&
      p::prmt_rc16(0x33221100u, 0u, 1) == 0x33223322u
  );
  REQUIRE(
      p::shl(1u, 31u) == 1u << 31 && p::shl(1u, 32u) == 0 && p::shr(-8, 1u) == -4 &&
      p::shr(8u, 40u) == 0
  );
  REQUIRE(
      p::get_sreg_tid_x() == threadIdx.x && p::get_sreg_ntid_x() == blockDim.x &&
      p::get_sreg_laneid() == threadIdx.x % 32 && p::get_sreg_warpid() == threadIdx.x / 32 &&
      p::get_sreg_ctaid_x() == blockIdx.x && p::get_sreg_nctaid_x() == gridDim.x &&
      p::get_sreg_lanemask_lt() == (1u << threadIdx.x % 32) - 1 &&
      p::get_sreg_lanemask_eq() == 1u << threadIdx.x % 32
  );
  (void)p::get_sreg_clock();
  (void)p::get_sreg_clock64();
  (void)p::get_sreg_globaltimer();
  (void)p::get_sreg_smid();
  (void)p::get_sreg_nsmid();
  (void)p::get_sreg_gridid();
  (void)p::get_sreg_total_smem_size();
  (void)p::get_sreg_dynamic_smem_size();
  (void)p::get_sreg_nwarpid();
  (void)p::get_sreg_is_explicit_cluster();
  (void)p::get_sreg_clusterid_x();
  (void)p::get_sreg_cluster_ctarank();
  (void)p::get_sreg_aggr_smem_size();
  p::fence(p::sem_sc, p::scope_sys);
  p::fence(p::sem_acq_rel, p::scope_gpu);
  p::fence(p::sem_sc, p::scope_cluster);
  p::fence_proxy_alias();
  p::fence_proxy_async();
  p::fence_proxy_async(p::space_global);
  p::fence_proxy_async(p::space_shared);
  p::fence_mbarrier_init(p::sem_release, p::scope_cluster);
  if (threadIdx.x < 32) {
    u32 l = threadIdx.x;
    bool ok;
    REQUIRE(p::shfl_sync_idx(l * 3, 5u, 31u, ~0u) == 15);
    REQUIRE(p::shfl_sync_up(l, ok, 1u, 0u, ~0u) == (l ? l - 1 : 0) && ok == (l != 0));
    REQUIRE(p::shfl_sync_down(l, 2u, 31u, ~0u) == (l < 30 ? l + 2 : l));
    REQUIRE(p::shfl_sync_bfly(l, 1u, 31u, ~0u) == (l ^ 1));
    double d = l * 1.5;
    REQUIRE(cuda::device::warp_shuffle_xor(d, 1).data == (l ^ 1) * 1.5);
    struct B {
      int a[5];
    } b{{int(l), 1, 2, 3, int(l) * 2}};
    auto r = cuda::device::warp_shuffle_idx(b, 3);
    REQUIRE(r.data.a[4] == 6 && r.pred);
    auto u = cuda::device::warp_shuffle_up<8>(l, 1);
    REQUIRE(u.data == (l % 8 ? l - 1 : l));
  }

  // Barriers, and copies that complete at them.
  __shared__ u64 bar[2];
  __shared__ alignas(128) u32 buf[128], buf2[128];
  if (threadIdx.x == 0) {
    p::mbarrier_init(&bar[0], blockDim.x);
    p::mbarrier_init(&bar[1], 1);
  }
  __syncthreads();
  u64 t = p::mbarrier_arrive(p::sem_release, p::scope_cta, p::space_shared, &bar[0]);
  while (!p::mbarrier_try_wait(p::sem_acquire, p::scope_cta, &bar[0], t)) {
  }
  t = p::mbarrier_arrive(&bar[0]);
  while (!p::mbarrier_test_wait(&bar[0], t)) {
  }
  t = p::mbarrier_arrive(p::sem_release, p::scope_cluster, p::space_shared, &bar[0], 1u);
  while (!p::mbarrier_try_wait_parity(&bar[0], 0u)) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    (void)p::mbarrier_arrive_expect_tx(
        p::sem_release,
        p::scope_cta,
        p::space_shared,
        &bar[1],
        u32(512)
    );
    p::cp_async_bulk(p::space_cluster, p::space_global, buf, g, 512u, &bar[1]);
    while (!p::mbarrier_try_wait_parity(p::sem_acquire, p::scope_cta, &bar[1], 0u, 1000u)) {
    }
    for (int i = 0; i < 128; ++i) {
      REQUIRE(buf[i] == i * 3);
    }
    p::mbarrier_expect_tx(p::sem_relaxed, p::scope_cta, p::space_shared, &bar[1], 256u);
    (void)p::mbarrier_arrive(&bar[1]);
    p::cp_async_bulk(p::space_cluster, p::space_shared, buf2, buf, 256u, &bar[1]);
    while (!p::mbarrier_test_wait_parity(&bar[1], 1u)) {
    }
    REQUIRE(buf2[63] == 189);
    p::fence_proxy_async(p::space_shared);
    p::cp_async_bulk(p::space_global, p::space_shared, g + 128, buf, 512u);
    p::cp_async_bulk_commit_group();
    p::cp_async_bulk_wait_group_read(p::n32_t<0>{});
    p::cp_async_bulk_wait_group(p::n32_t<0>{});
    REQUIRE(g[130] == 6);
    p::cp_reduce_async_bulk(p::space_global, p::space_shared, p::op_add, g + 128, buf, 512u);
    p::cp_reduce_async_bulk(
        p::space_global,
        p::space_shared,
        p::op_max,
        (i32*)g + 128,
        (const i32*)buf,
        512u
    );
    p::cp_async_bulk_commit_group();
    p::cp_async_bulk_wait_group(p::n32_t<0>{});
    REQUIRE(g[130] == 12);
    (void)p::mbarrier_arrive_expect_tx(
        p::sem_release,
        p::scope_cluster,
        p::space_shared,
        &bar[1],
        u32(512)
    );
    p::cp_reduce_async_bulk(p::space_cluster, p::space_shared, p::op_add, buf2, buf, 512u, &bar[1]);
    while (!p::mbarrier_try_wait_parity(&bar[1], 0u)) {
    }
    REQUIRE(buf2[63] == 378);
    (void)p::mbarrier_arrive_expect_tx(
        p::sem_release,
        p::scope_cluster,
        p::space_shared,
        &bar[1],
        u32(4)
    );
    u32 v = 5;
    p::red_async(p::op_add, &buf2[0], v, &bar[1]);
    while (!p::mbarrier_try_wait_parity(&bar[1], 1u)) {
    }
    REQUIRE(buf2[0] == 5);
    (void)p::mbarrier_arrive_expect_tx(
        p::sem_release,
        p::scope_cluster,
        p::space_shared,
        &bar[1],
        u32(8)
    );
    u32 w[2] = {7, 8};
    p::st_async(&buf2[2], w, &bar[1]);
    while (!p::mbarrier_try_wait_parity(&bar[1], 0u)) {
    }
    REQUIRE(buf2[3] == 8);
    REQUIRE(p::getctarank(p::space_cluster, buf) == 0);
  }

  p::barrier_cluster_arrive(p::sem_release);
  p::barrier_cluster_wait(p::sem_acquire);
  p::barrier_cluster_arrive();
  p::barrier_cluster_wait();
  p::barrier_cluster_arrive(p::sem_relaxed);
  p::barrier_cluster_wait();
  REQUIRE(p::ld(p::space_global, (const int*)g + 4) == 12);
  REQUIRE(p::ld_L1_no_allocate(p::space_global, (const int*)g + 5) == 15);
  REQUIRE(p::ld_nc(p::space_global, (const int*)g + 6) == 18);
  REQUIRE(p::ld_nc_L1_evict_last_L2_128B(p::space_global, (const int*)g + 7) == 21);
  p::st(p::space_global, (int*)g + 300 + threadIdx.x, 5);
  p::st_L1_evict_first(p::space_global, (int*)g + 400 + threadIdx.x, 6);
  __syncthreads();
  REQUIRE(g[300] == 5 && g[400 + threadIdx.x] == 6);
  if (threadIdx.x == 1) {
    p::exit();
  }
  __syncthreads();
}
int main() {
  u32* g;
  cudaMallocManaged(&g, 4096);
  for (int i = 0; i < 1024; ++i) {
    g[i] = i * 3;
  }
  wrappers<<<1, 64>>>(g);
  auto e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  return e != 0;
}
