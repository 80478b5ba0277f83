// The depth of a tree's root is counted on from a value that nobody has written
//
// Program: LightGBM 4.7.0, src/io/cuda/cuda_tree.cu and cuda_tree.cpp, cuda_leaf_depth_
// Status: confirmed; a pull request is open (LightGBM 7445, "Initialize root node depth", September 2026)
// Reported: by others; not by us
// Rule: MEM-INIT. Memory of cudaMalloc has no contents; the first split adds 1 to entry 0.
//@ command: run --uninitialised
//@ exit: 1
//@ findings: 1
//@ expect: error\[uninitialised\]
#include <cuda_runtime.h>

__global__ void split(int leaf, int fresh, int* depth) {
  depth[fresh] = depth[leaf] + 1;
}

int main() {
  int* depth;
  cudaMalloc(&depth, 31 * sizeof(int));
  split<<<1, 1>>>(0, 1, depth); // depth[0] = 0 is missing before
  return cudaDeviceSynchronize();
}
