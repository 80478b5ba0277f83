// The map for groups: whole warps that act together on a map in global memory, and maps in shared
// memory, one for each block. Prints one line per layout; anything else is a failure.
//@ exercises: try_insert, find, contains and erase by a tile of 32 threads, in blocks of any shape;
// shared_map with every operation by the threads of a block
#include "../../include/heddle/concurrent_map.cuh"
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    const cudaError_t code_ = (call);                                                              \
    if (code_ != cudaSuccess) {                                                                    \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code_));                   \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

namespace {

using heddle::insert_result;

/// Every key is brought by two threads, of different warps; every third lane brings none.
template <class Ref> __global__ void by_warps(Ref map, int keys, int* won, int* wrong) {
  using Key = typename Ref::key_type;
  using Value = typename Ref::mapped_type;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int thread = static_cast<int>(blockIdx.x * blockDim.x * blockDim.y) +
                     static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int i = thread % keys;
  const Key key = static_cast<Key>(i - 1); // one of them is all ones
  const bool wanted = i % 3 != 2;
  const insert_result result = map.try_insert(warp, key, static_cast<Value>(i), wanted);
  if (wanted && result == insert_result::inserted) {
    atomicAdd(&won[i], 1);
  }
  const auto found = map.find(warp, key, wanted);
  if (found.has_value() != wanted || (found && *found != static_cast<Value>(i))) {
    atomicAdd(wrong, 1);
  }
  if (map.contains(warp, static_cast<Key>(keys + thread))) {
    atomicAdd(wrong, 1);
  }
}
template <class Ref> __global__ void erase_by_warps(Ref map, int keys, int* won) {
  using Key = typename Ref::key_type;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int thread = static_cast<int>(blockIdx.x * blockDim.x * blockDim.y) +
                     static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int i = thread % keys;
  if (map.erase(warp, static_cast<Key>(i - 1), i % 2 == 0)) {
    atomicAdd(&won[i], -1);
  }
}

template <class Key, class Layout> void warps(const char* name) {
  constexpr int keys = 192;
  heddle::concurrent_map<
      Key,
      Key,
      cuda::thread_scope_device,
      heddle::hash<Key>,
      heddle::equal_to<Key>,
      heddle::device_allocator,
      Layout>
      map(keys * 2 / 3 + 3);
  int* won;
  CUDA_OK(cudaMallocManaged(&won, (keys + 1) * sizeof *won));
  for (int i = 0; i <= keys; ++i) {
    won[i] = 0;
  }
  by_warps<<<3, dim3(16, 8)>>>(map.ref(), keys, won, won + keys);
  erase_by_warps<<<3, dim3(16, 8)>>>(map.ref(), keys, won);
  CUDA_OK(cudaDeviceSynchronize());
  bool right = won[keys] == 0;
  std::size_t left = 0;
  for (int i = 0; i < keys; ++i) {
    right = right && won[i] == (i % 3 != 2 && i % 2 != 0);
    left += static_cast<std::size_t>(won[i]);
  }
  right = right && map.size() == left;
  std::printf("warps, %s: %s\n", name, right ? "ok" : "FAILED");
  CUDA_OK(cudaFree(won));
}

/// Each block counts how often each residue occurs, then erases the odd ones.
template <class Map> __global__ void count_in_block(int residues, int* wrong) {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  __shared__ Map map;
  const auto block = cg::this_thread_block();
  for (int round = 0; round < 2; ++round) {
    map.clear(block);
    const auto ref = map.ref();
    const int mine = static_cast<int>(threadIdx.x) % residues;
    if (ref.insert_or_apply(static_cast<Key>(mine - 1), [](Value& n) { n += 1; }) ==
        insert_result::full) {
      atomicAdd(wrong, 1);
    }
    block.sync();
    const auto found = ref.find(static_cast<Key>(mine - 1));
    if (!found || static_cast<int>(*found) != static_cast<int>(blockDim.x) / residues) {
      atomicAdd(wrong, 1);
    }
    block.sync();
    if (mine % 2 == 1) {
      ref.erase(static_cast<Key>(mine - 1));
    }
    block.sync();
    if (ref.contains(static_cast<Key>(mine - 1)) != (mine % 2 == 0)) {
      atomicAdd(wrong, 1);
    }
  }
}

template <class Map> void shared(const char* name) {
  int* wrong;
  CUDA_OK(cudaMallocManaged(&wrong, sizeof *wrong));
  *wrong = 0;
  count_in_block<Map><<<4, 128>>>(16, wrong);
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("shared memory, %s: %s\n", name, *wrong == 0 ? "ok" : "FAILED");
  CUDA_OK(cudaFree(wrong));
}

} // namespace

int main() {
  warps<int, heddle::layout::packed8>("packed8");
  warps<long long, heddle::layout::packed16>("packed16");
  warps<long long, heddle::layout::state>("state");
  shared<heddle::shared_map<int, int, 17>>("packed8");
  shared<heddle::shared_map<long long, double, 17>>("state");
  return 0;
}
