// Bulk copies of tensors with maps that the driver API encodes, addresses of shared memory that blocks of a cluster hand to each other, and the four multiplications of mma.m8n8k4.
//@ exercises: cuTensorMapEncodeTiled, cp.async.bulk.tensor (edges, swizzle), generic addresses in a cluster, isspacep, %is_explicit_cluster, mma.m8n8k4
#include "support.h"
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_fp16.h>

#include <cstring>

namespace cg = cooperative_groups;
// --- Copies of tensors
namespace bulk = cuda::device::experimental;
namespace ptx = cuda::ptx;
constexpr int columns = 64, rows = 40, box_columns = 16, box_rows = 8;

/// The tile at (x, y), negated, goes to (to_x, to_y); what is outside of the tensor stays outside.
__global__ void negate_tile(const __grid_constant__ CUtensorMap tensor, int x, int y, int to_x, int to_y) {
  __shared__ alignas(128) int tile[box_rows * box_columns];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char place[sizeof(Barrier)];
  Barrier& loaded = *reinterpret_cast<Barrier*>(place);
  bool first = threadIdx.x == 0;
  if (first) {
    init(&loaded, 1);
    bulk::fence_proxy_async_shared_cta();
    bulk::cp_async_bulk_tensor_2d_global_to_shared(tile, &tensor, x, y, loaded);
  }
  __syncthreads();
  if (first) {
    loaded.wait(cuda::device::barrier_arrive_tx(loaded, 1, sizeof tile));
  }
  __syncthreads();
  tile[threadIdx.x] = -tile[threadIdx.x];
  bulk::fence_proxy_async_shared_cta();
  __syncthreads();
  if (first) {
    bulk::cp_async_bulk_tensor_2d_shared_to_global(&tensor, to_x, to_y, tile);
    bulk::cp_async_bulk_commit_group();
    bulk::cp_async_bulk_wait_group_read<0>();
  }
}

