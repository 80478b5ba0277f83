// Recursion: direct, deep, mutual, through function pointers, with arrays in the frame, divergent between lanes.
//@ exercises: call/ret with stack frames, .local depots per call, cudaDeviceSetLimit(cudaLimitStackSize), indirect calls
//@ also-flags: -G
#include "support.h"

__device__ __noinline__ unsigned long long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) {
    return n + 1;
  }
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ int depth_sum(int n) { return n == 0 ? 0 : n + depth_sum(n - 1); }

// Mutual recursion through pointers that the compiler cannot see through.
using Parity = bool (*)(unsigned, void*);
struct Pair {
  Parity even, odd;
};
__device__ __noinline__ bool is_even(unsigned n, void* functions) {
  return n == 0 || static_cast<Pair*>(functions)->odd(n - 1, functions);
}
__device__ __noinline__ bool is_odd(unsigned n, void* functions) {
  return n != 0 && static_cast<Pair*>(functions)->even(n - 1, functions);
}
__device__ Pair pair = {is_even, is_odd};

__device__ void quicksort(int* data, int low, int high) {
  if (low >= high) {
    return;
  }
  int pivot = data[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (data[i] < pivot) {
      ++i;
    }
    while (data[j] > pivot) {
      --j;
    }
    if (i <= j) {
      int swap = data[i];
      data[i++] = data[j];
      data[j--] = swap;
    }
  }
  quicksort(data, low, j);
  quicksort(data, i, high);
}

// Each frame owns an array whose address escapes to the callee.
__device__ __noinline__ int permutations(const int* items, int n, int* count) {
  if (n == 0) {
    return ++*count;
  }
  int total = 0;
  int rest[6];
  for (int pick = 0; pick < n; ++pick) {
    int k = 0;
    for (int i = 0; i < n; ++i) {
      if (i != pick) {
        rest[k++] = items[i];
      }
    }
    total += permutations(rest, n - 1, count) * items[pick];
  }
  return total % 100003;
}

__device__ __noinline__ int hanoi(int disks, int from, int to, int via, unsigned* moves) {
  if (disks == 0) {
    return 0;
  }
  int before = hanoi(disks - 1, from, via, to, moves);
  *moves = *moves * 31 + from * 3 + to;
  return before + 1 + hanoi(disks - 1, via, to, from, moves);
}

__global__ void run(unsigned long long* out) {
  int lane = threadIdx.x;
  out[lane * 8 + 0] = fib(lane % 13);
  out[lane * 8 + 1] = ackermann(2, lane % 5);
  out[lane * 8 + 2] = depth_sum(lane * 3);
  Pair* functions = &pair;
  out[lane * 8 + 3] = functions->even(lane, functions);
  int data[16];
  Lcg random{static_cast<std::uint64_t>(lane + 1)};
  for (int& value : data) {
    value = static_cast<int>(random.next() % 1000);
  }
  quicksort(data, 0, 15);
  bool sorted = true;
  for (int i = 1; i < 16; ++i) {
    sorted = sorted && data[i - 1] <= data[i];
  }
  out[lane * 8 + 4] = sorted ? data[0] * 1000 + data[15] : ~0ull;
  int items[6] = {1, 2, 3, 4, 5, 6}, count = 0;
  out[lane * 8 + 5] = permutations(items, lane % 5, &count);
  out[lane * 8 + 5] = out[lane * 8 + 5] * 1000 + count;
  unsigned moves = 0;
  out[lane * 8 + 6] = hanoi(lane % 7, 0, 2, 1, &moves);
  out[lane * 8 + 7] = moves;
}

int main() {
  CUDA_OK(cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
  std::size_t size = 0;
  CUDA_OK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
  std::printf("stack at least %d\n", size >= 16 * 1024);
  constexpr int lanes = 40;
  Buffer<unsigned long long> out(lanes * 8);
  run<<<1, lanes>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int lane : {0, 1, 5, 12, 17, 31, 39}) {
    std::printf("%d:", lane);
    for (int i = 0; i < 8; ++i) {
      std::printf(" %llu", result[lane * 8 + i]);
    }
    std::printf("\n");
  }
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest(result)));
}
