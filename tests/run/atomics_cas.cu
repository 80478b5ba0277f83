// Compare-and-swap of 16, 32, 64 and 128 bits, exchange of 128 bits, and lock-free structures made of them.
//@ exercises: atom.cas.b16/b32/b64/b128, atom.exch.b128, packing pointer and tag, Treiber stack, update of doubles by CAS
#include "support.h"

#include <algorithm>

__global__ void cas16(unsigned short* counters) {
  // Two counters share a 32-bit word; neither may disturb the other.
  unsigned short* counter = &counters[threadIdx.x % 2];
  unsigned short expected = *static_cast<volatile unsigned short*>(counter), seen;
  do {
    seen = expected;
    expected = atomicCAS(counter, seen, static_cast<unsigned short>(seen + 1 + threadIdx.x % 2));
  } while (expected != seen);
}

__global__ void cas64(unsigned long long* pair) {
  // Low half counts, high half keeps the largest thread index.
  unsigned long long expected = *static_cast<volatile unsigned long long*>(pair), seen, wanted;
  do {
    seen = expected;
    unsigned high = max(static_cast<unsigned>(seen >> 32), blockIdx.x * blockDim.x + threadIdx.x);
    wanted = (static_cast<unsigned long long>(high) << 32) | (static_cast<unsigned>(seen) + 1);
    expected = atomicCAS(pair, seen, wanted);
  } while (expected != seen);
}

struct __align__(16) Wide {
  unsigned long long low, high;
};

__global__ void cas128(Wide* value) {
  Wide expected = {0, 0};
  while (true) {
    Wide wanted = {expected.low + threadIdx.x + 1, expected.high ^ (0x9E3779B97F4A7C15ull * (threadIdx.x + 1))};
    Wide seen = atomicCAS(value, expected, wanted);
    if (seen.low == expected.low && seen.high == expected.high) {
      return;
    }
    expected = seen;
  }
}

__global__ void exchange128(Wide* value, Wide* sums) {
  // Every value put in comes out exactly once, and never torn.
  unsigned long long id = blockIdx.x * blockDim.x + threadIdx.x + 1;
  Wide old = atomicExch(value, Wide{id, ~id});
  if (old.high != ~old.low) {
    atomicAdd(&sums[1].low, 1ull);
  }
  atomicAdd(&sums[0].low, old.low);
}

// Treiber stack over indices with a tag against ABA.
struct Stack {
  unsigned long long head; // tag:index
  unsigned next[1024];
};

__device__ void push(Stack& stack, unsigned index) {
  unsigned long long head = *static_cast<volatile unsigned long long*>(&stack.head), wanted;
  while (true) {
    // Threads that lose the race for this place may still look at it.
    *static_cast<volatile unsigned*>(&stack.next[index]) = static_cast<unsigned>(head);
    __threadfence();
    wanted = (((head >> 32) + 1) << 32) | index;
    unsigned long long seen = atomicCAS(&stack.head, head, wanted);
    if (seen == head) {
      return;
    }
    head = seen;
  }
}

__device__ unsigned pop(Stack& stack) {
  unsigned long long head = *static_cast<volatile unsigned long long*>(&stack.head);
  while (static_cast<unsigned>(head) != 0xffffffffu) {
    __threadfence();
    unsigned next = *static_cast<volatile unsigned*>(&stack.next[static_cast<unsigned>(head)]);
    unsigned long long wanted = (((head >> 32) + 1) << 32) | next;
    unsigned long long seen = atomicCAS(&stack.head, head, wanted);
    if (seen == head) {
      return static_cast<unsigned>(head);
    }
    head = seen;
  }
  return 0xffffffffu;
}

__global__ void shuffle_stack(Stack* stack, unsigned* popped) {
  unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  push(*stack, index);
  for (int i = 0; i < 3; ++i) {
    unsigned got = pop(*stack);
    if (got != 0xffffffffu) {
      push(*stack, got);
    }
  }
  (void)popped;
}

__global__ void drain(Stack* stack, unsigned* popped) {
  unsigned got = pop(*stack);
  if (got < 1024) {
    atomicAdd(&popped[got], 1u);
  }
}

__global__ void multiply_double(double* value) {
  auto bits = reinterpret_cast<unsigned long long*>(value);
  unsigned long long old = *static_cast<volatile unsigned long long*>(bits), assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, static_cast<unsigned long long>(__double_as_longlong(__longlong_as_double(assumed) * 2.0)));
  } while (assumed != old);
}

int main() {
  Buffer<unsigned short> halves(2);
  cas16<<<2, 64>>>(halves);
  SYNC_OK();
  std::printf("16 bits %d %d\n", halves.get()[0], halves.get()[1]);

  Buffer<unsigned long long> pair(1);
  cas64<<<4, 64>>>(pair);
  SYNC_OK();
  std::printf("64 bits %llx\n", pair.get()[0]);

  Buffer<Wide> wide(1), sums(2);
  cas128<<<1, 64>>>(wide);
  SYNC_OK();
  std::printf("128 bits %llx %llx\n", wide.get()[0].low, wide.get()[0].high);
  wide.put({{0, ~0ull}});
  exchange128<<<4, 32>>>(wide, sums);
  SYNC_OK();
  std::printf("exchanged %llu, torn %llu\n", sums.get()[0].low + wide.get()[0].low, sums.get()[1].low);

  std::vector<Stack> empty(1);
  empty[0].head = 0xffffffffu;
  Buffer<Stack> stack(empty);
  Buffer<unsigned> popped(1024);
  shuffle_stack<<<4, 64>>>(stack, popped);
  drain<<<5, 64>>>(stack, popped);
  SYNC_OK();
  auto counts = popped.get();
  unsigned total = 0;
  for (unsigned count : counts) {
    EXPECT(count <= 1);
    total += count;
  }
  std::printf("stack %u\n", total);

  Buffer<double> value(std::vector<double>{1.0});
  multiply_double<<<1, 40>>>(value);
  SYNC_OK();
  std::printf("double %g\n", value.get()[0]);
}
