// Atomics of one and two bytes, alone in an allocation: libcu++ makes them of operations on the aligned word that
// holds them, which is larger than the object.
//@ exercises: cuda::atomic_ref of 8 and 16 bits in global, shared and managed memory, at every place of a word
//@ also-flags: -lineinfo
//@ also-flags: -G
#include <cuda/atomic>

#include <cstdio>

template <class T> using Ref = cuda::atomic_ref<T, cuda::thread_scope_device>;

template <class T> __device__ void use(T* p, int* out) {
  Ref<T> a(*p);
  a.fetch_add(1);
  out[0] = a.load();
  T expected = static_cast<T>(out[0]);
  if (a.compare_exchange_strong(expected, static_cast<T>(expected * 2))) {
    out[1] = a.exchange(static_cast<T>(50));
  }
  a.fetch_or(8);
  a.fetch_max(70);
  out[2] = a.fetch_sub(3);
  out[3] = a.load();
  a.store(9);
}

__global__ void bytes(unsigned char* p, short* q, int* out) {
  use(p, out);
  use(q, out + 4);
}

__global__ void in_shared(int* out) {
  __shared__ unsigned char last;
  last = 1;
  use(&last, out);
}

__global__ void of_all(signed char* p, int n) {
  for (int i = threadIdx.x; i < n * 64; i += blockDim.x) {
    Ref<signed char>(p[i % n]).fetch_add(1);
  }
}

int main() {
  unsigned char* p;
  short* q;
  int* out;
  signed char* many;
  cudaMalloc(&p, 1);
  cudaMalloc(&q, 2);
  cudaMallocManaged(&out, 64);
  cudaMallocManaged(&many, 7);
  cudaMemset(p, 3, 1);
  cudaMemset(q, 1, 2);
  cudaMemset(many, 0, 7);
  bytes<<<1, 1>>>(p, q, out);
  in_shared<<<1, 1>>>(out + 8);
  of_all<<<1, 64>>>(many, 7);
  const int error = static_cast<int>(cudaDeviceSynchronize());
  for (int i = 0; i < 12; ++i) {
    std::printf("%d%c", out[i], i % 4 == 3 ? '\n' : ' ');
  }
  for (int i = 0; i < 7; ++i) {
    std::printf("%d ", many[i]);
  }
  unsigned char byte = 0;
  short word = 0;
  cudaMemcpy(&byte, p, 1, cudaMemcpyDefault);
  cudaMemcpy(&word, q, 2, cudaMemcpyDefault);
  std::printf("%d %d %d\n", byte, word, error);
}
