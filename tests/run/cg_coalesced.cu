// Coalesced groups and partitions by value: only lanes that agree take part.
//@ exercises: coalesced_threads, labeled_partition, binary_partition, thread_rank and shuffles of sparse groups, warp-aggregated atomics
#include "support.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void labelled(int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int lane = static_cast<int>(warp.thread_rank());
  auto group = cg::labeled_partition(warp, lane * lane % 5);
  int sum = cg::reduce(group, lane, cg::plus<int>());
  int largest = cg::reduce(group, lane, cg::greater<int>());
  int first = group.shfl(lane, 0);
  int prefix = cg::inclusive_scan(group, 1);
  out[block.thread_rank()] = sum * 100000 + largest * 1000 + first * 20 + prefix + static_cast<int>(group.size() + group.thread_rank());

  auto halves = cg::binary_partition(warp, lane % 3 == 1);
  out[block.thread_rank()] ^= static_cast<int>(halves.size() * 7 + halves.thread_rank() + halves.meta_group_size()) << 20;
}

__global__ void active(const int* in, int* out, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 50) {
    // Which lanes are together here is up to the machine; that each gets its own slot is not.
    auto group = cg::coalesced_threads();
    int base = 0;
    if (group.thread_rank() == 0) {
      base = atomicAdd(count, static_cast<int>(group.size()));
    }
    base = group.shfl(base, 0);
    out[base + group.thread_rank()] = in[i];
  }
}

__global__ void sizes(int* out) {
  // Sums over all groups do not depend on how the lanes were grouped.
  if (threadIdx.x % 2 == 0) {
    auto group = cg::coalesced_threads();
    int total = cg::reduce(group, 1, cg::plus<int>());
    if (total != static_cast<int>(group.size())) {
      atomicAdd(&out[2], 1);
    }
    if (group.thread_rank() == 0) {
      atomicAdd(&out[0], static_cast<int>(group.size()));
    }
    group.sync();
    int next = group.shfl_down(static_cast<int>(threadIdx.x), 1);
    if (group.thread_rank() + 1 < group.size() && next <= static_cast<int>(threadIdx.x)) {
      atomicAdd(&out[2], 1);
    }
  }
}

int main() {
  Buffer<int> out(64);
  labelled<<<1, 64>>>(out);
  SYNC_OK();
  auto result = out.get();
  std::printf("labelled %d %d %d %016llx\n", result[0], result[7], result[63], static_cast<unsigned long long>(digest(result)));

  std::vector<int> values(256);
  Lcg random{4};
  long long expected = 0;
  int kept = 0;
  for (int& value : values) {
    value = static_cast<int>(random.next() % 100);
    expected += value > 50 ? value : 0;
    kept += value > 50;
  }
  Buffer<int> in(values), filtered(256), count(1);
  active<<<2, 128>>>(in, filtered, count);
  SYNC_OK();
  long long sum = 0;
  int nonzero = 0;
  for (int value : filtered.get()) {
    sum += value;
    nonzero += value != 0;
  }
  EXPECT(sum == expected && nonzero == kept && count.get()[0] == kept);
  std::printf("filtered %d %lld\n", count.get()[0], sum);

  Buffer<int> facts(3);
  sizes<<<1, 96>>>(facts);
  SYNC_OK();
  std::printf("sizes %d errors %d\n", facts.get()[0], facts.get()[2]);
}
