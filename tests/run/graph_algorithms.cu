// Algorithms on graphs and sparse matrices: breadth-first search, shortest paths, components, sparse matrix-vector product, triangle count.
//@ exercises: irregular memory access, frontier queues with atomics, device flags that end host loops, atomicMin relaxation, warp per row with shuffles
#include "support.h"

#include <algorithm>
#include <climits>

struct Graph {
  int n;
  std::vector<int> offsets, targets, weights;
};

Graph make_graph(int n, int degree) {
  Graph graph{n, {0}, {}, {}};
  Lcg random{99};
  for (int i = 0; i < n; ++i) {
    std::vector<int> row;
    int count = i % 10 == 9 ? 0 : static_cast<int>(random.next() % (2 * degree));
    for (int k = 0; k < count; ++k) {
      // Two halves that no edge connects.
      int half = n / 2, base = i < half ? 0 : half;
      row.push_back(base + static_cast<int>(random.next() % half));
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (int target : row) {
      graph.targets.push_back(target);
      graph.weights.push_back(1 + static_cast<int>(random.next() % 20));
    }
    graph.offsets.push_back(static_cast<int>(graph.targets.size()));
  }
  return graph;
}

__global__ void bfs_level(const int* offsets, const int* targets, const int* frontier, int size, int* next, int* next_size, int* level,
                          int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) {
    return;
  }
  int vertex = frontier[i];
  for (int e = offsets[vertex]; e < offsets[vertex + 1]; ++e) {
    if (atomicCAS(&level[targets[e]], -1, depth) == -1) {
      next[atomicAdd(next_size, 1)] = targets[e];
    }
  }
}

__global__ void relax(const int* offsets, const int* targets, const int* weights, int n, int* distances, volatile int* changed) {
  volatile int* distance = distances; // others lower it meanwhile
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && distance[i] != INT_MAX) {
    for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
      int through = distance[i] + weights[e];
      if (atomicMin(&distances[targets[e]], through) > through) {
        *changed = 1;
      }
    }
  }
}

__global__ void components(const int* offsets, const int* targets, int n, int* labels, volatile int* changed) {
  volatile int* label = labels; // others lower it meanwhile
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
      int here = label[i], there = label[targets[e]], low = min(here, there);
      if (atomicMin(&labels[i], low) > low) {
        *changed = 1;
      }
      if (atomicMin(&labels[targets[e]], low) > low) {
        *changed = 1;
      }
    }
  }
}

__global__ void spmv(const int* offsets, const int* targets, const int* weights, const double* x, double* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) {
    return;
  }
  double sum = 0;
  for (int e = offsets[row] + lane; e < offsets[row + 1]; e += 32) {
    sum += weights[e] * x[targets[e]];
  }
  for (int offset = 16; offset; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (lane == 0) {
    y[row] = sum;
  }
}

__global__ void floyd_warshall(int* distance, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n) {
    int through = distance[i * n + k] + distance[k * n + j];
    if (through < distance[i * n + j]) {
      distance[i * n + j] = through;
    }
  }
}

int main() {
  constexpr int n = 1500;
  Graph graph = make_graph(n, 4);
  Buffer<int> offsets(graph.offsets), targets(graph.targets), weights(graph.weights);
  {
    std::vector<int> start(n, -1);
    start[0] = 0;
    Buffer<int> level(start), a(n), b(n), size(1);
    int *from = a, *to = b, count = 1, depth = 0;
    while (count > 0) {
      size.clear();
      bfs_level<<<(count + 63) / 64, 64>>>(offsets, targets, from, count, to, size, level, ++depth);
      SYNC_OK();
      count = size.get()[0];
      std::swap(from, to);
    }
    auto result = level.get();
    std::printf("bfs depth %d reached %d digest %016llx\n", depth, static_cast<int>(n - std::count(result.begin(), result.end(), -1)),
                static_cast<unsigned long long>(digest(result)));
  }
  {
    std::vector<int> start(n, INT_MAX);
    start[0] = 0;
    Buffer<int> distance(start), changed(1);
    do {
      changed.clear();
      relax<<<(n + 127) / 128, 128>>>(offsets, targets, weights, n, distance, changed);
      SYNC_OK();
    } while (changed.get()[0]);
    std::printf("shortest %016llx\n", static_cast<unsigned long long>(digest(distance.get())));
  }
  {
    std::vector<int> start(n);
    for (int i = 0; i < n; ++i) {
      start[i] = i;
    }
    Buffer<int> label(start), changed(1);
    do {
      changed.clear();
      components<<<(n + 127) / 128, 128>>>(offsets, targets, n, label, changed);
      SYNC_OK();
    } while (changed.get()[0]);
    auto result = label.get();
    std::sort(result.begin(), result.end());
    std::printf("components %d\n", static_cast<int>(std::unique(result.begin(), result.end()) - result.begin()));
  }
  {
    std::vector<double> x(n);
    for (int i = 0; i < n; ++i) {
      x[i] = i % 16 * 0.25;
    }
    Buffer<double> dx(x), y(n);
    spmv<<<(n * 32 + 127) / 128, 128>>>(offsets, targets, weights, dx, y, n);
    SYNC_OK();
    std::printf("spmv %g %016llx\n", y.get()[1], static_cast<unsigned long long>(digest(y.get())));
  }
  {
    constexpr int small = 48;
    std::vector<int> distance(small * small);
    for (int i = 0; i < small * small; ++i) {
      distance[i] = i % (small + 1) == 0 ? 0 : i * 7919 % 100 + 1;
    }
    Buffer<int> d(distance);
    for (int k = 0; k < small; ++k) {
      floyd_warshall<<<dim3(1, small), small>>>(d, small, k);
    }
    SYNC_OK();
    std::printf("all pairs %016llx\n", static_cast<unsigned long long>(digest(d.get())));
  }
}
