// What calls wait for ([API-WAIT]), and what follows for others.
#include "cases.h"

#include <cuda_runtime.h>

#include <cstdlib>

using Flag = SystemAtomic<int>;

__device__ void spin(Flag* flag) {
  while (flag->load(memory_order_acquire) == 0) {
  }
}
__global__ void await(Flag* flag) { spin(flag); }
__global__ void set(Flag* flag) { flag->store(1, memory_order_release); }
__global__ void put(int* to, int value) { *to = value; }
__global__ void look(Flag* words) {
  if (words[1].load() == 1 && words[0].load() == 0) {
    spin(words + 2);
  }
}

static cudaStream_t stream() {
  cudaStream_t s = nullptr;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  return s;
}
static Flag* flags(int count) {
  Flag* p = nullptr;
  cudaMalloc(&p, count * sizeof(Flag));
  cudaMemset(p, 0, count * sizeof(Flag));
  cudaDeviceSynchronize();
  return p;
}
static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

// A copy from pageable memory returns when the source is staged. A kernel that nothing orders with the rest of it may
// keep a device from carrying that out.
//@ case: staged-copy
//@ verdict: may-hang
//@ finding: starvation API
//@ case: staged-copy-and-blocking-stream
//@ verdict: terminates
//@ case: copy-from-pinned-memory
//@ verdict: terminates
enum class Source { Pageable, Blocking, Pinned };
template <Source From> static int copy(Setup) {
  Flag* flag = flags(1);
  int local = 1;
  int* one = &local;
  if (From == Source::Pinned) {
    cudaMallocHost(&one, sizeof *one);
    *one = 1;
  }
  cudaStream_t s = stream();
  if (From == Source::Blocking) {
    cudaStreamCreate(&s);
  }
  cudaMemcpy(flag, one, sizeof *one, cudaMemcpyHostToDevice);
  await<<<1, 1, 0, s>>>(flag);
  return finish();
}

// Calls that may wait, and need not: who relies on the one is wrong, and who relies on the other.
//@ case: free-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-without-work
//@ verdict: terminates
//@ case: free-managed-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-managed-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-managed-without-work
//@ verdict: terminates
//@ case: free-host-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-host-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-host-without-work
//@ verdict: terminates
//@ case: free-array-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-array-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-array-without-work
//@ verdict: terminates
//@ case: free-mipmapped-array-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-mipmapped-array-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: free-mipmapped-array-without-work
//@ verdict: terminates
//@ case: copy-to-pageable-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: copy-to-pageable-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: copy-to-pageable-without-work
//@ verdict: terminates
//@ case: set-of-managed-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: set-of-managed-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: set-of-managed-without-work
//@ verdict: terminates
//@ case: unregister-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: unregister-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: unregister-without-work
//@ verdict: terminates
//@ case: library-unload-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: library-unload-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: library-unload-without-work
//@ verdict: terminates
//@ case: copy-from-pageable-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: copy-from-pageable-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: stack-limit-has-waited
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: stack-limit-has-not-waited
//@ verdict: defect
//@ finding: exit-status EXIT
enum class May { Free, FreeManaged, FreeHost, FreeArray, FreeMipmapped, Copy, CopyFrom, Set, Unregister, Library, Limit };
constexpr const char* nothing_much = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
enum class Relies { OnWait, OnNone, OnNeither };
template <May Call, Relies On> static int may_wait(Setup) {
  Flag* flag = nullptr;
  cudaMallocHost(&flag, sizeof *flag);
  flag->store(0);
  void* memory = nullptr;
  int local = 0;
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmapped = nullptr;
  cudaLibrary_t library = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  if (Call == May::Free || Call == May::Copy) {
    cudaMalloc(&memory, sizeof local);
    cudaMemset(memory, 0, sizeof local);
  } else if (Call == May::FreeManaged || Call == May::Set) {
    cudaMallocManaged(&memory, sizeof local);
  } else if (Call == May::FreeHost) {
    cudaMallocHost(&memory, sizeof local);
  } else if (Call == May::FreeArray) {
    cudaMallocArray(&array, &format, 4, 4);
  } else if (Call == May::CopyFrom) {
    cudaMalloc(&memory, sizeof local);
  } else if (Call == May::Library) {
    cudaLibraryLoadData(&library, nothing_much, nullptr, nullptr, 0, nullptr, nullptr, 0);
  } else if (Call == May::FreeMipmapped) {
    cudaMallocMipmappedArray(&mipmapped, &format, cudaExtent{4, 4, 0}, 1);
  } else if (Call == May::Unregister) {
    memory = std::aligned_alloc(4096, 4096);
    cudaHostRegister(memory, 4096, 0);
  }
  set<<<1, 1>>>(flag);
  if (On == Relies::OnNeither) {
    cudaDeviceSynchronize();
  }
  if (Call == May::Free || Call == May::FreeManaged) {
    cudaFree(memory);
  } else if (Call == May::FreeHost) {
    cudaFreeHost(memory);
  } else if (Call == May::FreeArray) {
    cudaFreeArray(array);
  } else if (Call == May::FreeMipmapped) {
    cudaFreeMipmappedArray(mipmapped);
  } else if (Call == May::Copy) {
    cudaMemcpyAsync(&local, memory, sizeof local, cudaMemcpyDeviceToHost, 0);
  } else if (Call == May::Set) {
    cudaMemset(memory, 0, sizeof local);
  } else if (Call == May::CopyFrom) {
    cudaMemcpyAsync(memory, &local, sizeof local, cudaMemcpyHostToDevice, 0);
  } else if (Call == May::Library) {
    cudaLibraryUnload(library);
  } else if (Call == May::Limit) {
    cudaDeviceSetLimit(cudaLimitStackSize, 4096);
  } else {
    cudaHostUnregister(memory);
  }
  const bool seen = flag->load() == 1;
  const bool wrong = On == Relies::OnWait ? !seen : On == Relies::OnNone && seen;
  const int error = finish();
  return error != 0 ? error : wrong ? 3 : 0;
}

