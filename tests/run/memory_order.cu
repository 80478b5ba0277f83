// Message passing between blocks with each kind of ordering: fences, release/acquire, volatile, atomics of every scope.
//@ exercises: __threadfence, __threadfence_block, __threadfence_system, cuda::atomic_thread_fence, ld.acquire/st.release, fence.sc, __ldcg/__stcg, memory clobbers
#include "patience.h"
#include "support.h"

#include <cuda/atomic>

enum class Style { Fence, ReleaseAcquire, StandaloneFence, Volatile, SequentiallyConsistent, SystemFence };

template <Style style> __device__ void publish(int* data, int* flag, int value) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  for (int i = 0; i < 8; ++i) {
    data[i] = value * 10 + i;
  }
  if constexpr (style == Style::Fence) {
    __threadfence();
    atomicExch(flag, value);
  } else if constexpr (style == Style::ReleaseAcquire) {
    ready.store(value, cuda::memory_order_release);
  } else if constexpr (style == Style::StandaloneFence) {
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    ready.store(value, cuda::memory_order_relaxed);
  } else if constexpr (style == Style::Volatile) {
    __threadfence();
    *static_cast<volatile int*>(flag) = value;
  } else if constexpr (style == Style::SequentiallyConsistent) {
    ready.store(value, cuda::memory_order_seq_cst);
  } else {
    __threadfence_system();
    asm volatile("st.relaxed.sys.global.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
  }
}

template <Style style> __device__ int receive(const int* data, int* flag, int value) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  Patience patience;
  if constexpr (style == Style::Fence) {
    while (atomicAdd(flag, 0) < value) {
      patience.wait();
    }
    __threadfence();
  } else if constexpr (style == Style::ReleaseAcquire) {
    while (ready.load(cuda::memory_order_acquire) < value) {
      patience.wait();
    }
  } else if constexpr (style == Style::StandaloneFence) {
    while (ready.load(cuda::memory_order_relaxed) < value) {
      patience.wait();
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  } else if constexpr (style == Style::Volatile) {
    while (*static_cast<volatile int*>(flag) < value) {
      patience.wait();
    }
    __threadfence();
  } else if constexpr (style == Style::SequentiallyConsistent) {
    while (ready.load() < value) {
      patience.wait();
    }
  } else {
    int seen;
    do {
      asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      patience.wait();
    } while (seen < value);
  }
  int wrong = 0;
  for (int i = 0; i < 8; ++i) {
    wrong += data[i] != value * 10 + i;
  }
  return wrong;
}

template <Style style> __global__ void pass(int* data, int* flags, int rounds, int* wrong) {
  // Block 0 publishes, block 1 checks and answers; both are needed, so the launch is cooperative.
  if (threadIdx.x != 0) {
    return;
  }
  for (int value = 1; value <= rounds; ++value) {
    if (blockIdx.x == 0) {
      publish<style>(data, &flags[0], value);
      *wrong += receive<style>(data + 8, &flags[1], value);
    } else {
      int errors = receive<style>(data, &flags[0], value);
      atomicAdd(wrong + 1, errors);
      publish<style>(data + 8, &flags[1], value);
    }
  }
}

__global__ void store_buffering(int* x, int* y, int* both_zero, int rounds) {
  // Dekker's pattern with sequentially consistent accesses: never both zero.
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(blockIdx.x ? *y : *x), other(blockIdx.x ? *x : *y);
  cuda::atomic_ref<int, cuda::thread_scope_device> turn(both_zero[1]), seen(both_zero[2]);
  if (threadIdx.x == 0) {
    for (int i = 1; i <= rounds; ++i) {
      mine.store(i);
      bool missed = other.load() < i;
      Patience patience;
      seen.fetch_add(missed ? 1001 : 1);
      turn.fetch_add(1);
      while (turn.load() < 2 * i) {
        patience.wait();
      }
      if (blockIdx.x == 0 && seen.load() >= 2000) {
        both_zero[0] += 1;
      }
      // A second rendezvous keeps the rounds apart.
      cuda::atomic_ref<int, cuda::thread_scope_device> apart(both_zero[3]);
      if (blockIdx.x == 0) {
        seen.store(0);
      }
      apart.fetch_add(1);
      while (apart.load() < 2 * i) {
        patience.wait();
      }
    }
  }
}

template <Style style> void run(const char* name) {
  Buffer<int> data(16), flags(2), wrong(2);
  int *pd = data, *pf = flags, *pw = wrong, rounds = 30;
  void* arguments[] = {&pd, &pf, &rounds, &pw};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(pass<style>), dim3(2), dim3(32), arguments, 0, nullptr));
  SYNC_OK();
  std::printf("%s wrong %d %d\n", name, wrong.get()[0], wrong.get()[1]);
}

int main() {
  run<Style::Fence>("fence");
  run<Style::ReleaseAcquire>("release/acquire");
  run<Style::StandaloneFence>("standalone fence");
  run<Style::Volatile>("volatile");
  run<Style::SequentiallyConsistent>("seq_cst");
  run<Style::SystemFence>("system");
  Buffer<int> x(1), y(1), state(4);
  int *px = x, *py = y, *ps = state, rounds = 50;
  void* arguments[] = {&px, &py, &ps, &rounds};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(store_buffering), dim3(2), dim3(1), arguments, 0, nullptr));
  SYNC_OK();
  std::printf("store buffering %d\n", state.get()[0]);
}
