// Frees of what cannot be freed so: the code is that of a real device, and each is a finding.
//@ exercises: MEM.FREE on the host: double frees, interior pointers, the wrong call for the memory
//@ exit: 1
//@ expect: error\[invalid-free\]: cudaFree of
//@ expect: byte 4 of allocation #1, 256 bytes
//@ expect: error\[double-free\]: cudaFree of
//@ expect: error\[invalid-free\]: cudaFreeHost of
#include "codes.h"

int main() {
  int on_stack[4];
  int *device, *pinned, *managed;
  CODE(cudaMalloc(&device, 256));
  CODE(cudaFree(device + 1));
  CODE(cudaFree(on_stack));
  CODE(cudaFree(reinterpret_cast<void*>(0x1234)));
  CODE(cudaFreeHost(device));
  CODE(cudaFree(device));
  CODE(cudaFree(device));
  CODE(cudaFreeHost(on_stack));
  CODE(cudaMallocHost(&pinned, 64));
  CODE(cudaFree(pinned));
  CODE(cudaFreeHost(pinned + 1));
  CODE(cudaFreeHost(pinned));
  CODE(cudaFreeHost(pinned));
  CODE(cudaMallocManaged(&managed, 64));
  CODE(cudaFreeHost(managed));
  CODE(cudaFree(managed));
}
