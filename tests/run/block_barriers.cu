// Block barriers: counted votes, named barriers between groups of warps, arrive without waiting, threads that have ended.
//@ exercises: [BAR-1] [BAR-2] [BAR-3] [BAR-4]: __syncthreads_count/and/or, bar.sync a,b, bar.arrive, barrier.sync.aligned, bar.red, producer and consumer warps, exited threads
//@ also-flags: -G
#include "support.h"

__global__ void votes(int* out) {
  int t = threadIdx.x;
  int count = __syncthreads_count(t % 3 == 0);
  int all = __syncthreads_and(t < 1000);
  int not_all = __syncthreads_and(t != 17);
  int any = __syncthreads_or(t == 40);
  int none = __syncthreads_or(t > 5000);
  out[t] = count * 10000 + all * 1000 + not_all * 100 + any * 10 + none;
}

__device__ void sync_group(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ void arrive_group(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

__global__ void groups(int* out) {
  // Two groups of 64 threads use barriers of their own, a different number of times.
  __shared__ int data[128];
  int group = threadIdx.x / 64, t = threadIdx.x % 64, base = group * 64;
  data[threadIdx.x] = t;
  int rounds = group == 0 ? 3 : 6;
  for (int i = 0; i < rounds; ++i) {
    sync_group(1 + group, 64);
    int next = data[base + (t + 1) % 64];
    sync_group(1 + group, 64);
    data[threadIdx.x] = next + group;
  }
  __syncthreads();
  out[threadIdx.x] = data[127 - threadIdx.x];
}

__global__ void pipeline(int* out) {
  // Warp 0 produces, warp 1 consumes; two buffers, "full" and "empty" barriers for each.
  __shared__ int buffer[2][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
  for (int i = 0; i < 10; ++i) {
    int slot = i % 2, full = 1 + slot, empty = 3 + slot;
    if (warp == 0) {
      if (i >= 2) {
        sync_group(empty, 64);
      }
      buffer[slot][lane] = i * 100 + lane;
      __threadfence_block();
      arrive_group(full, 64);
    } else {
      sync_group(full, 64);
      sum = sum * 3 + buffer[slot][31 - lane];
      if (i < 8) {
        arrive_group(empty, 64);
      }
    }
  }
  if (warp == 1) {
    out[lane] = sum;
  }
}

__global__ void with_exits(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  // Whole warps leave; the barrier of the others still completes.
  if (threadIdx.x >= 64) {
    return;
  }
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

__global__ void reductions(unsigned* out) {
  unsigned count, flag;
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %2, 20; bar.red.popc.u32 %0, 5, p; bar.red.or.pred q, 6, p; selp.u32 %1, 1, 0, q; }"
               : "=r"(count), "=r"(flag)
               : "r"(threadIdx.x));
  out[threadIdx.x] = count * 2 + flag;
}

int main() {
  Buffer<int> out(128);
  votes<<<1, 100>>>(out);
  SYNC_OK();
  std::printf("votes %d %d\n", out.get()[0], out.get()[99]);
  groups<<<1, 128>>>(out);
  SYNC_OK();
  std::printf("groups %d %d %016llx\n", out.get()[0], out.get()[127], static_cast<unsigned long long>(digest(out.get())));
  pipeline<<<1, 64>>>(out);
  SYNC_OK();
  std::printf("pipeline %d %d\n", out.get()[0], out.get()[31]);
  with_exits<<<1, 256>>>(out);
  SYNC_OK();
  std::printf("exits %d %d\n", out.get()[0], out.get()[63]);
  Buffer<unsigned> counts(64);
  reductions<<<1, 64>>>(counts);
  SYNC_OK();
  std::printf("red %u %u\n", counts.get()[0], counts.get()[63]);
}
