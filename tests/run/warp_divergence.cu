// Divergent control flow: nested branches, loops with different trip counts, switches, early exits, gotos, reconvergence by __syncwarp.
//@ exercises: [WARP-ITS] [WARP-SYNC]: independent thread scheduling, bra/brx.idx, activemask in divergent code, lanes exchanging data through shared memory between __syncwarp
//@ also-flags: -G
#include "support.h"

__device__ int collatz(unsigned long long n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

__device__ int classify(int x) {
  switch (x) {
  case 0: return 100;
  case 1: return 211;
  case 2: x += 5; [[fallthrough]];
  case 3: x *= 7; break;
  case 4: return -x;
  case 5:
  case 6: x ^= 0x55; break;
  case 7: return x << 4;
  case 8: return x * x * x;
  case 9: x = 1234; break;
  case 10: return 0;
  case 11: return x / 3;
  case 12: return x % 5 + 70;
  case 13: return 99;
  case 1000: return -1000;
  case -5: return 5555;
  default: x = -x - 1;
  }
  return x + 1;
}

__device__ int gotos(int n) {
  int sum = 0, i = 0;
again:
  if (i >= n) {
    goto done;
  }
  if (i % 4 == 3) {
    i += 2;
    goto again;
  }
  sum += i * i;
  ++i;
  if (sum > 200) {
    goto late;
  }
  goto again;
late:
  sum -= 1000;
  if (n % 2) {
    i = n;
    goto again;
  }
done:
  return sum;
}

__device__ int nested(int x, int y) {
  int result = 0;
  for (int i = 0; i < x; ++i) {
    if (i % 3 == 1) {
      continue;
    }
    for (int j = y; j > 0; --j) {
      if ((i * j) % 7 == 6) {
        break;
      }
      if (j == 3 && i > 4) {
        return result * 1000 + i * 10 + j;
      }
      result += i ^ j;
    }
    if (result > 300 || (i > 5 && y < 3 && result % 2)) {
      break;
    }
  }
  return result;
}

__global__ void branches(int* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int result = collatz(t + 1);
  result = result * 31 + classify(t % 16);
  result = result * 31 + classify(t == 7 ? 1000 : t == 8 ? -5 : t);
  result = result * 31 + gotos(t % 23);
  result = result * 31 + nested(t % 11, t % 6);
  bool a = t % 2, b = t % 3, c = t % 5;
  result = result * 31 + ((a && (b || !c)) ? (b ? 1 : 2) : (c && !a ? 3 : 4));
  if (t % 37 == 36) {
    out[t] = -1;
    return;
  }
  int rounds = 0;
  do {
    result += t;
  } while (rounds++ < 20 && result % 4 != 0 && t % 4 != 0 && result % 8 != t % 8 && (result += 1));
  out[t] = result;
}

__global__ void exchange(int* out) {
  __shared__ int slots[32];
  int lane = threadIdx.x;
  // Each half takes its own path; the values cross only at __syncwarp.
  if (lane < 16) {
    slots[lane] = lane * 3;
  } else {
    slots[lane] = lane * 5;
  }
  __syncwarp();
  int other = slots[31 - lane];
  __syncwarp();
  if (lane % 2) {
    slots[lane] = other + 1;
    __syncwarp(0xaaaaaaaau);
    other = slots[lane ^ 2];
  } else {
    slots[lane] = other + 2;
    __syncwarp(0x55555555u);
    other = slots[lane ^ 4];
  }
  __syncwarp();
  out[lane] = other;
}

__global__ void drop_out(int* out) {
  // Lanes leave a loop one after another; those that stay keep working together.
  int lane = threadIdx.x, sum = 0;
  unsigned mask = 0xffffffffu;
  for (int i = 0; i < 32; ++i) {
    unsigned stay = __ballot_sync(mask, lane >= i);
    if (lane < i) {
      break;
    }
    mask = stay;
    sum += __shfl_sync(mask, lane, 31) + __popc(mask);
  }
  out[lane] = sum;
}

int main() {
  Buffer<int> out(300);
  branches<<<3, 100>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int t : {0, 7, 8, 26, 36, 77, 150, 299}) {
    std::printf("%d ", result[t]);
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(digest(result)));
  Buffer<int> lanes(32);
  exchange<<<1, 32>>>(lanes);
  SYNC_OK();
  for (int value : lanes.get()) {
    std::printf("%d ", value);
  }
  std::printf("\n");
  drop_out<<<1, 32>>>(lanes);
  SYNC_OK();
  for (int value : lanes.get()) {
    std::printf("%d ", value);
  }
  std::printf("\n");
}
