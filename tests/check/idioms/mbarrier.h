// An mbarrier in shared memory, by its PTX instructions.
#pragma once

struct MBarrier {
  unsigned long long word;
  __device__ unsigned address() { return static_cast<unsigned>(__cvta_generic_to_shared(&word)); }
  __device__ void init(int count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(count) : "memory");
  }
  /// By the first thread, for the block.
  __device__ void begin(int count) {
    if (threadIdx.x == 0) {
      init(count);
    }
    __syncthreads();
  }
  __device__ void arrive() {
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(address()) : "memory");
  }
  /// Arrives, and says that so many bytes are to come.
  __device__ void expect(int bytes) {
    asm volatile("{ .reg .b64 token; mbarrier.arrive.expect_tx.shared.b64 token, [%0], %1; }" ::"r"(address()), "r"(bytes) : "memory");
  }
  __device__ bool complete(unsigned parity) {
    unsigned done = 0;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(address()), "r"(parity) : "memory");
    return done != 0;
  }
  /// Until the phase of this parity has completed.
  __device__ void wait(unsigned parity) {
    while (!complete(parity)) {
    }
  }
};
