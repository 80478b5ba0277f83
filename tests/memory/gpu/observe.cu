// The litmus tests of tests/check/memory on a GPU: how often each outcome is seen. By hand:
//
//   nvcc -std=c++20 -arch=sm_90 -o observe tests/memory/gpu/observe.cu && ./observe [INSTANCES] >
//   results
//
// Each test has instances at places of their own; its threads meet before each of them. Placed in
// warps of one block, in blocks of one cluster, and in blocks without one. "excluded" is the
// outcome that heddle check --memory=ptx excludes, or, after "allowed:", that it finds. The exit
// status is 1 if an excluded outcome was seen.
#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>
#include <vector>

enum Order {
  rlx,
  acq,
  rel,
  both,
  sc
};
__host__ __device__ constexpr cuda::memory_order order(Order o) {
  return o == rlx    ? cuda::memory_order_relaxed
         : o == acq  ? cuda::memory_order_acquire
         : o == rel  ? cuda::memory_order_release
         : o == both ? cuda::memory_order_acq_rel
                     : cuda::memory_order_seq_cst;
}
using Ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
__device__ void store(unsigned& p, unsigned v, Order o) {
  Ref(p).store(v, order(o));
}
__device__ unsigned load(unsigned& p, Order o) {
  return Ref(p).load(order(o));
}
__device__ void fence(Order o) {
  if (o != rlx) {
    cuda::atomic_thread_fence(order(o), cuda::thread_scope_device);
  }
}

struct Instance { // one line for each place
  unsigned x, pad0[31], y, pad1[31], z, pad2[31], r[4], pad3[28];
};

enum class Placement {
  Block,
  Cluster,
  Grid
};

__device__ unsigned long long now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

template <class F> __device__ void all(F f, int roles, int n, Instance* at, unsigned* met) {
  const int role = gridDim.x == 1 ? threadIdx.x / 32 : blockIdx.x;
  if (threadIdx.x % 32 != 0 || role >= roles) {
    return;
  }
  const unsigned long long began = now();
  for (int i = 0; i < n; ++i) {
    Ref(*met).fetch_add(1, cuda::memory_order_relaxed);
    while (Ref(*met).load(cuda::memory_order_relaxed) < static_cast<unsigned>(roles) * (i + 1)) {
      if (now() - began > 2'000'000'000) {
        return; // somebody did not come: the GPU is not held up
      }
    }
    f(role, at[i]);
  }
}

#define TEST(NAME, ROLES, BODY)                                                                    \
  __global__ void NAME(int n, Instance* at, unsigned* met) {                                       \
    all([](int t, Instance& i) BODY, ROLES, n, at, met);                                           \
  }
#define MP(NAME, ST, LD, F)                                                                        \
  TEST(NAME, 2, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 1, rlx);                                                                          \
      fence(F);                                                                                    \
      store(i.y, 1, ST);                                                                           \
    } else {                                                                                       \
      i.r[0] = load(i.y, LD);                                                                      \
      fence(F);                                                                                    \
      i.r[1] = load(i.x, rlx);                                                                     \
    }                                                                                              \
  })
MP(mp_rlx, rlx, rlx, rlx)
MP(mp_ra, rel, acq, rlx)
MP(mp_fences, rlx, rlx, both)
#define SB(NAME, ST, LD, F)                                                                        \
  TEST(NAME, 2, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 1, ST);                                                                           \
      fence(F);                                                                                    \
      i.r[0] = load(i.y, LD);                                                                      \
    } else {                                                                                       \
      store(i.y, 1, ST);                                                                           \
      fence(F);                                                                                    \
      i.r[1] = load(i.x, LD);                                                                      \
    }                                                                                              \
  })
SB(sb_rlx, rlx, rlx, rlx)
SB(sb_ra, rel, acq, rlx)
SB(sb_sc, sc, sc, rlx)
SB(sb_fences, rlx, rlx, sc)
#define LB(NAME, LD, ST)                                                                           \
  TEST(NAME, 2, {                                                                                  \
    if (t == 0) {                                                                                  \
      i.r[0] = load(i.x, LD);                                                                      \
      store(i.y, 1, ST);                                                                           \
    } else {                                                                                       \
      i.r[1] = load(i.y, LD);                                                                      \
      store(i.x, 1, ST);                                                                           \
    }                                                                                              \
  })
