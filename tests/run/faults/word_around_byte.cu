// A user's own compare-and-swap of the word around a byte leaves the object, unlike libcu++'s.
//@ exercises: [MEM-BOUNDS] the word around an object of one byte, in the program's own code
//@ flags: -lineinfo
//@ exit: 1
//@ expect: error\[out-of-bounds\]: write of 4 bytes at 0x[0-9a-f]+
//@ expect: word_around_byte.cu:11
#include <cuda_runtime.h>

__global__ void set(unsigned char* p) {
  auto* word = reinterpret_cast<unsigned*>(reinterpret_cast<unsigned long long>(p) & ~3ull);
  atomicOr(word, 1u);
}

int main() {
  unsigned char* p;
  cudaMalloc(&p, 1);
  set<<<1, 1>>>(p);
  cudaDeviceSynchronize();
}
