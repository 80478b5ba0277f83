// Maps of tensors that kernels change: every field of a map in shared memory, one of a map in global memory, and boxes that are copied with them.
//@ exercises: tensormap.replace of every field, tensormap.cp_fenceproxy, fence.proxy.tensormap::generic, cp.async.bulk.tensor with maps in global memory (types, steps, swizzle, NaN outside); code for sm_90a
//@ flags: -gencode=arch=compute_90a,code=[sm_90a,compute_90a]
#include "support.h"
#include <cuda.h>
#include <cuda/ptx>

#include <cstring>

namespace ptx = cuda::ptx;
using ptx::n32_t;

struct Tensor {
  void* address;
  uint32_t rank;
  uint32_t size[3];
  uint64_t stride[2]; // bytes
  uint32_t box[3], step[3];
  int32_t at[3]; // first element that is copied
};

__device__ alignas(128) CUtensorMap changed[3];
__shared__ alignas(1024) unsigned char box[1024];
__shared__ uint64_t loaded;

/// Copies a box with `map` and shows it.
__device__ void show(const CUtensorMap* map, const Tensor& t, uint32_t bytes, unsigned char* out) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&loaded, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    int32_t at2[2] = {t.at[0], t.at[1]}, at3[3] = {t.at[0], t.at[1], t.at[2]};
    if (t.rank == 2) {
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, map, at2, &loaded);
    } else {
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, map, at3, &loaded);
    }
    uint64_t token = ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release, ptx::scope_cta, ptx::space_shared, &loaded, bytes
    );
    while (!ptx::mbarrier_try_wait(&loaded, token)) {
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) {
    out[i] = box[i];
  }
}

/// Everything about `other`, which may be nothing but zeros, is replaced by what `t` says.
template <int Type, int Swizzle, int Fill>
__global__ void
replace_all(const __grid_constant__ CUtensorMap other, Tensor t, uint32_t bytes, unsigned char* out, int slot) {
  __shared__ alignas(128) CUtensorMap map;
  if (threadIdx.x == 0) {
    constexpr auto here = ptx::space_shared;
    map = other;
    ptx::tensormap_replace_global_address(here, &map, reinterpret_cast<uint64_t>(t.address));
    ptx::tensormap_replace_rank(here, &map, t.rank - 1);
    ptx::tensormap_replace_box_dim(here, &map, n32_t<0>{}, t.box[0]);
    ptx::tensormap_replace_box_dim(here, &map, n32_t<1>{}, t.box[1]);
    ptx::tensormap_replace_global_dim(here, &map, n32_t<0>{}, t.size[0]);
    ptx::tensormap_replace_global_dim(here, &map, n32_t<1>{}, t.size[1]);
    ptx::tensormap_replace_global_stride(here, &map, n32_t<0>{}, t.stride[0]);
    ptx::tensormap_replace_element_size(here, &map, n32_t<0>{}, t.step[0]);
    ptx::tensormap_replace_element_size(here, &map, n32_t<1>{}, t.step[1]);
    if (t.rank == 3) {
      ptx::tensormap_replace_box_dim(here, &map, n32_t<2>{}, t.box[2]);
      ptx::tensormap_replace_global_dim(here, &map, n32_t<2>{}, t.size[2]);
      ptx::tensormap_replace_global_stride(here, &map, n32_t<1>{}, t.stride[1]);
      ptx::tensormap_replace_element_size(here, &map, n32_t<2>{}, t.step[2]);
    }
    ptx::tensormap_replace_elemtype(here, &map, n32_t<Type>{});
    ptx::tensormap_replace_interleave_layout(here, &map, n32_t<0>{});
    ptx::tensormap_replace_swizzle_mode(here, &map, n32_t<Swizzle>{});
    ptx::tensormap_replace_fill_mode(here, &map, n32_t<Fill>{});
  }
  __syncwarp();
  CUtensorMap* to = &changed[slot];
  ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, to, &map, n32_t<128>{});
  ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, to, n32_t<128>{});
  show(to, t, bytes, out);
}

