// A program of two units linked on the device: variables, constants, functions, function pointers, virtual functions across them.
//@ exercises: -rdc=true, several PTX modules linked, extern __device__/__constant__, calls and recursion across units, static functions of equal names, kernels of another unit, shared memory of a called function
//@ flags: -rdc=true
//@ sources: parts/separate_other.cu
//@ also-flags: -rdc=true -G
#include "support.h"

#include "parts/separate.h"

static __device__ int hidden = 5;
static __device__ int helper(int x) { return x * 100 + hidden; }

__device__ unsigned long long factorial(unsigned n) { return n < 2 ? 1 : factorial_step(n); }

__global__ void use(long long* out) {
  int t = threadIdx.x;
  atomicAdd(&global_counter, t);
  global_table[t % 16] = global_table[t % 16] * 2 + helper(t % 16) % 7 * 0;
  __syncthreads();
  float values[6] = {1, 2, 3, 4, 5, static_cast<float>(t)};
  long long* row = out + t * 6;
  row[0] = triple(t) * 1000 + helper(t);
  row[1] = static_cast<long long>(factorial(t % 13));
  row[2] = chosen(t);
  row[3] = installed->apply(t);
  row[4] = static_cast<long long>(weigh(values, 6) * 10);
  row[5] = block_sum(t * t);
}

int main() {
  Buffer<long long> out(16 * 6);
  install<<<1, 1>>>(3);
  use<<<1, 16>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int t : {0, 5, 12, 15}) {
    for (int k = 0; k < 6; ++k) {
      std::printf("%lld ", result[t * 6 + k]);
    }
    std::printf("\n");
  }
  int counter = 0, table[16];
  CUDA_OK(cudaMemcpyFromSymbol(&counter, global_counter, sizeof counter));
  CUDA_OK(cudaMemcpyFromSymbol(table, global_table, sizeof table));
  float one = 100;
  CUDA_OK(cudaMemcpyToSymbol(weights, &one, sizeof one, sizeof(float)));
  std::printf("counter %d table %d %d host %d\n", counter, table[3], table[4], host_part(41));
  use<<<1, 16>>>(out);
  SYNC_OK();
  std::printf("new weight %lld, digest %016llx\n", out.get()[4], static_cast<unsigned long long>(digest(out.get())));
}
