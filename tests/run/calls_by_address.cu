// Calls by address of few functions: virtual functions of objects on the device's heap, a table of operators, other ones in some lanes.
//@ exercises: indirect calls that are inlined, objects of each lane in an allocation of its own, new and delete in kernels, rows that end in the middle of a warp
#include "support.h"

#include <cstdio>
#include <vector>

struct Shape {
  __device__ virtual unsigned area() const = 0;
  __device__ virtual void grow(unsigned by) = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  unsigned side;
  __device__ explicit Square(unsigned s) : side(s) {}
  __device__ unsigned area() const override { return side * side; }
  __device__ void grow(unsigned by) override { side += by; }
};
struct Box : Shape {
  unsigned a, b;
  __device__ Box(unsigned x, unsigned y) : a(x), b(y) {}
  __device__ unsigned area() const override { return a * b; }
  __device__ void grow(unsigned by) override { b ^= by; }
};

__global__ void shapes(unsigned* out, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Shape* shape = i % 3 == 0 ? static_cast<Shape*>(new Square(i)) : new Box(i, i + 7);
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round) {
    sum = sum * 5 + shape->area();
    shape->grow(round);
  }
  delete shape;
  out[i] = sum;
}

using Operator = unsigned (*)(unsigned, unsigned);
__device__ unsigned plus(unsigned a, unsigned b) { return a + b; }
__device__ unsigned times(unsigned a, unsigned b) { return a * b; }
__device__ unsigned other(unsigned a, unsigned b) { return b < 3 ? a ^ b : a - b; }
__device__ Operator operators[3] = {plus, times, other};

__global__ void fold(unsigned* out, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = i;
  for (int round = 0; round < rounds; ++round) {
    if (i % 5 != 1) value = operators[(round + i / 8) % 3](value, round + 1);
  }
  out[i] = value;
}

int main() {
  constexpr int count = 200;
  unsigned* out;
  CUDA_OK(cudaMalloc(&out, count * sizeof(unsigned)));
  const auto show = [&](const char* name) {
    std::vector<unsigned> host(count);
    CUDA_OK(cudaMemcpy(host.data(), out, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (unsigned value : host) sum = sum * 31 + value;
    std::printf("%s %u %u %u\n", name, host[0], host[101], sum);
  };
  shapes<<<2, 100>>>(out, 20);
  show("shapes");
  fold<<<2, 100>>>(out, 20);
  show("fold");
}
