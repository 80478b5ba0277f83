// Which kinds of cudaMemcpy are accepted between which kinds of memory: only pageable memory is asked where it is.
//@ exercises: cudaMemcpy with every cudaMemcpyKind, pageable, pinned, registered, managed and device memory, what can be shared with other processes
#include "support.h"

#include <cstring>

int main() {
  void *device, *other, *pinned, *managed;
  CUDA_OK(cudaMalloc(&device, 64));
  CUDA_OK(cudaMalloc(&other, 64));
  CUDA_OK(cudaMallocHost(&pinned, 64));
  CUDA_OK(cudaMallocManaged(&managed, 64));
  void* const pageable = std::malloc(64);
  void* const registered = std::aligned_alloc(4096, 4096);
  CUDA_OK(cudaHostRegister(registered, 4096, 0));
  for (void* p : {pageable, registered, pinned, managed}) {
    std::memset(p, 1, 64);
  }
  const struct {
    const char* name;
    void *to, *from;
  } kinds_of_memory[] = {
      {"pageable", pageable, pageable},       {"pinned", pinned, pinned}, {"registered", registered, registered},
      {"managed", managed, managed},          {"device", device, other},
  };
  for (const auto& to : kinds_of_memory) {
    for (const auto& from : kinds_of_memory) {
      std::printf("%-10s from %-10s", to.name, from.name);
      for (int kind = cudaMemcpyHostToHost; kind <= cudaMemcpyDefault; ++kind) {
        const cudaError_t result = cudaMemcpy(to.to, from.from, 16, static_cast<cudaMemcpyKind>(kind));
        std::printf(" %d", static_cast<int>(result));
        CUDA_OK(cudaDeviceSynchronize());
        cudaGetLastError();
      }
      std::printf("\n");
    }
  }

  cudaIpcMemHandle_t handle;
  void* opened = nullptr;
  std::printf("a handle of device memory: %d,", cudaIpcGetMemHandle(&handle, device));
  std::printf(" opened by its owner: %d\n", cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
  std::printf("of managed memory: %d, of pinned memory: %d\n", cudaIpcGetMemHandle(&handle, managed), cudaIpcGetMemHandle(&handle, pinned));
  std::printf("what nobody opened is closed: %d\n", cudaIpcCloseMemHandle(device));
  cudaEvent_t event;
  CUDA_OK(cudaEventCreate(&event));
  cudaIpcEventHandle_t event_handle;
  std::printf("an event that is not for that: %d\n", cudaIpcGetEventHandle(&event_handle, event));
}
