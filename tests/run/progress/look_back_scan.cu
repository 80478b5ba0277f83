// Single-pass prefix sum with decoupled look-back: a block waits only for blocks that took an earlier ticket, so it ends however blocks start.
//@ exercises: [DEV] with dynamic block numbering by atomic ticket, status words packed with values, warp-parallel look-back, more blocks than can be resident
//@ seeds: 1 2
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

constexpr int block_size = 64, per_thread = 4, tile = block_size * per_thread;
enum : unsigned { Empty = 0, Aggregate = 1, Prefix = 2 };

using Status = cuda::atomic<unsigned long long, cuda::thread_scope_device>; // state in the high half, value in the low

__global__ void scan(const unsigned* in, unsigned* out, int n, unsigned* ticket, Status* status) {
  __shared__ unsigned tile_index, exclusive_prefix;
  __shared__ unsigned warp_sums[block_size / 32];
  if (threadIdx.x == 0) {
    tile_index = atomicAdd(ticket, 1u);
  }
  __syncthreads();
  unsigned index = tile_index, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned values[per_thread], sum = 0;
  for (int k = 0; k < per_thread; ++k) {
    int i = index * tile + threadIdx.x * per_thread + k;
    values[k] = sum += i < n ? in[i] : 0;
  }
  unsigned inclusive = sum;
  for (int offset = 1; offset < 32; offset *= 2) {
    unsigned other = __shfl_up_sync(0xffffffffu, inclusive, offset);
    inclusive += lane >= offset ? other : 0;
  }
  if (lane == 31) {
    warp_sums[warp] = inclusive;
  }
  __syncthreads();
  unsigned before = 0, aggregate = 0;
  for (unsigned w = 0; w < block_size / 32; ++w) {
    before += w < warp ? warp_sums[w] : 0;
    aggregate += warp_sums[w];
  }
  auto pack = [](unsigned state, unsigned value) { return (static_cast<unsigned long long>(state) << 32) | value; };
  if (threadIdx.x == 0) {
    status[index].store(pack(index == 0 ? Prefix : Aggregate, aggregate), cuda::memory_order_release);
    exclusive_prefix = 0;
  }
  if (warp == 0 && index > 0) {
    // 32 predecessors at a time; wait until each has at least published its aggregate.
    int position = static_cast<int>(index) - 1 - static_cast<int>(lane);
    unsigned running = 0;
    while (true) {
      unsigned long long word = pack(Prefix, 0);
      if (position >= 0) {
        Patience patience;
        while ((word = status[position].load(cuda::memory_order_acquire)) >> 32 == Empty) {
          patience.wait();
        }
      }
      unsigned finished = __ballot_sync(0xffffffffu, word >> 32 == Prefix);
      unsigned last = finished ? __ffs(finished) - 1 : 31;
      unsigned value = lane <= last ? static_cast<unsigned>(word) : 0;
      for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
      }
      running += value;
      if (finished) {
        break;
      }
      position -= 32;
    }
    if (lane == 0) {
      exclusive_prefix = running;
      status[index].store(pack(Prefix, running + aggregate), cuda::memory_order_release);
    }
  }
  __syncthreads();
  unsigned offset = exclusive_prefix + before + inclusive - sum;
  for (int k = 0; k < per_thread; ++k) {
    int i = index * tile + threadIdx.x * per_thread + k;
    if (i < n) {
      out[i] = values[k] + offset;
    }
  }
}

int main() {
  for (int n : {100, 5000, 60001}) {
    std::vector<unsigned> in(n), expected(n);
    Lcg random{static_cast<std::uint64_t>(n)};
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) {
      in[i] = random.next() % 1000;
      expected[i] = sum += in[i];
    }
    int tiles = (n + tile - 1) / tile;
    Buffer<unsigned> din(in), out(n), ticket(1);
    Buffer<Status> status(tiles);
    scan<<<tiles, block_size>>>(din, out, n, ticket, status);
    SYNC_OK();
    EXPECT(out.get() == expected);
    std::printf("%d: %u\n", n, out.get().back());
  }
}
