// Graph kernels on compressed rows, in several blocks: guards, atomics whose results decide, places from
// counters. In the racy twin two threads write, or read, what only one of them would if no value were out of
// date ([RACE]).
#include "cases.h"

#include <cuda/atomic>
#include <vector>

namespace graphs {
constexpr int N = 200;
struct Graph {
  int *row, *col, *weight;
  int n, m;
};
inline Graph make() {
  std::vector<int> row{0}, col, w;
  unsigned x = 12345;
  for (int v = 0; v < N; ++v) {
    const int deg = 1 + (x >> 16) % 6;
    for (int e = 0; e < deg; ++e) {
      x = x * 1664525u + 1013904223u;
      col.push_back((x >> 8) % N);
      w.push_back(1 + (x >> 20) % 9);
    }
    row.push_back(col.size());
  }
  Graph h;
  h.n = N;
  h.m = col.size();
  h.row = device_memory<int>(row.size());
  h.col = device_memory<int>(col.size());
  h.weight = device_memory<int>(col.size());
  cudaMemcpy(h.row, row.data(), row.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(h.col, col.data(), col.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(h.weight, w.data(), w.size() * 4, cudaMemcpyHostToDevice);
  return h;
}
} // namespace graphs
using graphs::Graph;
#define V                                                                                                    \
  const int v = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
  if (v >= h.n)                                                                                              \
    return;
#define EDGES for (int e = h.row[v]; e < h.row[v + 1]; ++e)
template <class T> __device__ T peek(T *p) { return *static_cast<volatile T *>(p); }
using Ref = cuda::atomic_ref<int, cuda::thread_scope_device>;
__device__ int relaxed(int *p) { return Ref(*p).load(cuda::std::memory_order_relaxed); }
__global__ void fill(int *p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = value;
}
inline int *filled(int n, int value) {
  int *p = device_memory<int>(n);
  fill<<<(n + 63) / 64, 64>>>(p, n, value);
  return p;
}
inline int *iota(int n) {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i;
  int *p = device_memory<int>(n);
  cudaMemcpy(p, x.data(), n * 4, cudaMemcpyHostToDevice);
  return p;
}
#define GRID <<<4, 64>>>

// The largest sum of weights: whoever raises it notes the vertex.
template <bool right> __global__ void kernel_1(Graph h, int *best, int *who) {
  V;
  int mine = 0;
  EDGES mine += h.weight[e];
  if (mine > atomicMax(best, mine)) {
    if (right)
      atomicExch(who, v);
    else
      *who = v;
  }
}
CASE(max_result_decides, "data-race") {
  auto h = graphs::make();
  kernel_1<right> GRID(h, device_memory<int>(1), device_memory<int>(1));
}
// BFS: visited guard and parent write (plain parent by several).
template <bool right> __global__ void kernel_4(Graph h, int *level, int *parent) {
  V;
  if (v % 5 == 0)
    EDGES {
      const int u = h.col[e];
      if (right ? atomicCAS(&level[u], -1, 1) == -1 : peek(&level[u]) == -1) {
        if (!right)
          atomicExch(&level[u], 1);
        parent[u] = v;
      }
    }
}
CASE(bfs_parent, "data-race") {
  auto h = graphs::make();
  h.n = 200;
  kernel_4<right> GRID(h, filled(200, -1), device_memory<int>(200));
}
// SSSP: atomicMin decides, predecessor written plainly.
template <bool right> __global__ void kernel_5(Graph h, int *dist, int *pred) {
  V;
  EDGES {
    const int u = h.col[e];
    const int d = h.weight[e] + v % 13;
    if (atomicMin(&dist[u], d) > d) {
      if (right)
        atomicExch(&pred[u], v);
      else
        pred[u] = v;
    }
  }
}
CASE(sssp_pred, "data-race") {
  auto h = graphs::make();
  kernel_5<right> GRID(h, filled(200, 1 << 20), device_memory<int>(200));
}
// Worklist: counter read, then plain place.
template <bool right> __global__ void kernel_6(Graph h, int *count, int *list) {
  V;
  if (h.row[v + 1] - h.row[v] > 4) {
    int at;
    if (right)
      at = atomicAdd(count, 1);
    else {
      at = relaxed(count);
      Ref(*count).store(at + 1, cuda::std::memory_order_relaxed);
    }
    list[at] = v;
  }
}
CASE(worklist_place, "data-race") {
  auto h = graphs::make();
  kernel_6<right> GRID(h, device_memory<int>(1), device_memory<int>(256));
}
// Union-find path compression.
template <bool right> __global__ void kernel_9(Graph h, int *parent) {
  V;
  EDGES {
    int a = v, p;
    while ((p = relaxed(&parent[a])) != a)
      a = p;
    int b = h.col[e];
    while ((p = relaxed(&parent[b])) != b)
      b = p;
    if (a != b) {
      const int hi = max(a, b), lo = min(a, b);
      if (right)
        atomicMin(&parent[hi], lo);
      else
        parent[hi] = lo;
    }
  }
}
CASE(union_find, "data-race") {
  auto h = graphs::make();
  kernel_9<right> GRID(h, iota(200));
}
// Block leader only: stale guard across blocks, data by other thread behind a barrier.
template <bool right> __global__ void kernel_12(Graph h, int *owner, int *data) {
  __shared__ bool mine;
  if (threadIdx.x == 0)
    mine = right ? atomicCAS(owner, 0, blockIdx.x + 1) == 0 : peek(owner) == 0;
  __syncthreads();
  if (mine && threadIdx.x == 7) {
    data[0] = blockIdx.x;
    __threadfence();
    if (!right)
      atomicExch(owner, blockIdx.x + 1);
  }
}
CASE(owner_through_shared, "data-race") {
  auto h = graphs::make();
  kernel_12<right> GRID(h, device_memory<int>(1), device_memory<int>(1));
}
// K-core: degree falls below k: exactly one removes; off by comparing <=.
template <bool right> __global__ void kernel_13(Graph h, int *degree, int *removed_by) {
  V;
  EDGES {
    const int u = h.col[e];
    const int d = atomicSub(&degree[u], 1);
    if (right ? d == 2 : d <= 2)
      removed_by[u] = v;
  }
}
CASE(kcore, "data-race") {
  auto h = graphs::make();
  kernel_13<right> GRID(h, filled(200, 4), device_memory<int>(200));
}
// Result in a register through a shuffle: one lane decides for the warp.
template <bool right> __global__ void kernel_17(Graph h, int *taken, int *who) {
  int mine = 0;
  if (threadIdx.x % 32 == 0)
    mine = right ? atomicExch(taken, 1) == 0 : peek(taken) == 0;
  mine = __shfl_sync(~0u, mine, 0);
  if (mine && threadIdx.x % 32 == 3) {
    *who = blockIdx.x;
    if (!right)
      atomicExch(taken, 1);
  }
}
CASE(decided_by_shuffle, "data-race") {
  auto h = graphs::make();
  kernel_17<right> GRID(h, device_memory<int>(1), device_memory<int>(1));
}
// The racing write only if two guards were both stale.
template <bool right> __global__ void kernel_20(Graph h, int *a, int *b, int *out) {
  if (threadIdx.x != 5)
    return;
  if (peek(a) == 0) {
    atomicAdd(a, 1);
    if (peek(b) == 0) {
      if (right)
        atomicExch(out, (int)blockIdx.x);
      else
        *out = blockIdx.x;
      __threadfence();
      atomicAdd(b, 1);
    }
  }
}
CASE(two_guards, "data-race") {
  auto h = graphs::make();
  kernel_20<right> GRID(h, device_memory<int>(1), device_memory<int>(1), device_memory<int>(1));
}
// The guard is a struct member; write in a noinline function.
__device__ __noinline__ void note(int *who, int v) { *who = v; }
template <bool right> __global__ void kernel_21(Graph h, int *best, int *who) {
  V;
  EDGES {
    const int w = h.weight[e] * 512 + v;
    if (w > peek(best)) {
      if (right) {
        atomicMax(best, w);
      } else {
        atomicExch(best, w);
        note(who, v);
      }
    }
  }
}
CASE(noinline_write, "data-race") {
  auto h = graphs::make();
  kernel_21<right> GRID(h, device_memory<int>(1), device_memory<int>(1));
}
// Guard read by the whole block through a barrier reduction.
template <bool right> __global__ void kernel_22(Graph h, int *done, int *out) {
  const int any = __syncthreads_or(threadIdx.x == 3 && (right ? atomicExch(done, 1) == 0 : peek(done) == 0));
  if (any && threadIdx.x == 40) {
    *out = blockIdx.x;
    if (!right)
      atomicExch(done, 1);
  }
}
CASE(barrier_or, "data-race") {
  auto h = graphs::make();
  kernel_22<right> GRID(h, device_memory<int>(1), device_memory<int>(1));
}
// Counter: only the first K write, slot of the loser is shared (min).
template <bool right> __global__ void kernel_23(Graph h, int *count, int *list) {
  V;
  EDGES if (h.weight[e] == 5) {
    int at = atomicAdd(count, 1);
    if (at >= 8) {
      if (right)
        break;
      at = 7;
    }
    list[at] = v;
  }
}
CASE(overflow_slot, "data-race") {
  auto h = graphs::make();
  kernel_23<right> GRID(h, device_memory<int>(1), device_memory<int>(8));
}
// 64-bit packed guard by CAS failing.
template <bool right> __global__ void kernel_24(Graph h, unsigned long long *best, int *who) {
  V;
  EDGES {
    const unsigned long long w = (unsigned long long)h.weight[e] << 32 | v;
    unsigned long long old = *(volatile unsigned long long *)best;
    if (w > old) {
      const bool won = atomicCAS(best, old, w) == old;
      if (right ? false : won)
        *who = v;
    }
  }
}
CASE(cas_winner_writes, "data-race") {
  auto h = graphs::make();
  kernel_24<right> GRID(h, device_memory<unsigned long long>(1), device_memory<int>(1));
}
// Two guards of different blocks, each raises what the other reads (Dekker without a proof).
template <bool right> __global__ void kernel_27(Graph h, int *want, int *data) {
  if (threadIdx.x || blockIdx.x > 1)
    return;
  const int me = blockIdx.x;
  Ref(want[me]).store(1, cuda::std::memory_order_relaxed);
  __threadfence();
  if (relaxed(&want[1 - me]) == 0) {
    data[right ? me : 0] = h.n + me;
    __threadfence();
    Ref(want[me]).store(0, cuda::std::memory_order_relaxed);
  }
}
CASE(dekker_with_withdrawal, "data-race") {
  auto h = graphs::make();
  kernel_27<right> GRID(h, device_memory<int>(2), device_memory<int>(2));
}
// The same, reader in block 3.
template <bool right> __global__ void kernel_29(Graph h, int *flag, int *data) {
  if (threadIdx.x)
    return;
  if (blockIdx.x == 0) {
    *data = h.n;
    if (right)
      __threadfence();
    atomicExch(flag, 1);
  } else if (blockIdx.x == 3 && atomicAdd(flag, 0) == 1) {
    __threadfence();
    data[1] = data[0];
  }
}
CASE(late_reader_block3, "data-race") {
  auto h = graphs::make();
  kernel_29<right> GRID(h, device_memory<int>(1), device_memory<int>(2));
}
// --- Conditional nodes ---------------------------------------------------------------------------------------------

__global__ void choose(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 1); }
__global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
  cudaGraphSetConditional(handle, --*left > 0);
}

