// The host waits in each of the ways that count for it: it yields [HSTEP.2], prints [HSTEP.3], reads a
// volatile object [HSTEP.4] or an atomic one [HSTEP.5]. What makes the kernel start is the repeated
// query ([QUERY]); then the host ends [HSTEP.1].
//@ revisions: yield print volatile atomic
//@[yield] program-args: y
//@[print] program-args: p
//@[volatile] program-args: v
//@[atomic] program-args: a
#include <atomic>
#include <cstdio>
#include <thread>

__global__ void raise(int* flag) {
  *static_cast<volatile int*>(flag) = 1;
}

int main(int, char** arguments) {
  int* flag = nullptr;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  raise<<<1, 1>>>(flag);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    switch (arguments[1][0]) {
    case 'y':
      std::this_thread::yield();
      break;
    case 'p':
      std::printf("waiting\n");
      break;
    case 'v':
      (void)*static_cast<volatile int*>(flag);
      break;
    default:
      (void)reinterpret_cast<std::atomic<int>*>(flag)->load();
      break;
    }
  }
  return 0;
}