LB(lb_rlx, rlx, rlx)
LB(lb_ra, acq, rel)
#define IRIW(NAME, ST, LD, F)                                                                      \
  TEST(NAME, 4, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 1, ST);                                                                           \
    } else if (t == 1) {                                                                           \
      store(i.y, 1, ST);                                                                           \
    } else if (t == 2) {                                                                           \
      i.r[0] = load(i.x, LD);                                                                      \
      fence(F);                                                                                    \
      i.r[1] = load(i.y, LD);                                                                      \
    } else {                                                                                       \
      i.r[2] = load(i.y, LD);                                                                      \
      fence(F);                                                                                    \
      i.r[3] = load(i.x, LD);                                                                      \
    }                                                                                              \
  })
IRIW(iriw_ra, rel, acq, rlx)
IRIW(iriw_fences, rlx, rlx, sc)
#define WRC(NAME, ST, LD)                                                                          \
  TEST(NAME, 3, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 1, rlx);                                                                          \
    } else if (t == 1) {                                                                           \
      i.r[0] = load(i.x, rlx);                                                                     \
      store(i.y, 1, ST);                                                                           \
    } else {                                                                                       \
      i.r[1] = load(i.y, LD);                                                                      \
      i.r[2] = load(i.x, rlx);                                                                     \
    }                                                                                              \
  })
WRC(wrc_rlx, rlx, rlx)
WRC(wrc_ra, rel, acq)
TEST(isa2_ra, 3, {
  if (t == 0) {
    store(i.x, 1, rlx);
    store(i.y, 1, rel);
  } else if (t == 1) {
    i.r[0] = load(i.y, acq);
    store(i.z, 1, rel);
  } else {
    i.r[1] = load(i.z, acq);
    i.r[2] = load(i.x, rlx);
  }
})
#define TWO(NAME, F)                                                                               \
  TEST(NAME, 2, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 1, rlx);                                                                          \
      fence(F);                                                                                    \
      store(i.y, 2, rlx);                                                                          \
    } else {                                                                                       \
      store(i.y, 1, rlx);                                                                          \
      fence(F);                                                                                    \
      store(i.x, 2, rlx);                                                                          \
    }                                                                                              \
  })
TWO(two_rlx, rlx)
TWO(two_fences, sc)
#define RT(NAME, F)                                                                                \
  TEST(NAME, 2, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 1, rel);                                                                          \
      fence(F);                                                                                    \
      store(i.y, 1, rel);                                                                          \
    } else {                                                                                       \
      store(i.y, 2, rel);                                                                          \
      fence(F);                                                                                    \
      i.r[0] = load(i.x, acq);                                                                     \
    }                                                                                              \
  })
RT(r_ra, rlx)
RT(r_fences, sc)
#define ST(NAME, W, R)                                                                             \
  TEST(NAME, 2, {                                                                                  \
    if (t == 0) {                                                                                  \
      store(i.x, 2, rlx);                                                                          \
      store(i.y, 1, W);                                                                            \
    } else {                                                                                       \
      i.r[0] = load(i.y, R);                                                                       \
      store(i.x, 1, rlx);                                                                          \
    }                                                                                              \
  })
ST(s_rlx, rlx, rlx)
ST(s_ra, rel, acq)
TEST(corr, 2, {
  if (t == 0) {
    store(i.x, 1, rlx);
  } else {
    i.r[0] = load(i.x, rlx);
    i.r[1] = load(i.x, rlx);
  }
})
TEST(updates, 2, {
  if (t == 0) {
    store(i.x, 1, rlx);
    Ref(i.z).fetch_add(1, order(both));
    i.r[0] = load(i.y, rlx);
  } else {
    store(i.y, 1, rlx);
    Ref(i.z).fetch_add(1, order(both));
    i.r[1] = load(i.x, rlx);
  }
})

