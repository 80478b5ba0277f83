// Interprets a litmus program of heddle_litmus on the device, for test_engine.py.
//
//   interpret PLACES PROGRAM WANT OUTCOME…
//
// PLACES: block, cluster and device of each thread, "000,110" (litmus.cpp, places_of()). PROGRAM:
// instructions of eight letters, threads separated by commas (code()). WANT "in": ends with 1 if the
// outcome is not among those that follow; "not": if it is. "2in": at least two places count.
//
// Values have four bits, the upper ones of a word, so that additions are modulo 16.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int most = 4, length = 16, places = 4, line = 32, letters = 8;
constexpr int shift = 28;
struct Instruction {
  char kind, order, scope, place;
  unsigned char value, expected;
  char use;
  unsigned char from;
};
struct Memory {
  unsigned place[places * line]; // apart
  unsigned result[most][length];
};
struct Program {
  Instruction code[most][length];
  int count[most];
  int block[most], thread[most]; // of the grid of its device
  int threads, device, places;
  int on[most];
  Memory* memory;
};

__device__ Memory of_device;

__host__ __device__ bool reads(char kind) {
  return kind == 'l' || kind == 'u' || kind == 'a' || kind == 'c';
}

#define LOAD(words)                                                                                \
  asm volatile("ld." words ".global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory")
#define STORE(words)                                                                               \
  asm volatile("st." words ".global.u32 [%1], %0;" ::"r"(value), "l"(at) : "memory")
#define UPDATE(words)                                                                              \
  asm volatile("atom." words ".global.exch.b32 %0, [%1], %2;"                                      \
               : "=r"(value)                                                                       \
               : "l"(at), "r"(value)                                                               \
               : "memory")
#define ADD(words)                                                                                 \
  asm volatile("atom." words ".global.add.u32 %0, [%1], %2;"                                       \
               : "=r"(value)                                                                       \
               : "l"(at), "r"(value)                                                               \
               : "memory")
#define SWAP(words)                                                                                \
  asm volatile("atom." words ".global.cas.b32 %0, [%1], %2, %3;"                                   \
               : "=r"(value)                                                                       \
               : "l"(at), "r"(i.expected << shift), "r"(value)                                     \
               : "memory")
#define REDUCE(words)                                                                              \
  asm volatile("red." words ".global.or.b32 [%0], %1;" ::"l"(at), "r"(value) : "memory")
#define FENCE(words) asm volatile("fence." words ";" ::: "memory")
#define ORDERS(letter, DO)                                                                         \
  case letter << 8 | 'r':                                                                          \
    SCOPES(DO, "relaxed", i.scope);                                                                \
  case letter << 8 | 'a':                                                                          \
    SCOPES(DO, "acquire", i.scope);                                                                \
  case letter << 8 | 'e':                                                                          \
    SCOPES(DO, "release", i.scope);                                                                \
  case letter << 8 | 'b':                                                                          \
    SCOPES(DO, "acq_rel", i.scope)
#define SCOPES(DO, order, scope)                                                                   \
  switch (scope) {                                                                                 \
  case 'c':                                                                                        \
    DO(order ".cta");                                                                              \
    break;                                                                                         \
  case 'l':                                                                                        \
    DO(order ".cluster");                                                                          \
    break;                                                                                         \
  case 'g':                                                                                        \
    DO(order ".gpu");                                                                              \
    break;                                                                                         \
  default:                                                                                         \
    DO(order ".sys");                                                                              \
    break;                                                                                         \
  }                                                                                                \
  break

__global__ void interpret(Program p) {
  int t = 0;
  for (; t < p.threads; ++t) {
    if (p.on[t] == p.device && p.block[t] == blockIdx.x && p.thread[t] == threadIdx.x) {
      break;
    }
  }
  if (t == p.threads) {
    return;
  }
  Memory& memory = p.memory != nullptr ? *p.memory : of_device;
  unsigned odd = 0, not_zero = 0; // of what instructions have read, by bits
  for (int k = 0; k < p.count[t]; ++k) {
    const Instruction i = p.code[t][k];
    const bool is_odd = odd >> i.from & 1, is_not_zero = not_zero >> i.from & 1;
    if ((i.use == 'z' && is_not_zero) || (i.use == 'n' && !is_not_zero) || (i.use == 'o' && !is_odd)) {
      continue;
    }
    int place = (i.place - 'x' + 4) % 4;
    place = i.use == 'a' && is_odd ? (place + 1) % p.places : place;
    unsigned* const at = &memory.place[place * line];
    unsigned value = (i.value + (i.use == 'd' && is_odd ? 1 : 0)) << shift;
    switch (i.kind << 8 | i.order) {
    case 'l' << 8 | 'w':
      LOAD("weak");
      break;
    case 'l' << 8 | 'v':
      LOAD("volatile");
      break;
    case 'l' << 8 | 'r':
      SCOPES(LOAD, "relaxed", i.scope);
    case 'l' << 8 | 'a':
      SCOPES(LOAD, "acquire", i.scope);
    case 's' << 8 | 'w':
      STORE("weak");
      break;
    case 's' << 8 | 'v':
      STORE("volatile");
      break;
    case 's' << 8 | 'r':
      SCOPES(STORE, "relaxed", i.scope);
    case 's' << 8 | 'e':
      SCOPES(STORE, "release", i.scope);
      ORDERS('u', UPDATE);
      ORDERS('a', ADD);
      ORDERS('c', SWAP);
    case 'r' << 8 | 'r':
      SCOPES(REDUCE, "relaxed", i.scope);
    case 'r' << 8 | 'e':
      SCOPES(REDUCE, "release", i.scope);
    case 'f' << 8 | 'c':
      SCOPES(FENCE, "sc", i.scope);
    case 'f' << 8 | 'a':
      SCOPES(FENCE, "acquire", i.scope);
    case 'f' << 8 | 'e':
      SCOPES(FENCE, "release", i.scope);
    case 'f' << 8 | 'b':
      SCOPES(FENCE, "acq_rel", i.scope);
    case 'b' << 8 | 'w':
      __syncthreads();
      break;
    default:
      __trap();
    }
    if (reads(i.kind)) {
      value >>= shift;
      odd |= (value & 1) << k;
      not_zero |= (value != 0 ? 1U : 0U) << k;
      memory.result[t][k] = value;
    }
  }
}

