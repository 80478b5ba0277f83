// Lanes of one warp wait for each other in divergent code: flags in both directions, chains, ping-pong, plain volatile flags.
//@ exercises: [WARP-ITS] [CLUSTER] progress of single lanes (independent thread scheduling), spin loops that no reconvergence may block
//@ seeds: 1 2 3
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;

__global__ void forward(int* flag, int* out) {
  // A lower lane waits for a higher one, in the first branch of the code.
  Flag ready(*flag);
  if (threadIdx.x == 0) {
    Patience patience;
    while (ready.load(cuda::memory_order_acquire) == 0) {
      patience.wait();
    }
    out[0] = out[1] + 1;
  } else if (threadIdx.x == 1) {
    out[1] = 41;
    ready.store(1, cuda::memory_order_release);
  }
}

__global__ void backward(int* flag, int* out) {
  // The other way round: whichever side of the branch runs first must give way.
  Flag ready(*flag);
  if (threadIdx.x == 1) {
    Patience patience;
    while (ready.load(cuda::memory_order_acquire) == 0) {
      patience.wait();
    }
    out[0] = out[1] + 2;
  } else if (threadIdx.x == 0) {
    out[1] = 41;
    ready.store(1, cuda::memory_order_release);
  }
}

__global__ void chain(int* flags, bool upwards) {
  // Each lane waits for its neighbour and then releases the next.
  int lane = threadIdx.x, position = upwards ? lane : static_cast<int>(blockDim.x) - 1 - lane;
  if (position > 0) {
    Patience patience;
    Flag before(flags[position - 1]);
    while (before.load(cuda::memory_order_acquire) == 0) {
      patience.wait();
    }
  }
  int value = position == 0 ? 1 : flags[position - 1] + 1;
  Flag(flags[position]).store(value, cuda::memory_order_release);
}

__global__ void ping_pong(int* ball, int rounds) {
  Flag turn(*ball);
  int me = threadIdx.x % 2;
  if (threadIdx.x == 5 || threadIdx.x == 20) {
    Patience patience;
    for (int i = 0; i < rounds; ++i) {
      while (turn.load(cuda::memory_order_acquire) % 2 != me) {
        patience.wait();
      }
      turn.fetch_add(1, cuda::memory_order_acq_rel);
    }
  }
}

__global__ void with_volatile(volatile int* flag, volatile int* out) {
  if (threadIdx.x % 4 == 3) {
    out[threadIdx.x] = threadIdx.x;
    __threadfence();
    atomicAdd(const_cast<int*>(flag), 1);
  } else {
    Patience patience;
    while (*flag < 8) {
      patience.wait();
    }
    __threadfence();
    out[threadIdx.x] = -out[threadIdx.x | 3];
  }
}

__global__ void all_wait_for_last(int* flag, int* count) {
  // 31 lanes spin together; the one they wait for enters the loop of nobody.
  Flag ready(*flag);
  if (threadIdx.x < 31) {
    Patience patience;
    while (ready.load(cuda::memory_order_relaxed) == 0) {
      patience.wait();
    }
    atomicAdd(count, 1);
  } else {
    ready.store(1, cuda::memory_order_relaxed);
  }
  __syncwarp();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1000);
  }
}

int main() {
  Buffer<int> flag(64), out(64);
  auto reset = [&] {
    flag.clear();
    out.clear();
  };
  forward<<<1, 2>>>(flag, out);
  SYNC_OK();
  std::printf("forward %d\n", out.get()[0]);
  reset();
  backward<<<1, 32>>>(flag, out);
  SYNC_OK();
  std::printf("backward %d\n", out.get()[0]);
  for (bool upwards : {true, false}) {
    reset();
    chain<<<1, 32>>>(flag, upwards);
    SYNC_OK();
    std::printf("chain %d\n", flag.get()[31]);
  }
  reset();
  ping_pong<<<1, 32>>>(flag, 50);
  SYNC_OK();
  std::printf("ping-pong %d\n", flag.get()[0]);
  reset();
  with_volatile<<<1, 32>>>(flag, out);
  SYNC_OK();
  std::printf("volatile %d %d\n", out.get()[0], out.get()[31]);
  reset();
  all_wait_for_last<<<1, 32>>>(flag, out);
  SYNC_OK();
  std::printf("last %d\n", out.get()[0]);
}
