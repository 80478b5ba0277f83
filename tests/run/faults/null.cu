// Follows a list through its null pointer.
//@ exercises: [MEM-NULL]
//@ exit: 1
//@ expect: null\.cu:19:\d+: error\[null\]: read of \d bytes
//@ expect: of kernel \(anonymous namespace\)::sum<<<1,1>>>
#include <cuda_runtime.h>

struct Node {
  int value;
  Node* next;
};

namespace {
__global__ void sum(Node* list, int n, int* out) {
  int total = 0;
  for (int i = 0; i < n; ++i) {
    // The list has fewer elements than the caller says.
    Node* now = list;
    list = now->next;
    total += now->value;
  }
  *out = total;
}
} // namespace

__global__ void build(Node* nodes) {
  nodes[0] = {1, &nodes[1]};
  nodes[1] = {2, nullptr};
}

int main() {
  Node* nodes;
  int* out;
  cudaMalloc(&nodes, 2 * sizeof(Node));
  cudaMalloc(&out, sizeof(int));
  build<<<1, 1>>>(nodes);
  sum<<<1, 1>>>(nodes, 3, out);
  cudaDeviceSynchronize();
}
