// Graphs and dynamic programming: breadth-first search with frontiers, Bellman-Ford, PageRank, connected components, Floyd-Warshall, sequence alignment, triangle counting.
//@ exercises: warp-aggregated appends, atomicMin/atomicCAS/atomicExch, flags read back each round, wavefronts in shared memory, float atomics, __ballot_sync, __ffs
#include "support.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string>

struct Graph {
  std::vector<int> start, to;
};

__global__ void bfs(const int* start, const int* to, const int* frontier, int size, int* next, int* next_size, int* level, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = 0, end = 0;
  if (i < size) begin = start[frontier[i]], end = start[frontier[i] + 1];
  // All lanes loop as long as one has edges left; those that found a vertex append it together.
  while (__any_sync(~0u, begin < end)) {
    bool found = false;
    int v = 0;
    if (begin < end) {
      v = to[begin++];
      found = atomicCAS(&level[v], -1, depth) == -1;
    }
    unsigned mask = __ballot_sync(~0u, found);
    if (mask != 0) {
      int lane = threadIdx.x % 32, leader = __ffs(mask) - 1, base = 0;
      if (lane == leader) base = atomicAdd(next_size, __popc(mask));
      base = __shfl_sync(~0u, base, leader);
      if (found) next[base + __popc(mask & ((1u << lane) - 1))] = v;
    }
  }
}

__global__ void relax(const int* start, const int* to, const int* weight, int n, int* distances, volatile bool* changed) {
  volatile int* distance = distances; // others lower it meanwhile
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n || distance[u] == 1 << 29) return;
  for (int k = start[u]; k < start[u + 1]; ++k) {
    int d = distance[u] + weight[k];
    if (d < atomicMin(&distances[to[k]], d)) *changed = true;
  }
}

__global__ void hook(const int* start, const int* to, int n, int* parents, int* changed) {
  volatile int* parent = parents;
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  for (int k = start[u]; k < start[u + 1]; ++k) {
    int a = parent[u], b = parent[to[k]];
    if (a < b && atomicMin(&parents[b], a) > a) atomicExch(changed, 1);
    if (b < a && atomicMin(&parents[a], b) > b) atomicExch(changed, 1);
  }
}
__global__ void compress(int n, volatile int* parent) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u < n)
    while (parent[u] != parent[parent[u]]) parent[u] = parent[parent[u]];
}

__global__ void rank_step(const int* start, const int* to, int n, const float* rank, float* next) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  float share = 0.85f * rank[u] / (start[u + 1] - start[u]);
  for (int k = start[u]; k < start[u + 1]; ++k) atomicAdd(&next[to[k]], share);
}

__global__ void floyd(int* d, int n) {
  extern __shared__ int row[];
  for (int k = 0; k < n; ++k) {
    for (int j = threadIdx.x; j < n; j += blockDim.x) row[j] = d[k * n + j];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      for (int j = 0; j < n; ++j) d[i * n + j] = min(d[i * n + j], d[i * n + k] + row[j]);
    __syncthreads();
  }
}

// Needleman-Wunsch: antidiagonals of the score matrix.
__global__ void align(const char* a, const char* b, int n, int* score) {
  for (int diagonal = 2; diagonal <= 2 * n; ++diagonal) {
    int i = threadIdx.x + 1, j = diagonal - i;
    if (i <= n && j >= 1 && j <= n) {
      int w = n + 1;
      int same = score[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1);
      score[i * w + j] = max(same, max(score[(i - 1) * w + j], score[i * w + j - 1]) - 1);
    }
    __syncthreads();
  }
}

__global__ void triangles(const int* start, const int* to, int n, unsigned long long* count) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  unsigned found = 0;
  for (int k = start[u]; k < start[u + 1]; ++k) {
    int v = to[k];
    if (v <= u) continue;
    int i = start[u], j = start[v];
    while (i < start[u + 1] && j < start[v + 1]) {
      if (to[i] == to[j]) found += to[i] > v, ++i, ++j;
      else if (to[i] < to[j]) ++i;
      else ++j;
    }
  }
  if (found) atomicAdd(count, static_cast<unsigned long long>(found));
}

Graph make(int n, int degree, bool both) {
  std::vector<std::vector<int>> lists(n);
  Lcg random{11};
  for (int u = 0; u < n; ++u)
    for (int k = 0; k < degree; ++k) {
      int v = static_cast<int>(random.next() % n);
      if (v == u || (n > 500 && v / 300 != u / 300)) v = (u / 300) * 300 + (u + 1) % 300;
      v = std::min(v, n - 1);
      if (v == u) continue;
      lists[u].push_back(v);
      if (both) lists[v].push_back(u);
    }
  Graph g;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    g.start.push_back(static_cast<int>(g.to.size()));
    g.to.insert(g.to.end(), list.begin(), list.end());
  }
  g.start.push_back(static_cast<int>(g.to.size()));
  return g;
}

