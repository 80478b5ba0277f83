// Writes to constant memory by casting its constness away.
//@ exercises: [MEM-CONST]
//@ exit: 1
//@ expect: error\[(read-only|wrong-space)\]: write of 4 bytes
#include <cuda_runtime.h>

__constant__ int table[4];

__global__ void change(int* const* where) { **where = 1; }

int main() {
  int *address, **where;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&address), table);
  cudaMalloc(&where, sizeof address);
  cudaMemcpy(where, &address, sizeof address, cudaMemcpyHostToDevice);
  change<<<1, 1>>>(where);
  cudaDeviceSynchronize();
}