__global__ void load3(const __grid_constant__ CUtensorMap m, float* o) {
  __shared__ alignas(128) float s[4 * 4 * 8];
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&b, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    int c[3] = {4, -1, 2};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &m, c, &b);
    uint64_t st = ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release,
        ptx::scope_cta,
        ptx::space_shared,
        &b,
        sizeof s
    );
    while (!ptx::mbarrier_try_wait(&b, st))
      ;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) {
    o[i] = s[i];
  }
}
// --- Addresses in a cluster
__global__ void __cluster_dims__(4) raw(int** slots, int* o) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  unsigned r = c.block_rank();
  s[threadIdx.x] = r * 100 + threadIdx.x;
  if (threadIdx.x == 0) {
    slots[blockIdx.x] = s;
  }
  c.sync();
  int* p = slots[blockIdx.x / 4 * 4 + (r + 1) % 4];
  int v = p[threadIdx.x];
  c.sync();
  p[threadIdx.x] = v + 1000;
  c.sync();
  o[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
  bool eq = c.map_shared_rank(s, r) == s;
  bool oth = c.map_shared_rank(s, (r + 1) % 4) == p;
  unsigned rk;
  asm("getctarank.u64 %0,%1;" : "=r"(rk) : "l"(p));
  if (!eq || !oth || rk != (r + 1) % 4 || !__isShared(s) || __isShared(p) ||
      !__isClusterShared(p) || !__isClusterShared(s)) {
    o[0] = -1;
  }
  unsigned a = (unsigned)__cvta_generic_to_shared(s);
  int w;
  asm volatile("ld.shared.u32 %0,[%1];" : "=r"(w) : "r"(a + 4));
  if (w != (int)(r * 100 + 1001)) {
    o[1] = -2;
  }
  bool ex;
  asm("{.reg .pred q; mov.pred q,%%is_explicit_cluster; selp.b32 %0,1,0,q;}" : "=r"(*(int*)&rk));
  (void)ex;
  if (rk != 1) {
    o[2] = -3;
  }
  c.sync();
}
__global__ void plain(int* o) {
  int rk;
  asm("{.reg .pred q; mov.pred q,%%is_explicit_cluster; selp.b32 %0,1,0,q;}" : "=r"(rk));
  o[0] = rk;
}
// --- mma.m8n8k4: four multiplications at once
__global__ void
volta(const __half* a, const __half* b, float* d) { // A 8x4 row, B 4x8 col per quad pair
  int l = threadIdx.x;
  unsigned A[2], B[2];
  int row = l % 4 + (l >= 16 ? 4 : 0);
  int mm = (l % 16) / 4; // quad pair mm
  memcpy(A, a + mm * 32 + row * 4, 8);
  memcpy(B, b + mm * 32 + row * 4, 8);
  float C[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%0,%1,%2,%3,%4,%5,%6,%7};"
               : "+f"(C[0]),
                 "+f"(C[1]),
                 "+f"(C[2]),
                 "+f"(C[3]),
                 "+f"(C[4]),
                 "+f"(C[5]),
                 "+f"(C[6]),
                 "+f"(C[7])
               : "r"(A[0]), "r"(A[1]), "r"(B[0]), "r"(B[1]));
  for (int i = 0; i < 8; i++) {
    int X = (l & 1) + (i & 2) + (l >= 16 ? 4 : 0);
    int Y = (i & 4) + (l & 2) + (i & 1);
    d[mm * 64 + X * 8 + Y] = C[i];
  }
}
__attribute__((noinline)) void leave_on_stack(char value) {
  char bytes[4096];
  std::memset(bytes, value, sizeof bytes);
  asm volatile("" ::"r"(bytes) : "memory");
}
void copies() {
  void* f = 0;
  cudaDriverEntryPointQueryResult qr;
  CUDA_OK(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &qr)
  );
  EXPECT(f && qr == cudaDriverEntryPointSuccess);
  auto enc = (decltype(&cuTensorMapEncodeTiled))f;
  int* d;
  CUDA_OK(cudaMallocManaged(&d, columns * rows * sizeof(int)));
  for (int i = 0; i < columns * rows; i++) {
    d[i] = i;
  }
  CUtensorMap m;
  cuuint64_t sizes[2] = {columns, rows}, pitch[1] = {columns * sizeof(int)};
  cuuint32_t box[2] = {box_columns, box_rows}, steps[2] = {1, 1};
  EXPECT(
      enc(&m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, sizes, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
          CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS
  );
  // All of its bytes are parameters: they are the same whatever the stack held before.
  CUtensorMap same;
  leave_on_stack(0x5a);
  EXPECT(
      enc(&same, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, sizes, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
          CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS
  );
  EXPECT(std::memcmp(&m, &same, sizeof m) == 0);
  negate_tile<<<1, box_columns * box_rows>>>(m, 0, 4, 56, 36); // a corner of it fits
  CUDA_OK(cudaDeviceSynchronize());
  bool ok = true;
  for (int y = 0; y < rows; y++) {
    for (int x = 0; x < columns; x++) {
      bool inside = x >= 56 && y >= 36;
      ok &= d[y * columns + x] == (inside ? -((y - 32) * columns + x - 56) : y * columns + x);
    }
  }
  EXPECT(ok);
  float *g, *o;
  CUDA_OK(cudaMallocManaged(&g, 16 * 8 * 6 * 4));
  CUDA_OK(cudaMallocManaged(&o, 512));
  for (int i = 0; i < 768; i++) {
    g[i] = i + 1;
  }
  cuuint64_t d3[3] = {16, 8, 6}, s3[2] = {64, 512};
  cuuint32_t b3[3] = {8, 4, 4}, e3[3] = {1, 1, 1};
  EXPECT(
      enc(&m,
          CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
          3,
          g,
          d3,
          s3,
          b3,
          e3,
          CU_TENSOR_MAP_INTERLEAVE_NONE,
          CU_TENSOR_MAP_SWIZZLE_32B,
          CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == 0
  );
  load3<<<1, 32>>>(m, o);
  CUDA_OK(cudaDeviceSynchronize());
  ok = true;
  for (int z = 0; z < 4; z++) {
    for (int y = 0; y < 4; y++) {
      for (int x = 0; x < 8; x++) {
        int off = ((z * 4 + y) * 8 + x) * 4;
        off ^= (off >> 7 & 1) << 4;
        int gy = y - 1, gz = z + 2;
        float e = gy < 0 ? 0 : (gz * 8 + gy) * 16 + x + 4 + 1;
        ok &= o[off / 4] == e;
      }
    }
  }
  EXPECT(ok);
  std::printf("copies of tensors\n");
}
void addresses() {
  int** sl;
  int* o;
  CUDA_OK(cudaMallocManaged(&sl, 64 * 8));
  CUDA_OK(cudaMallocManaged(&o, 8 * 32 * 4));
  raw<<<8, 32>>>(sl, o);
  CUDA_OK(cudaDeviceSynchronize());
  bool ok = true;
  for (int b = 0; b < 8; b++) {
    for (int t = 0; t < 32; t++) {
      ok &= o[b * 32 + t] == b % 4 * 100 + t + 1000;
    }
  }
  EXPECT(ok);
  plain<<<1, 1>>>(o);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT(o[0] == 0);
  std::printf("addresses in a cluster\n");
}
void quads() {
  __half *a, *b;
  float* d;
  CUDA_OK(cudaMallocManaged(&a, 256));
  CUDA_OK(cudaMallocManaged(&b, 256));
  CUDA_OK(cudaMallocManaged(&d, 1024));
  for (int i = 0; i < 128; i++) {
    a[i] = i % 7 - 3;
    b[i] = i % 5 - 2;
  }
  volta<<<1, 32>>>(a, b, d);
  CUDA_OK(cudaDeviceSynchronize());
  bool ok = true;
  for (int m = 0; m < 4; m++) {
    for (int i = 0; i < 8; i++) {
      for (int j = 0; j < 8; j++) {
        float x = 0;
        for (int k = 0; k < 4; k++) {
          x += (float)a[m * 32 + i * 4 + k] * (float)b[m * 32 + j * 4 + k];
        }
        ok &= d[m * 64 + i * 8 + j] == x;
      }
    }
  }
  EXPECT(ok);
  std::printf("four multiplications at once\n");
}
int main() {
  copies();
  addresses();
  quads();
}
