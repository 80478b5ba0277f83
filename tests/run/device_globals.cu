// Global variables on the device: initialisers, addresses of one another, arrays of structures, static variables, templates.
//@ exercises: __device__ initialisers, symbol addresses in initialisers, function-local static variables, variable templates, cudaMemcpy to a symbol address
//@ also-flags: -G
#include "support.h"

struct Node {
  int value;
  const Node* next;
};

__device__ int answer = 42;
__device__ unsigned char pattern[5] = {0xde, 0xad, 0xbe, 0xef, 0x01};
__device__ float matrix[2][3] = {{1.5f, 2.5f, 3.5f}, {-1.0f, 0.0f}};
__device__ double precise = 0.1;
__device__ long long wide[] = {1ll << 40, -1};
__device__ const Node third = {3, nullptr};
__device__ const Node second = {2, &third};
__device__ const Node first = {1, &second};
__device__ int* to_answer = &answer;
__device__ const char* text = "global text";
__device__ int zeroed[1000];
template <class T> __device__ T per_type = T(sizeof(T));
static __device__ int hidden = 5;
__device__ alignas(64) char aligned_block[64];

__device__ int count_calls() {
  __shared__ int in_block; // one per block, not initialised
  static __device__ int calls = 100;
  (void)in_block;
  return atomicAdd(&calls, 1);
}

__global__ void look(long long* out) {
  int k = 0;
  out[k++] = answer;
  out[k++] = pattern[0] << 24 | pattern[1] << 16 | pattern[2] << 8 | pattern[3];
  out[k++] = static_cast<long long>(matrix[0][2] * 10 + matrix[1][0] * 100 + matrix[1][2]);
  out[k++] = static_cast<long long>(precise * 1e17);
  out[k++] = wide[0] + wide[1];
  out[k++] = first.next->next->value;
  out[k++] = ++*to_answer;
  out[k++] = text[7];
  out[k++] = per_type<short> * 10 + per_type<double>;
  out[k++] = hidden;
  out[k++] = reinterpret_cast<unsigned long long>(aligned_block) % 64;
  int sum = 0;
  for (int value : zeroed) {
    sum |= value;
  }
  out[k++] = sum;
  int calls = count_calls();
  out[k++] = calls + count_calls();
}

int main() {
  Buffer<long long> out(13);
  for (int round = 0; round < 2; ++round) {
    look<<<1, 1>>>(out);
    SYNC_OK();
    for (long long value : out.get()) {
      std::printf("%lld ", value);
    }
    std::printf("\n");
  }
  int value = 7;
  CUDA_OK(cudaMemcpyToSymbol(hidden, &value, sizeof value));
  int* address = nullptr;
  CUDA_OK(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), answer));
  CUDA_OK(cudaMemset(address, 0xff, sizeof(int)));
  CUDA_OK(cudaMemcpyFromSymbol(&value, answer, sizeof value));
  std::printf("answer after memset %d\n", value);
  look<<<1, 1>>>(out);
  SYNC_OK();
  std::printf("%lld %lld\n", out.get()[0], out.get()[9]);
  std::size_t size = 0;
  CUDA_OK(cudaGetSymbolSize(&size, zeroed));
  std::printf("size %zu\n", size);
}
