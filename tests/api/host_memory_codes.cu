// What the calls about pinned, registered and managed host memory answer, and what kind of memory
// cudaPointerGetAttributes takes each pointer for.
//@ exercises: cudaHostAlloc, cudaHostRegister, cudaMallocManaged, flags, device pointers, pointer attributes
#include "codes.h"

#include <cstring>

static void attributes(const char* what, const void* p) {
  cudaPointerAttributes a;
  std::memset(&a, 0x55, sizeof a);
  const cudaError_t code = cudaPointerGetAttributes(&a, p);
  const auto name = [&](void* q) { return q == nullptr ? "null" : q == p ? "same" : "other"; };
  std::printf("%s: %d, type %d, device %d, device pointer %s, host pointer %s\n", what, code, a.type,
              a.device, name(a.devicePointer), name(a.hostPointer));
}

int main() {
  int on_stack[4];
  int *pinned, *managed, *device, *alias;
  void* p = nullptr;
  unsigned flags = 0;
  CODE(cudaMallocHost(&pinned, 0));
  CODE(cudaMallocHost(&pinned, 64));
  CODE(cudaHostAlloc(&p, 64, 0x100));
  CODE(cudaHostAlloc(&p, 64, cudaHostAllocMapped | cudaHostAllocPortable));
  CODE(cudaHostAlloc(&p, 64, cudaHostAllocWriteCombined));
  CODE(cudaHostGetFlags(&flags, p));
  std::printf("%u\n", flags);
  CODE(cudaHostGetFlags(&flags, pinned));
  std::printf("%u\n", flags);
  CODE(cudaHostGetFlags(&flags, on_stack));
  CODE(cudaHostGetDevicePointer(&alias, pinned, 0));
  std::printf("%d\n", alias == pinned);
  CODE(cudaHostGetDevicePointer(&alias, pinned + 4, 0));
  std::printf("%d\n", alias == pinned + 4);
  CODE(cudaHostGetDevicePointer(&alias, pinned, 1));
  CODE(cudaHostGetDevicePointer(&alias, on_stack, 0));

  static char buffer[65536];
  CODE(cudaHostRegister(buffer, 65536, 0));
  CODE(cudaHostRegister(buffer, 65536, 0));
  CODE(cudaHostRegister(buffer + 4096, 4096, 0));
  CODE(cudaHostGetFlags(&flags, buffer));
  std::printf("%u\n", flags);
  CODE(cudaHostGetDevicePointer(&alias, buffer, 0));
  attributes("registered", buffer + 100);
  CODE(cudaHostUnregister(buffer + 8));
  CODE(cudaHostUnregister(buffer));
  CODE(cudaHostUnregister(buffer));
  CODE(cudaHostUnregister(pinned));
  CODE(cudaHostUnregister(nullptr));
  CODE(cudaHostRegister(nullptr, 4, 0));
  CODE(cudaHostRegister(buffer, 0, 0));
  CODE(cudaHostRegister(buffer, 4, 0x1000));

  CODE(cudaMallocManaged(&managed, 64));
  CODE(cudaMallocManaged(&p, 64, 0));
  CODE(cudaMallocManaged(&p, 64, 7));
  CODE(cudaMallocManaged(&p, 64, cudaMemAttachHost));
  CODE(cudaHostGetFlags(&flags, managed));
  CODE(cudaHostGetDevicePointer(&alias, managed, 0));
  CODE(cudaHostUnregister(managed));
  CODE(cudaMalloc(&device, 256));
  attributes("managed", managed);
  attributes("inside managed", managed + 1);
  attributes("stack", on_stack);
  attributes("null", nullptr);
  attributes("device", device);
  attributes("inside device", device + 1);
  attributes("pinned", pinned);
  attributes("inside pinned", pinned + 3);
  attributes("behind device", device + 64);
  CODE(cudaPointerGetAttributes(nullptr, device));
  CODE(cudaFree(managed));
  CODE(cudaFree(device));
  attributes("freed", device);
  CODE(cudaFreeHost(nullptr));
  CODE(cudaFreeHost(pinned));
}