/// Blocks of one cluster become neighbours in the grid of their device, threads of one block too.
struct Placement {
  int devices = 0;
  int clusters[most]{}, cluster_size[most]{}, block_size[most]{}; // of each device

  Placement(const char* text, Program& p) {
    int cluster[most], block[most];
    int t = 0;
    for (const char* at = text; *at != 0; at += at[3] == 0 ? 3 : 4, ++t) {
      const auto of = [&](int other) { return text + 4 * other; };
      p.on[t] = at[2] - '0';
      devices = std::max(devices, p.on[t] + 1);
      cluster[t] = block[t] = p.thread[t] = -1;
      int blocks = 0;
      for (int other = 0; other < t; ++other) {
        if (of(other)[0] == at[0]) {
          block[t] = block[other];
          p.thread[t] = std::max(p.thread[t], p.thread[other]);
        }
        if (of(other)[1] == at[1]) {
          cluster[t] = cluster[other];
          blocks = std::max(blocks, block[other] + 1);
        }
      }
      ++p.thread[t];
      if (cluster[t] < 0) {
        cluster[t] = clusters[p.on[t]]++;
      }
      if (block[t] < 0) {
        block[t] = blocks;
      }
      cluster_size[p.on[t]] = std::max(cluster_size[p.on[t]], block[t] + 1);
      block_size[p.on[t]] = std::max(block_size[p.on[t]], p.thread[t] + 1);
    }
    p.threads = t;
    for (t = 0; t < p.threads; ++t) {
      p.block[t] = cluster[t] * cluster_size[p.on[t]] + block[t];
    }
  }
};

int main(int argc, char** argv) {
  if (argc < 4) {
    return 2;
  }
  Program p{};
  int count = 0, k = 0, used = 1;
  for (const char* at = argv[2]; *at != 0;) {
    if (*at == ',') {
      p.count[count++] = k;
      k = 0;
      ++at;
      continue;
    }
    const auto number = [](char digit) {
      return static_cast<unsigned char>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    };
    p.code[count][k++] = {at[0], at[1], at[2], at[3], number(at[4]), number(at[5]), at[6], number(at[7])};
    if (at[0] != 'f' && at[0] != 'b') {
      used = std::max(used, (at[3] - 'x' + 4) % 4 + 1);
    }
    at += letters;
  }
  p.count[count] = k;
  p.places = std::max(used, std::atoi(argv[3]));
  const Placement placement(argv[1], p);
  if (placement.devices > 1 && cudaMallocManaged(&p.memory, sizeof *p.memory) != cudaSuccess) {
    return 4;
  }
  for (int d = 0; d < placement.devices; ++d) {
    cudaLaunchConfig_t config{};
    config.gridDim = placement.clusters[d] * placement.cluster_size[d];
    config.blockDim = placement.block_size[d];
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(placement.cluster_size[d]), 1, 1};
    config.attrs = &attribute;
    config.numAttrs = placement.cluster_size[d] > 1 ? 1 : 0;
    p.device = d;
    if (placement.clusters[d] == 0) {
      continue;
    }
    if (cudaSetDevice(d) != cudaSuccess || cudaLaunchKernelEx(&config, interpret, p) != cudaSuccess) {
      return 5;
    }
  }
  Memory end;
  for (int d = 0; d < placement.devices; ++d) {
    if (cudaSetDevice(d) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
      return 3;
    }
  }
  if (placement.devices > 1) {
    end = *p.memory;
  } else {
    cudaMemcpyFromSymbol(&end, of_device, sizeof end);
  }
  unsigned long long outcome = 0;
  for (int t = 0; t < p.threads; ++t) {
    for (int i = 0; i < p.count[t]; ++i) {
      if (reads(p.code[t][i].kind)) {
        outcome = outcome << 4 | end.result[t][i];
      }
    }
  }
  for (int place = 0; place < p.places; ++place) {
    outcome = outcome << 4 | end.place[place * line] >> shift;
  }
  bool among = false;
  for (int i = 4; i < argc; ++i) {
    among = among || std::strtoull(argv[i], nullptr, 16) == outcome;
  }
  const char* want = argv[3] + std::strspn(argv[3], "0123456789");
  return among == (std::strcmp(want, "in") == 0) ? 0 : 1;
}
