// Programs whose threads wait for something that need not come; `heddle check` must say so.
//
//   abandoned   a thread that holds a mutex never gives it back
//   unstarted   a block waits for a value that a later block pushes
//   cooperative the same in a cooperative grid, whose blocks are all guaranteed: right
#include "../../../include/heddle/mpmc_queue.cuh"
#include "../../../include/heddle/mutex.cuh"

#include <cstring>

__device__ heddle::mutex<> mutex;
__device__ heddle::mpmc_queue<int, 2> queue;

__global__ void abandoned() {
  mutex.lock();
}
__global__ void unstarted(int* out) {
  if (blockIdx.x == 0) {
    *out = queue.pop();
  } else {
    queue.push(1);
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int* out;
  cudaMalloc(&out, sizeof *out);
  if (std::strcmp(what, "abandoned") == 0) {
    abandoned<<<1, 2>>>();
  } else if (std::strcmp(what, "unstarted") == 0) {
    unstarted<<<2, 1>>>(out);
  } else if (std::strcmp(what, "cooperative") == 0) {
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(unstarted), 2, 1, arguments);
  } else {
    return 2;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
}