int main() {
  const int n = 900;
  Graph g = make(n, 3, true);
  Buffer<int> start(g.start), to(g.to), level(std::vector<int>(n, -1)), frontier(n), next(n), size(1);
  std::vector<int> first{0};
  frontier.put(first);
  int one = 0;
  CUDA_OK(cudaMemcpy(level.data(), &one, 4, cudaMemcpyHostToDevice));
  int count = 1, depth = 0;
  while (count > 0) {
    size.clear();
    bfs<<<(count + 63) / 64, 64>>>(start, to, depth % 2 ? next : frontier, count, depth % 2 ? frontier : next, size, level, depth + 1);
    ++depth;
    count = size.get()[0];
  }
  std::vector<int> expected(n, -1);
  std::queue<int> queue({0});
  expected[0] = 0;
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop();
    for (int k = g.start[u]; k < g.start[u + 1]; ++k)
      if (expected[g.to[k]] < 0) expected[g.to[k]] = expected[u] + 1, queue.push(g.to[k]);
  }
  std::printf("bfs %s, depth %d\n", level.get() == expected ? "ok" : "wrong", depth);

  std::vector<int> weights(g.to.size());
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 1 + static_cast<int>(i * 37 % 17);
  Buffer<int> weight(weights);
  std::vector<int> far(n, 1 << 29);
  far[0] = 0;
  Buffer<int> distance(far);
  bool* changed;
  CUDA_OK(cudaMallocManaged(&changed, sizeof(bool)));
  do {
    *changed = false;
    relax<<<8, 128>>>(start, to, weight, n, distance, changed);
    SYNC_OK();
  } while (*changed);
  CUDA_OK(cudaFree(changed));
  auto d = distance.get();
  long long sum = 0;
  for (int v : d) sum += v == 1 << 29 ? 0 : v;
  std::printf("bellman-ford %lld\n", sum);

  std::vector<int> self(n);
  for (int i = 0; i < n; ++i) self[i] = i;
  Buffer<int> parent(self), flag(1);
  do {
    flag.clear();
    hook<<<8, 128>>>(start, to, n, parent, flag);
    compress<<<8, 128>>>(n, parent);
  } while (flag.get()[0]);
  auto roots = parent.get();
  std::sort(roots.begin(), roots.end());
  std::printf("components %ld\n", std::unique(roots.begin(), roots.end()) - roots.begin());

  Buffer<float> rank(std::vector<float>(n, 1.0f / n)), other(n);
  for (int step = 0; step < 20; ++step) {
    std::vector<float> base(n, 0.15f / n);
    (step % 2 ? rank : other).put(base);
    rank_step<<<8, 128>>>(start, to, n, step % 2 ? other : rank, step % 2 ? rank : other);
  }
  SYNC_OK();
  double total = 0;
  for (float f : rank.get()) total += f;
  std::printf("pagerank %s\n", std::abs(total - 1) < 1e-3 ? "ok" : "wrong");

  const int m = 48;
  Graph h = make(m, 2, false);
  std::vector<int> matrix(m * m, 1000);
  for (int u = 0; u < m; ++u)
    for (int k = h.start[u]; k < h.start[u + 1]; ++k) matrix[u * m + h.to[k]] = 1 + (u + k) % 5;
  Buffer<int> dm(matrix);
  floyd<<<1, 64, m * sizeof(int)>>>(dm, m);
  SYNC_OK();
  std::printf("floyd %016llx\n", (unsigned long long)digest(dm.get()));

  std::string a, b;
  Lcg random{23};
  for (int i = 0; i < 100; ++i) a += "ACGT"[random.next() % 4], b += "ACGT"[(i % 3 ? a.back() : random.next()) % 4];
  Buffer<char> da(std::vector<char>(a.begin(), a.end())), db(std::vector<char>(b.begin(), b.end()));
  std::vector<int> border(101 * 101);
  for (int i = 0; i <= 100; ++i) border[i] = border[i * 101] = -i;
  Buffer<int> score(border);
  align<<<1, 128>>>(da, db, 100, score);
  SYNC_OK();
  auto table = border;
  for (int i = 1; i <= 100; ++i)
    for (int j = 1; j <= 100; ++j)
      table[i * 101 + j] = std::max(table[(i - 1) * 101 + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1), std::max(table[(i - 1) * 101 + j], table[i * 101 + j - 1]) - 1);
  std::printf("alignment %s, %d\n", score.get() == table ? "ok" : "wrong", table.back());
  Buffer<unsigned long long> found(1);
  triangles<<<8, 128>>>(start, to, n, found);
  std::printf("triangles %llu\n", found.get()[0]);
}
