// The low byte of a number that was rounded to 16 bits is stored as another byte
//
// Program: ptxas 13.0.88, sm_80 to sm_120, from -O0 to -O3
// Status: confirmed on an H200; gone in 13.1.115 and later
// Reported: no; it is mended
// Rule: PTX ISA, cvt and st: st.u8 stores the low eight bits of its register. ptxas makes one conversion to a byte of
//   cvt.*.{bf16,f16}.f32 and the store behind it, also of plain C++ as here. This program must print 129 192 (0x81,
//   0xc0), as it does here; compiled for a GPU by that ptxas it does not.
//@ command: run
//@ exit: 0
//@ findings: 0
//@ prints: 129 192
#include <cstdio>
#include <cuda_bf16.h>

__global__ void low_bytes(const float* in, unsigned char* out) {
  out[threadIdx.x] = static_cast<unsigned char>(__bfloat16_as_ushort(__float2bfloat16(in[threadIdx.x])));
}

int main() {
  const float in[] = {258.0f, 6.0f}; // bits 0x4381, 0x40c0
  float* numbers;
  unsigned char* bytes;
  cudaMalloc(&numbers, sizeof in);
  cudaMalloc(&bytes, 2);
  cudaMemcpy(numbers, in, sizeof in, cudaMemcpyHostToDevice);
  low_bytes<<<1, 2>>>(numbers, bytes);
  unsigned char out[2];
  cudaMemcpy(out, bytes, 2, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", out[0], out[1]);
}