// What a kernel still writes stays where it is, though the host has given it back to the heap.
//@ case: unregistered-and-freed
//@ verdict: terminates
//@ warning: use-after-free API-WAIT
// A second registration waits for the end of the first one: another order is possible, and left out.
//@ case: unregistered-and-registered
//@ verdict: unknown
//@ warning: use-after-free API-WAIT
//@ incomplete: cudaHostRegister of pages that devices still use
//@ coverage: bounded
template <bool Again> static int unregistered(Setup) {
  int* memory = static_cast<int*>(std::aligned_alloc(4096, 4096));
  cudaHostRegister(memory, 4096, 0);
  put<<<1, 1>>>(memory, 7);
  int error = cudaHostUnregister(memory);
  if (Again) {
    error += cudaHostRegister(memory, 4096, 0) + cudaDeviceSynchronize() + (memory[0] != 7) + cudaHostUnregister(memory);
  }
  std::free(memory);
  int* other = static_cast<int*>(std::aligned_alloc(4096, 4096));
  *other = 1;
  const int status = finish();
  error += *other != 1;
  std::free(other);
  return error + status;
}

// It may wait forever, too: what ends the kernel comes behind it. No call that may wait is prompt.
//@ case: free-before-telling
//@ verdict: may-hang
//@ finding: starvation API
//@ case: free-before-telling prompt
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: starvation API
//@ case: free-behind-telling
//@ flags: --api=prompt
//@ verdict: terminates
template <bool Before> static int free_and_tell(Setup) {
  Flag* flag = nullptr;
  cudaMallocHost(&flag, sizeof *flag);
  flag->store(0);
  int* other = nullptr;
  cudaMalloc(&other, sizeof *other);
  await<<<1, 1>>>(flag);
  if (Before) {
    cudaFree(other);
  }
  flag->store(1, memory_order_release);
  if (!Before) {
    cudaFree(other);
  }
  return finish();
}

// Pageable memory that a copy may still write, read by plain host code.
//@ case: plain-read-of-new
//@ verdict: defect
//@ finding: exit-status EXIT
//@ coverage: bounded
//@ case: plain-read-of-old
//@ verdict: defect
//@ finding: exit-status EXIT
//@ coverage: bounded
//@ case: plain-read-behind-wait
//@ verdict: terminates
enum class Reads { New, Old, Ordered };
template <Reads What> static int read_copy(Setup) {
  static int local;
  Flag* flag = flags(1);
  set<<<1, 1>>>(flag);
  cudaMemcpyAsync(&local, flag, sizeof local, cudaMemcpyDeviceToHost, 0);
  if (What == Reads::Ordered) {
    cudaDeviceSynchronize();
  }
  const int seen = local;
  const int error = finish();
  return error != 0 ? error : seen == (What == Reads::Old ? 0 : 1) ? 0 : 3;
}

// What is freed stays for work that is under way.
//@ case: freed-in-use
//@ verdict: terminates
//@ case: freed-in-use-by-several
//@ verdict: terminates
template <bool Several> static int freed_in_use(Setup) {
  Flag* flag = flags(1);
  cudaStream_t s = stream(), t = stream();
  set<<<1, 1, 0, s>>>(flag);
  if (Several) {
    set<<<1, 1, 0, t>>>(flag);
  }
  cudaFree(flag);
  return finish();
}

