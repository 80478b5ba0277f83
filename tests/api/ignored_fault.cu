// A program that never looks at an error code: what it printed stays, and its exit code says defect.
//@ exercises: the exit code replaced at exit, after the program's own handlers and destructors
//@ exit: 1
//@ expect: error\[out-of-bounds\]
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

struct Last {
  ~Last() { std::printf("destructor\n"); }
} last;

__global__ void wrong(int* p) { p[1000] = 1; }

int main() {
  std::atexit([] { std::printf("handler\n"); });
  int* p;
  cudaMalloc(&p, 16);
  wrong<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  std::printf("main"); // no newline: flushed at exit
}
