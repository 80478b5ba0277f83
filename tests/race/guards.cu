// Reads that decide a branch and may be out of date: what the branch leads to races only if they are. One
// schedule has to show it ([RACE]; race/access.cpp, let_others_go()).
#include "cases.h"

// Whoever finds the slot free takes it. Two blocks (or warps, or threads) may both find it so.
template <bool right> __device__ void claim(int* slot, int* owner, int who) {
  if (right ? atomicCAS(slot, 0, 1) == 0 : atomicAdd(slot, 0) == 0) {
    if (!right) {
      atomicExch(slot, 1);
    }
    *owner = who;
  }
}
template <bool right> __global__ void one_of_each_block(int* slot, int* owner) {
  if (threadIdx.x == 0) {
    claim<right>(slot, owner, static_cast<int>(blockIdx.x));
  }
}
CASE(claim_of_two_blocks, "data-race") {
  one_of_each_block<right><<<2, 64>>>(device_memory<int>(1), device_memory<int>(1));
}
CASE(claim_of_eight_blocks, "data-race") {
  one_of_each_block<right><<<8, 256>>>(device_memory<int>(1), device_memory<int>(1));
}
template <bool right> __global__ void one_of_each_warp(int* slot, int* owner) {
  if (threadIdx.x % 32 == 0) {
    claim<right>(slot, owner, static_cast<int>(threadIdx.x));
  }
}
CASE(claim_of_two_warps, "data-race") {
  one_of_each_warp<right><<<1, 64>>>(device_memory<int>(1), device_memory<int>(1));
}

// A maximum over edges: the guard reads the largest value so far, the update is a plain write.
template <bool right> __global__ void maximum(const int* values, int* largest) {
  const int value = values[blockIdx.x * blockDim.x + threadIdx.x];
  if (atomicAdd(largest, 0) < value) {
    if (right) {
      atomicMax(largest, value);
    } else {
      *largest = value;
    }
  }
}
template <bool right> __global__ void fill(int* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(blockDim.x - threadIdx.x);
}
CASE(maximum_with_a_guard, "data-race") {
  int* values = device_memory<int>(128);
  fill<right><<<2, 64>>>(values);
  maximum<right><<<2, 64>>>(values, device_memory<int>(1));
}

// The result of an atomic decides, and what it leads to is a plain write: whoever raises the maximum
// notes it.
template <bool right> __global__ void best_of_all(int* best, int* who) {
  const int value = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) * 37 % 101);
  if (value > atomicMax(best, value)) {
    if (right) {
      atomicExch(who, value);
    } else {
      *who = value;
    }
  }
}
CASE(maximum_whose_result_decides, "data-race") {
  best_of_all<right><<<2, 64>>>(device_memory<int>(1), device_memory<int>(1));
}
// The slot is written before it is said to be taken.
template <bool right> __global__ void found_once(int* found, int* slot) {
  if (threadIdx.x % 32 == 5) {
    const int value = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (right ? atomicCAS(found, 0, 1) == 0 : atomicAdd(found, 0) == 0) {
      *slot = value;
      atomicExch(found, 1);
    }
  }
}
CASE(slot_before_its_flag, "data-race") {
  found_once<right><<<2, 64>>>(device_memory<int>(1), device_memory<int>(1));
}
// Another block writes what the guard reads, and releases with it: whoever reads the new value is ordered,
// whoever reads the old one is not. The block with the guard has to go first.
template <bool right, bool writer_is_first, bool atomics>
__global__ void writes_if_early(int* word, int* data) {
  const auto read = [&] { return atomics ? atomicAdd(word, 0) : *static_cast<volatile int*>(word); };
  if (threadIdx.x != 0) {
    return;
  }
  if ((blockIdx.x == 0) == writer_is_first) {
    *data = 7;
    __threadfence();
    if (atomics) {
      atomicExch(word, 1);
    } else {
      *static_cast<volatile int*>(word) = 1;
    }
    if (!right) {
      __threadfence();
      *data = 8;
    }
  } else if ((read() == 0) != right) {
    __threadfence();
    *data = 9;
  }
}
CASE(early_reader_in_the_second_block, "data-race") {
  writes_if_early<right, true, false><<<2, 32>>>(device_memory<int>(1), device_memory<int>(1));
}
CASE(early_reader_in_the_first_block, "data-race") {
  writes_if_early<right, false, false><<<2, 32>>>(device_memory<int>(1), device_memory<int>(1));
}
CASE(early_reader_with_atomics, "data-race") {
  writes_if_early<right, true, true><<<2, 32>>>(device_memory<int>(1), device_memory<int>(1));
}
// What the guard guards is one plain write, and nothing else depends on it; or it says where to write.
template <bool right> __global__ void one_write_behind_a_guard(volatile int* word, int* data) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    *word = 1;
    __threadfence();
    data[0] = 7;
  } else if (*word == 0) {
    data[right] = 9;
  }
}
CASE(one_write_behind_a_guard, "data-race") {
  one_write_behind_a_guard<right><<<2, 32>>>(device_memory<int>(1), device_memory<int>(2));
}
template <bool right> __global__ void next_place(int* count, int* list) {
  if (threadIdx.x == 0) {
    int at;
    if (right) {
      at = atomicAdd(count, 1);
    } else {
      at = *static_cast<volatile int*>(count);
      *static_cast<volatile int*>(count) = at + 1;
    }
    list[at] = static_cast<int>(blockIdx.x);
  }
}
CASE(place_from_a_counter, "data-race") {
  next_place<right><<<4, 32>>>(device_memory<int>(1), device_memory<int>(8));
}

// What leads to the guard is read plainly by each warp, many of which have nothing to do: blocks must not be kept
// apart by turns that others get there.
template <bool right> __global__ void edges_of_a_block(const int* row, const int* column, int* owner, int* out) {
  const int v = blockIdx.x;
  for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x) {
    const int to = column[e];
    if (v < to) {
      if (right) {
        if (atomicCAS(&owner[to], 0, v + 1) == 0) {
          out[to] = v + threadIdx.x;
        }
      } else if (atomicAdd(&owner[to], 0) == 0) {
        atomicExch(&owner[to], v + 1);
        out[to] = v + threadIdx.x;
      }
    }
  }
}
template <bool right, int threads> void edges_of_blocks() {
  constexpr int n = 6;
  int row[n + 1];
  int column[n * n];
  int edges = 0;
  for (int v = 0; v < n; ++v) {
    row[v] = edges;
    for (int to = 0; to < n; ++to) {
      if (to != v && v * to % 2 == 0) {
        column[edges++] = to;
      }
    }
  }
  row[n] = edges;
  int* rows = device_memory<int>(n + 1);
  int* columns = device_memory<int>(n * n);
  must(cudaMemcpy(rows, row, sizeof row, cudaMemcpyHostToDevice));
  must(cudaMemcpy(columns, column, edges * sizeof(int), cudaMemcpyHostToDevice));
  edges_of_a_block<right><<<n, threads>>>(rows, columns, device_memory<int>(n), device_memory<int>(n));
}
CASE(edges_of_blocks_of_64, "write of 4 bytes races with another write") { edges_of_blocks<right, 64>(); }
CASE(edges_of_blocks_of_256, "write of 4 bytes races with another write") { edges_of_blocks<right, 256>(); }
