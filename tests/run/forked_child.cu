// A child of a process that has initialised CUDA is refused every call that needs a device; a child that comes
// before that is not.
//@ exercises: fork before and after CUDA is initialised, cudaDeviceEnablePeerAccess of the own device
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void store(int* p) { *p = 1; }

template <class F> void in_child(F&& body) {
  std::fflush(stdout);
  if (fork() == 0) {
    body();
    std::exit(0);
  }
  int status = 0;
  wait(&status);
  std::printf("the child ends with %d\n", status);
}
void say(const char* what, cudaError_t error) { std::printf("%s: %s\n", what, cudaGetErrorName(error)); }

int main() {
  int* p = nullptr;
  in_child([&] {
    say("first in the child", cudaMalloc(&p, sizeof *p));
    store<<<1, 1>>>(p);
    say("its kernel", cudaDeviceSynchronize());
  });
  say("in the parent", cudaMalloc(&p, sizeof *p));
  store<<<1, 1>>>(p);
  in_child([&] {
    say("in a later child", cudaMalloc(&p, sizeof *p));
    store<<<1, 1>>>(p);
    say("its launch", cudaGetLastError());
    say("its wait", cudaDeviceSynchronize());
  });
  say("again in the parent", cudaDeviceSynchronize());
  say("access to itself", cudaDeviceEnablePeerAccess(0, 0));
}
