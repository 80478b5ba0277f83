// The library's self test. Its argument chooses a part; all but "sum" are wrong, each in one way.
#include "tally.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include <unistd.h>

__device__ int arrivals, first_block;
__device__ volatile int ready;

__global__ void note_the_first() {
  if (atomicAdd(&arrivals, 1) == 0) {
    first_block = blockIdx.x;
  }
}

__global__ void wait_for_the_last() {
  if (blockIdx.x == gridDim.x - 1) {
    ready = 1;
  } else {
    while (ready == 0) {
    }
  }
}

/// A spin loop with a counter, and nobody who ends it.
__global__ void wait_and_count(int* flag, int* spins) {
  while (atomicAdd(flag, 0) == 0) {
    atomicAdd(spins, 1);
  }
}

/// Half of the block goes around the barrier.
__global__ void meet_half(int* p) {
  if (threadIdx.x < 32) {
    __syncthreads();
  }
  p[threadIdx.x] = 1;
}

/// Each thread adds to the same word, without an atomic operation.
__global__ void add_all(int* sum) {
  *sum = *sum + 1;
}

__global__ void copy_if(const int* from, int* to) {
  if (*from > 0) {
    *to = 1;
  }
}

/// One kernel, with words that nobody has written unless `clear`.
template <class Launch> int with_words(bool clear, bool free, Launch launch) {
  int* words = nullptr;
  cudaMalloc(&words, 64 * sizeof(int));
  if (clear) {
    cudaMemset(words, 0, 64 * sizeof(int));
  }
  launch(words);
  const int failed = cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  if (free) {
    cudaFree(words);
  }
  return failed;
}

/// A pool whose worker has nothing to do must not hide that the kernel hangs.
static int check_pool() {
  std::thread([] {
    for (;;) {
      pause();
    }
  }).detach();
  return with_words(true, true, [](int* words) {
    wait_and_count<<<1, 1>>>(words, words + 1);
  });
}

static int check_count() {
  int* words = nullptr;
  cudaMalloc(&words, 2 * sizeof(int));
  cudaMemset(words, 0, 2 * sizeof(int));
  wait_and_count<<<1, 2>>>(words, words + 1);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

/// Several tiles: later ones wait for what earlier ones publish.
static int check_prefix() {
  constexpr int count = 6000;
  int* values = nullptr;
  cudaMalloc(&values, 2 * count * sizeof(int));
  cudaMemset(values, 0, 2 * count * sizeof(int));
  const int failed = prefix_on_device(values, values + count, count);
  cudaFree(values);
  return failed;
}

static int check_sum(int expected) {
  const int values[] = {1, 2, 3, 4};
  int* copy = nullptr;
  cudaMalloc(&copy, sizeof values);
  cudaMemcpy(copy, values, sizeof values, cudaMemcpyHostToDevice);
  const int sum = sum_on_device(copy, 4);
  cudaFree(copy);
  std::printf("sum: %d, expected %d\n", sum, expected);
  return sum == expected ? 0 : 1;
}

/// Is right only if block 0 is the first one.
static int check_order() {
  note_the_first<<<2, 1>>>();
  int first = -1;
  cudaMemcpyFromSymbol(&first, first_block, sizeof first);
  return first;
}

int main(int count, char** words) {
  const char* part = count > 1 ? words[1] : "sum";
  if (std::strcmp(part, "sum") == 0) {
    return check_sum(10);
  }
  if (std::strcmp(part, "wrong") == 0) {
    return check_sum(11);
  }
  if (std::strcmp(part, "order") == 0) {
    return check_order();
  }
  if (std::strcmp(part, "count") == 0) {
    return check_count();
  }
  if (std::strcmp(part, "pool") == 0) {
    return check_pool();
  }
  if (std::strcmp(part, "divergence") == 0) {
    return with_words(true, true, [](int* words) { meet_half<<<1, 64>>>(words); });
  }
  if (std::strcmp(part, "race") == 0) {
    return with_words(true, true, [](int* words) { add_all<<<1, 64>>>(words); });
  }
  if (std::strcmp(part, "garbage") == 0) {
    return with_words(false, true, [](int* words) { copy_if<<<1, 1>>>(words, words + 1); });
  }
  if (std::strcmp(part, "leak") == 0) {
    return with_words(true, false, [](int* words) { copy_if<<<1, 1>>>(words, words + 1); });
  }
  if (std::strcmp(part, "prefix") == 0) {
    return check_prefix();
  }
  if (std::strcmp(part, "ignored") == 0) {
    note_the_first<<<1, 2048>>>(); // too many threads, and nobody looks
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  if (std::strcmp(part, "hang") == 0) {
    wait_for_the_last<<<2, 1>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  return 3; // no such part
}