cudaGraphNode_t conditional_node(
    cudaGraph_t graph,
    cudaGraphConditionalHandle handle,
    cudaGraphConditionalNodeType type,
    const cudaGraphNode_t* after,
    size_t n,
    cudaGraph_t* body
) {
  cudaGraphNodeParams node{};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.handle = handle;
  node.conditional.type = type;
  node.conditional.size = 1;
  cudaGraphNode_t made = nullptr;
#if CUDART_VERSION >= 13000
  must(cudaGraphAddNode(&made, graph, after, nullptr, n, &node));
#else
  must(cudaGraphAddNode(&made, graph, after, n, &node));
#endif
  *body = node.conditional.phGraph_out[0];
  return made;
}

void launch_and_wait(cudaGraph_t graph) {
  cudaGraphExec_t run = nullptr;
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphLaunch(run, 0));
  must(cudaDeviceSynchronize());
}

// Who sets the value has to come before the node.
CASE(value_set_without_an_edge, "RACE-COMMAND") {
  cudaGraph_t graph = nullptr, body = nullptr;
  must(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle{};
  must(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  void* arguments[] = {&handle};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(choose);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphNode_t sets = nullptr;
  must(cudaGraphAddKernelNode(&sets, graph, nullptr, 0, &kernel));
  conditional_node(graph, handle, cudaGraphCondTypeIf, &sets, right ? 1 : 0, &body);
  launch_and_wait(graph);
}

// The body of a loop sets it again, after the node has looked.
CASE(value_set_by_the_body, "RACE-COMMAND") {
  int* left = device_memory<int>(1);
  int three = 3;
  must(cudaMemcpy(left, &three, sizeof three, cudaMemcpyHostToDevice));
  must(cudaDeviceSynchronize());
  cudaGraph_t graph = nullptr, body = nullptr;
  must(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle{};
  must(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  conditional_node(graph, handle, cudaGraphCondTypeWhile, nullptr, 0, &body);
  void* arguments[] = {&handle, &left};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(count_down);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddKernelNode(&node, body, nullptr, 0, &kernel));
  if (!right) {
    void* handle_only[] = {&handle};
    kernel.func = reinterpret_cast<void*>(choose);
    kernel.kernelParams = handle_only;
    must(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  }
  launch_and_wait(graph);
}
