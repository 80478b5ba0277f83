// Prefix sum in a single pass with decoupled look-back: a tile waits until the tile before it has
// published its sum. Which tile a block takes decides whether the program must end:
//
//   heddle check examples/look_back_scan.cu -- index     tile = blockIdx.x: may hang
//   heddle check examples/look_back_scan.cu -- ticket    tile = a ticket: ends under every schedule
//
// Nothing says that block 0 starts before block 1, so a block that waits for its left neighbour may
// wait for one that never starts. Today's GPUs start blocks in order, and the program passes. A
// ticket is taken by a block that has started, so everybody before it has started, too.
#include <cuda/atomic>

#include <cstdio>
#include <cstring>

constexpr int tile_size = 32, tiles = 3;

struct Scan {
  cuda::atomic<int, cuda::thread_scope_device> tickets;
  cuda::atomic<int, cuda::thread_scope_device> published[tiles]; // sum up to here, plus one; 0: not yet
};

__global__ void scan(const int* in, int* out, Scan* shared, bool by_ticket) {
  const int lane = threadIdx.x;
  int tile = blockIdx.x;
  if (by_ticket) {
    tile = lane == 0 ? shared->tickets.fetch_add(1, cuda::memory_order_relaxed) : 0;
    tile = __shfl_sync(~0U, tile, 0);
  }
  int sum = in[tile * tile_size + lane];
  for (int distance = 1; distance < tile_size; distance *= 2) {
    const int other = __shfl_up_sync(~0U, sum, distance);
    sum += lane >= distance ? other : 0;
  }
  int before = 0;
  if (lane == tile_size - 1) {
    if (tile > 0) {
      int seen;
      while ((seen = shared->published[tile - 1].load(cuda::memory_order_acquire)) == 0) {
      }
      before = seen - 1;
    }
    shared->published[tile].store(before + sum + 1, cuda::memory_order_release);
  }
  before = __shfl_sync(~0U, before, tile_size - 1);
  out[tile * tile_size + lane] = before + sum;
}

int main(int count, char** arguments) {
  const bool by_ticket = count > 1 && std::strcmp(arguments[1], "ticket") == 0;
  int *in = nullptr, *out = nullptr;
  Scan* shared = nullptr;
  cudaMallocManaged(&in, tiles * tile_size * sizeof(int));
  cudaMallocManaged(&out, tiles * tile_size * sizeof(int));
  cudaMalloc(&shared, sizeof(Scan));
  cudaMemset(shared, 0, sizeof(Scan));
  for (int i = 0; i < tiles * tile_size; ++i) {
    in[i] = i;
  }
  scan<<<tiles, tile_size>>>(in, out, shared, by_ticket);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 1;
  }
  for (int i = 0; i < tiles * tile_size; ++i) {
    if (out[i] != i * (i + 1) / 2) {
      std::printf("wrong at %d: %d\n", i, out[i]);
      return 1;
    }
  }
  return 0;
}
