// Host threads that look at the words of a copy while it is under way ([RED-COPIES]): the words of one copy come in no
// order, so the one may be there and the other not.
//@ nvcc: -std=c++20
#include "cases.h"

#include <cuda_runtime.h>

#include <atomic>
#include <semaphore>
#include <thread>

enum class By { OneCopy, TwoCopies };

static void hang() {
  std::binary_semaphore never(0);
  never.acquire();
}
static unsigned word(unsigned& at) { return std::atomic_ref(at).load(); }

/// A copy of two words, or a copy of the second one and then of the first one.
static void copy(By by, unsigned* to) {
  unsigned* from = nullptr;
  const unsigned ones[2] = {1, 1};
  cudaMalloc(&from, sizeof ones);
  cudaMemcpy(from, ones, sizeof ones, cudaMemcpyHostToDevice);
  cudaDeviceSynchronize();
  cudaStream_t s = nullptr;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  if (by == By::OneCopy) {
    cudaMemcpyAsync(to, from, sizeof ones, cudaMemcpyDeviceToHost, s);
  } else {
    cudaMemcpyAsync(to + 1, from + 1, sizeof *ones, cudaMemcpyDeviceToHost, s);
    cudaMemcpyAsync(to, from, sizeof *ones, cudaMemcpyDeviceToHost, s);
  }
  cudaStreamSynchronize(s);
}

// The first read begins before the copy, and reaches into it. It is the only one that meets a copy which comes whole.
//@ case: wide-read-of-one-copy
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ case: wide-read-of-two-copies
//@ verdict: terminates
alignas(8) static unsigned words[4];
template <By by> static int wide(Setup) {
  std::thread reader([] {
    const auto both = std::atomic_ref(*reinterpret_cast<unsigned long long*>(words)).load();
    if (both >> 32 == 1 && word(words[2]) == 0) {
      hang();
    }
  });
  copy(by, words + 1);
  reader.join();
  return 0;
}

// The reader is about to look before the other thread may submit the copy.
//@ case: read-before-one-copy
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ case: read-before-two-copies
//@ verdict: terminates
template <By by> static int before(Setup) {
  std::binary_semaphore go(0);
  std::thread reader([&go] {
    go.release();
    if (word(words[0]) == 1 && word(words[1]) == 0) {
      hang();
    }
  });
  go.acquire();
  copy(by, words);
  reader.join();
  return 0;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"wide-read-of-one-copy", wide<By::OneCopy>},
      {"wide-read-of-two-copies", wide<By::TwoCopies>},
      {"read-before-one-copy", before<By::OneCopy>},
      {"read-before-two-copies", before<By::TwoCopies>},
  });
}
