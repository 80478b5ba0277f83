// Votes, matches and warp-wide reductions, with full and partial masks and lanes that have left.
//@ exercises: [WARP-SYNC]: vote.sync.all/any/uni/ballot, match.any/all.sync, redux.sync, activemask, elect.sync, lanemask registers
//@ also-flags: -G
#include "support.h"

__global__ void votes(unsigned* out) {
  unsigned lane = threadIdx.x % 32, *row = out + threadIdx.x * 16;
  unsigned full = 0xffffffffu;
  int k = 0;
  row[k++] = __all_sync(full, lane < 32);
  row[k++] = __all_sync(full, lane < 31);
  row[k++] = __any_sync(full, lane == 13);
  row[k++] = __any_sync(full, lane > 40);
  row[k++] = __uni_sync(full, threadIdx.x >= 32);
  row[k++] = __ballot_sync(full, lane % 3 == 0);
  row[k++] = __match_any_sync(full, lane / 5);
  row[k++] = __match_any_sync(full, static_cast<unsigned long long>(lane % 4) << 40);
  int same = -1;
  row[k++] = __match_all_sync(full, threadIdx.x / 32 + 5, &same);
  row[k++] = same;
  row[k++] = __match_all_sync(full, lane == 9, &same);
  row[k++] = same;
  unsigned eq, lt, le, gt;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  row[k++] = eq + lt;
  row[k++] = le ^ gt;
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  // Exactly one lane is elected; which one is not promised.
  row[k++] = __popc(__ballot_sync(full, elected));
  row[k++] = __any_sync(full, elected) + 2;
}

__global__ void reductions(int* out) {
  int lane = threadIdx.x, k = 0;
  int value = (lane * 7 + 3) % 32 - 10;
  unsigned bits = 0xf0f0f0f0u ^ (lane * 0x01010101u);
  int* row = out + lane * 12;
  unsigned full = 0xffffffffu;
  row[k++] = __reduce_add_sync(full, value);
  row[k++] = __reduce_min_sync(full, value);
  row[k++] = __reduce_max_sync(full, value);
  row[k++] = static_cast<int>(__reduce_add_sync(full, static_cast<unsigned>(lane) << 28));
  row[k++] = static_cast<int>(__reduce_max_sync(full, static_cast<unsigned>(value)));
  row[k++] = static_cast<int>(__reduce_min_sync(full, static_cast<unsigned>(value)));
  row[k++] = static_cast<int>(__reduce_and_sync(full, bits | 0x100));
  row[k++] = static_cast<int>(__reduce_or_sync(full, bits & 0x11));
  row[k++] = static_cast<int>(__reduce_xor_sync(full, bits * (lane + 1)));
  // Groups of lanes reduce apart from each other.
  unsigned mask = __match_any_sync(full, lane % 5);
  row[k++] = __reduce_add_sync(mask, lane);
  row[k++] = __popc(mask);
  row[k++] = 0;
  if (lane >= 20) {
    row[11] = __reduce_max_sync(0xfff00000u, lane * 2 % 7);
  }
}

__global__ void after_exit(unsigned* out) {
  unsigned lane = threadIdx.x;
  if (lane >= 10 && lane < 20) {
    return;
  }
  unsigned rest = 0xfff003ffu;
  out[lane] = __ballot_sync(rest, lane % 2) ^ __reduce_add_sync(rest, lane);
}

__global__ void compact(const int* in, int* out, int* count) {
  // Warp-aggregated filtering: one atomic per warp, order kept within the warp.
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  bool keep = in[i] % 3 == 0;
  unsigned mask = __ballot_sync(0xffffffffu, keep);
  int leader = __ffs(mask) - 1, base = 0;
  if (keep && lane == leader) {
    base = atomicAdd(count, __popc(mask));
  }
  base = __shfl_sync(0xffffffffu, base, leader & 31);
  if (keep) {
    out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
  }
}

int main() {
  Buffer<unsigned> out(64 * 16);
  votes<<<1, 64>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int t : {0, 9, 31, 40}) {
    for (int k = 0; k < 16; ++k) {
      std::printf("%x ", result[t * 16 + k]);
    }
    std::printf("\n");
  }
  std::printf("votes %016llx\n", static_cast<unsigned long long>(digest(result)));
  Buffer<int> sums(32 * 12);
  reductions<<<1, 32>>>(sums);
  SYNC_OK();
  auto reduced = sums.get();
  for (int k = 0; k < 12; ++k) {
    std::printf("%x ", reduced[22 * 12 + k]);
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(digest(reduced)));
  Buffer<unsigned> left(32);
  after_exit<<<1, 32>>>(left);
  SYNC_OK();
  std::printf("after exit %x %x %x\n", left.get()[0], left.get()[15], left.get()[31]);

  std::vector<int> values(512);
  Lcg random{1};
  long long expected_sum = 0;
  int expected_count = 0;
  for (int& value : values) {
    value = static_cast<int>(random.next() % 100);
    expected_sum += value % 3 == 0 ? value : 0;
    expected_count += value % 3 == 0;
  }
  Buffer<int> in(values), kept(512), count(1);
  compact<<<4, 128>>>(in, kept, count);
  SYNC_OK();
  long long sum = 0;
  for (int value : kept.get()) {
    sum += value;
  }
  std::printf("compact %d %lld\n", count.get()[0], sum);
  EXPECT(count.get()[0] == expected_count && sum == expected_sum);
}