using Kernel = void (*)(int, Instance*, unsigned*);
struct Row {
  const char* name;
  int roles;
  bool excluded;
  Kernel kernel;
  bool (*seen)(const Instance&);
};

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  const auto stale = [](const Instance& i) { return i.r[0] == 1 && i.r[1] == 0; };
  const auto zeros = [](const Instance& i) { return i.r[0] == 0 && i.r[1] == 0; };
  const auto ones = [](const Instance& i) { return i.r[0] == 1 && i.r[1] == 1; };
  const auto apart = [](const Instance& i) {
    return i.r[0] == 1 && i.r[1] == 0 && i.r[2] == 1 && i.r[3] == 0;
  };
  const auto lost = [](const Instance& i) { return i.r[0] == 1 && i.r[1] == 1 && i.r[2] == 0; };
  const auto first = [](const Instance& i) { return i.x == 1 && i.y == 1; };
  const auto is_r = [](const Instance& i) { return i.y == 2 && i.r[0] == 0; };
  const auto is_s = [](const Instance& i) { return i.r[0] == 1 && i.x == 2; };
  const Row rows[] = {
      {"MP-rlx", 2, false, mp_rlx, stale},
      {"MP-ra", 2, true, mp_ra, stale},
      {"MP-fences", 2, true, mp_fences, stale},
      {"SB-rlx", 2, false, sb_rlx, zeros},
      {"SB-ra", 2, false, sb_ra, zeros},
      {"SB-sc", 2, true, sb_sc, zeros},
      {"SB-sc-fences", 2, true, sb_fences, zeros},
      {"LB-rlx", 2, true, lb_rlx, ones},
      {"LB-ra", 2, true, lb_ra, ones},
      {"IRIW-ra", 4, false, iriw_ra, apart},
      {"IRIW-sc-fences", 4, true, iriw_fences, apart},
      {"WRC-rlx", 3, false, wrc_rlx, lost},
      {"WRC-ra", 3, true, wrc_ra, lost},
      {"ISA2-ra", 3, true, isa2_ra, lost},
      {"2+2W-rlx", 2, false, two_rlx, first},
      {"2+2W-sc-fences", 2, true, two_fences, first},
      {"R-ra", 2, false, r_ra, is_r},
      {"R-sc-fences", 2, true, r_fences, is_r},
      {"S-rlx", 2, false, s_rlx, is_s},
      {"S-ra", 2, true, s_ra, is_s},
      {"CoRR", 2, true, corr, stale},
      {"SB-update-of-one-place", 2, true, updates, zeros},
  };
  Instance* at = nullptr;
  unsigned* met = nullptr;
  cudaMalloc(&at, sizeof(Instance) * n);
  cudaMalloc(&met, sizeof *met);
  std::vector<Instance> results(n);
  int wrong = 0;
  for (const Row& row : rows) {
    for (const Placement placement : {Placement::Block, Placement::Cluster, Placement::Grid}) {
      cudaMemset(at, 0, sizeof(Instance) * n);
      cudaMemset(met, 0, sizeof *met);
      cudaLaunchConfig_t config{};
      config.gridDim = placement == Placement::Block ? 1 : row.roles;
      config.blockDim = placement == Placement::Block ? 32 * row.roles : 32;
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim =
          {placement == Placement::Cluster ? (unsigned)(row.roles == 3 ? 1 : row.roles) : 1U, 1, 1};
      config.attrs = &attribute;
      config.numAttrs = placement == Placement::Cluster ? 1 : 0;
      if (cudaLaunchKernelEx(&config, row.kernel, n, at, met) != cudaSuccess ||
          cudaDeviceSynchronize() != cudaSuccess) {
        std::printf("%s: %s\n", row.name, cudaGetErrorString(cudaGetLastError()));
        return 2;
      }
      cudaMemcpy(results.data(), at, sizeof(Instance) * n, cudaMemcpyDeviceToHost);
      int seen = 0;
      for (const Instance& i : results) {
        seen += row.seen(i) ? 1 : 0;
      }
      constexpr const char* names[] = {"block", "cluster", "grid"};
      std::printf(
          "%-24s %-8s %s %d of %d\n",
          row.name,
          names[(int)placement],
          row.excluded ? "excluded:" : "allowed: ",
          seen,
          n
      );
      wrong += row.excluded && seen != 0 ? 1 : 0;
    }
  }
  return wrong != 0 ? 1 : 0;
}