// The words of one copy come in no order; two copies of one stream come one after the other.
//@ case: words-of-one-copy
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: words-of-two-copies
//@ verdict: terminates
template <bool One> static int words(Setup) {
  Flag* words = flags(3);
  int* host = nullptr;
  cudaMallocHost(&host, 2 * sizeof *host);
  host[0] = host[1] = 1;
  cudaStream_t s = stream(), t = stream();
  if (One) {
    cudaMemcpyAsync(words, host, 2 * sizeof *host, cudaMemcpyHostToDevice, s);
  } else {
    cudaMemcpyAsync(words, host, sizeof *host, cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(words + 1, host + 1, sizeof *host, cudaMemcpyHostToDevice, s);
  }
  look<<<1, 1, 0, t>>>(words);
  return finish();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"staged-copy", copy<Source::Pageable>},
      {"staged-copy-and-blocking-stream", copy<Source::Blocking>},
      {"copy-from-pinned-memory", copy<Source::Pinned>},
      {"free-has-waited", may_wait<May::Free, Relies::OnWait>},
      {"free-has-not-waited", may_wait<May::Free, Relies::OnNone>},
      {"free-without-work", may_wait<May::Free, Relies::OnNeither>},
      {"free-managed-has-waited", may_wait<May::FreeManaged, Relies::OnWait>},
      {"free-managed-has-not-waited", may_wait<May::FreeManaged, Relies::OnNone>},
      {"free-managed-without-work", may_wait<May::FreeManaged, Relies::OnNeither>},
      {"free-host-has-waited", may_wait<May::FreeHost, Relies::OnWait>},
      {"free-host-has-not-waited", may_wait<May::FreeHost, Relies::OnNone>},
      {"free-host-without-work", may_wait<May::FreeHost, Relies::OnNeither>},
      {"free-array-has-waited", may_wait<May::FreeArray, Relies::OnWait>},
      {"free-array-has-not-waited", may_wait<May::FreeArray, Relies::OnNone>},
      {"free-array-without-work", may_wait<May::FreeArray, Relies::OnNeither>},
      {"free-mipmapped-array-has-waited", may_wait<May::FreeMipmapped, Relies::OnWait>},
      {"free-mipmapped-array-has-not-waited", may_wait<May::FreeMipmapped, Relies::OnNone>},
      {"free-mipmapped-array-without-work", may_wait<May::FreeMipmapped, Relies::OnNeither>},
      {"copy-to-pageable-has-waited", may_wait<May::Copy, Relies::OnWait>},
      {"copy-to-pageable-has-not-waited", may_wait<May::Copy, Relies::OnNone>},
      {"copy-to-pageable-without-work", may_wait<May::Copy, Relies::OnNeither>},
      {"set-of-managed-has-waited", may_wait<May::Set, Relies::OnWait>},
      {"set-of-managed-has-not-waited", may_wait<May::Set, Relies::OnNone>},
      {"set-of-managed-without-work", may_wait<May::Set, Relies::OnNeither>},
      {"unregister-has-waited", may_wait<May::Unregister, Relies::OnWait>},
      {"unregister-has-not-waited", may_wait<May::Unregister, Relies::OnNone>},
      {"unregister-without-work", may_wait<May::Unregister, Relies::OnNeither>},
      {"library-unload-has-waited", may_wait<May::Library, Relies::OnWait>},
      {"library-unload-has-not-waited", may_wait<May::Library, Relies::OnNone>},
      {"library-unload-without-work", may_wait<May::Library, Relies::OnNeither>},
      {"copy-from-pageable-has-waited", may_wait<May::CopyFrom, Relies::OnWait>},
      {"copy-from-pageable-has-not-waited", may_wait<May::CopyFrom, Relies::OnNone>},
      {"stack-limit-has-waited", may_wait<May::Limit, Relies::OnWait>},
      {"stack-limit-has-not-waited", may_wait<May::Limit, Relies::OnNone>},
      {"unregistered-and-freed", unregistered<false>},
      {"unregistered-and-registered", unregistered<true>},
      {"free-before-telling", free_and_tell<true>},
      {"free-behind-telling", free_and_tell<false>},
      {"plain-read-of-new", read_copy<Reads::New>},
      {"plain-read-of-old", read_copy<Reads::Old>},
      {"plain-read-behind-wait", read_copy<Reads::Ordered>},
      {"freed-in-use", freed_in_use<false>},
      {"freed-in-use-by-several", freed_in_use<true>},
      {"words-of-one-copy", words<true>},
      {"words-of-two-copies", words<false>},
  });
}