/// Another address and fewer rows for a map in global memory.
__global__ void replace_in_place(CUtensorMap* map, Tensor t, uint32_t bytes, unsigned char* out) {
  if (threadIdx.x == 0) {
    constexpr auto here = ptx::space_global;
    ptx::tensormap_replace_global_address(here, map, reinterpret_cast<uint64_t>(t.address));
    ptx::tensormap_replace_global_dim(here, map, n32_t<1>{}, t.size[1]);
    ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
  }
  __syncwarp();
  ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, n32_t<128>{});
  show(map, t, bytes, out);
}

CUtensorMap encode(CUtensorMapDataType type, const Tensor& t) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
  EXPECT(f != nullptr && found == cudaDriverEntryPointSuccess);
  cuuint64_t size[3] = {t.size[0], t.size[1], t.size[2]};
  CUtensorMap map;
  CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f)(
      &map, type, t.rank, t.address, size, t.stride, t.box, t.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
  );
  EXPECT(result == CUDA_SUCCESS);
  return map;
}

template <class T> void print(const char* name, const unsigned char* out, int rows, int columns) {
  std::printf("%s:\n", name);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      T x;
      std::memcpy(&x, out + (i * columns + j) * sizeof x, sizeof x);
      std::printf(" %llx", static_cast<unsigned long long>(x));
    }
    std::printf("\n");
  }
}

int main() {
  constexpr int words = 4096;
  uint32_t* data;
  unsigned char* out;
  CUDA_OK(cudaMallocManaged(&data, words * sizeof *data));
  CUDA_OK(cudaMallocManaged(&out, 1024));
  for (int i = 0; i < words; ++i) {
    data[i] = static_cast<uint32_t>(i) * 0x10001U;
  }
  const Tensor bytes{data, 1, {64}, {}, {16}, {1}, {}};
  const CUtensorMap small = encode(CU_TENSOR_MAP_DATA_TYPE_UINT8, bytes);

  const Tensor floats{data + 256, 2, {10, 6}, {64}, {8, 5}, {1, 1}, {4, -1}};
  replace_all<7, 0, 1><<<1, 32>>>(small, floats, 160, out, 0);
  SYNC_OK();
  print<uint32_t>("f32, NaN outside", out, 5, 8);

  const Tensor halves{data, 3, {24, 7, 5}, {64, 512}, {16, 5, 2}, {1, 2, 1}, {8, 1, 3}};
  replace_all<6, 1, 0><<<1, 32>>>(small, halves, 16 * 3 * 2 * 2, out, 1);
  SYNC_OK();
  print<uint16_t>("f16, every other row, 32-byte swizzle", out, 6, 16);

  const Tensor brain{data, 2, {6, 4}, {32}, {16, 4}, {1, 1}, {-8, 2}};
  replace_all<10, 0, 1><<<1, 32>>>(small, brain, 128, out, 2);
  SYNC_OK();
  print<uint16_t>("bf16, NaN outside", out, 4, 16);

  const Tensor wide{data, 2, {3, 4}, {64}, {2, 4}, {1, 1}, {2, 2}};
  replace_all<9, 0, 1><<<1, 32>>>(small, wide, 64, out, 2);
  SYNC_OK();
  print<uint64_t>("f64, NaN outside", out, 4, 2);

  // Triton begins a descriptor with zeros.
  replace_all<9, 0, 1><<<1, 32>>>(CUtensorMap{}, wide, 64, out, 2);
  SYNC_OK();
  print<uint64_t>("f64, from zeros", out, 4, 2);

  Tensor ints{data, 2, {8, 8}, {64}, {8, 4}, {1, 1}, {0, 0}};
  CUtensorMap* in_memory;
  CUDA_OK(cudaMalloc(&in_memory, sizeof *in_memory));
  const CUtensorMap whole = encode(CU_TENSOR_MAP_DATA_TYPE_INT32, ints);
  CUDA_OK(cudaMemcpy(in_memory, &whole, sizeof whole, cudaMemcpyHostToDevice));
  ints.address = data + 1024;
  ints.size[1] = 3;
  replace_in_place<<<1, 32>>>(in_memory, ints, 128, out);
  SYNC_OK();
  print<uint32_t>("s32, another address, three rows", out, 4, 8);
}
