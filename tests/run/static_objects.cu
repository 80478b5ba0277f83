// Objects that outlive main(): their destructors launch kernels, wait and free. The objects of the main thread end
// before those that are static.
//@ exercises: API calls in destructors of static and thread_local objects, cudaStreamPerThread, managed memory
#include "support.h"

#include <thread>

__global__ void add(int* p, int n) {
  if (threadIdx.x < n) {
    p[threadIdx.x] += 1;
  }
}

struct Owner {
  const char* name;
  int* p = nullptr;
  int n = 0;
  explicit Owner(const char* name) : name(name) {}
  void make(int count, bool managed) {
    n = count;
    CUDA_OK(managed ? cudaMallocManaged(&p, n * sizeof(int)) : cudaMalloc(&p, n * sizeof(int)));
    CUDA_OK(cudaMemset(p, 0, n * sizeof(int)));
  }
  ~Owner() {
    if (p != nullptr) {
      add<<<1, 64>>>(p, n);
      add<<<1, 64, 0, cudaStreamPerThread>>>(p, 0);
      CUDA_OK(cudaDeviceSynchronize());
      int first = 0;
      CUDA_OK(cudaMemcpy(&first, p, sizeof first, cudaMemcpyDefault));
      CUDA_OK(cudaFree(p));
      std::printf("%s: %d\n", name, first);
    }
  }
};

Owner global("global");
Owner managed("managed");
thread_local Owner of_thread("of a thread");

int main() {
  global.make(64, false);
  managed.make(64, true);
  of_thread.make(16, false);
  static Owner local("local");
  local.make(32, false);
  std::thread([] {
    of_thread.make(8, false);
    add<<<1, 32, 0, cudaStreamPerThread>>>(of_thread.p, 8);
    CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  }).join();
  add<<<1, 64>>>(global.p, 64);
  add<<<1, 64>>>(managed.p, 64);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < managed.n; ++i) {
    managed.p[i] += 1;
  }
  std::puts("main ends");
}
