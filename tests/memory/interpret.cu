// Interprets a litmus program of heddle_litmus on the device, for test_engine.py.
//
//   interpret SHAPE PROGRAM WANT OUTCOME…
//
// SHAPE: threads of one block ("together"), each in a block ("apart"), or two of one block and the
// others of another one ("pairs"). PROGRAM: instructions of four letters, threads separated by
// commas (litmus.cpp, code()). WANT "in": ends with 1 if the outcome is not among those that
// follow; "not": if it is.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

constexpr int most = 4;
struct Instruction {
  char kind, order, scope, place;
};
struct Program {
  Instruction code[most][most];
  int count[most];
  int threads, per_block;
};

__device__ unsigned places[2 * 32]; // x and y, apart
__device__ unsigned result[most][most];

#define LOAD(words)                                                                                \
  asm volatile("ld." words ".global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory")
#define STORE(words)                                                                               \
  asm volatile("st." words ".global.u32 [%1], %0;" ::"r"(value), "l"(at) : "memory")
#define UPDATE(words)                                                                              \
  asm volatile("atom." words ".global.exch.b32 %0, [%1], %2;"                                      \
               : "=r"(value)                                                                       \
               : "l"(at), "r"(value)                                                               \
               : "memory")
#define FENCE(words) asm volatile("fence." words ";" ::: "memory")
#define SCOPES(DO, order, scope)                                                                   \
  ((scope) == 'c' ? [&] { DO(order ".cta"); }() : [&] { DO(order ".gpu"); }())

__global__ void interpret(Program p) {
  if (threadIdx.x >= p.per_block) {
    return;
  }
  const int t = blockIdx.x * p.per_block + threadIdx.x;
  if (t >= p.threads) {
    return;
  }
  unsigned number = 1;
  for (int i = 0; i < t; ++i) {
    number += p.count[i];
  }
  for (int k = 0; k < p.count[t]; ++k, ++number) {
    const Instruction i = p.code[t][k];
    unsigned* const at = &places[i.place == 'x' ? 0 : 32];
    unsigned value = number;
    if (i.kind == 'l') {
      if (i.order == 'w') {
        LOAD("weak");
      } else if (i.order == 'r') {
        SCOPES(LOAD, "relaxed", i.scope);
      } else {
        SCOPES(LOAD, "acquire", i.scope);
      }
    } else if (i.kind == 's') {
      if (i.order == 'w') {
        STORE("weak");
      } else if (i.order == 'r') {
        SCOPES(STORE, "relaxed", i.scope);
      } else {
        SCOPES(STORE, "release", i.scope);
      }
    } else if (i.kind == 'u') {
      if (i.order == 'r') {
        SCOPES(UPDATE, "relaxed", i.scope);
      } else if (i.order == 'a') {
        SCOPES(UPDATE, "acquire", i.scope);
      } else if (i.order == 'e') {
        SCOPES(UPDATE, "release", i.scope);
      } else {
        SCOPES(UPDATE, "acq_rel", i.scope);
      }
    } else if (i.order == 'c') {
      SCOPES(FENCE, "sc", i.scope);
    } else if (i.order == 'a') {
      SCOPES(FENCE, "acquire", i.scope);
    } else if (i.order == 'e') {
      SCOPES(FENCE, "release", i.scope);
    } else {
      SCOPES(FENCE, "acq_rel", i.scope);
    }
    if (i.kind == 'l' || i.kind == 'u') {
      result[t][k] = value;
    }
  }
}

int main(int argc, char** argv) {
  if (argc < 4) {
    return 2;
  }
  Program p{};
  int k = 0;
  for (const char* at = argv[2]; *at != 0;) {
    if (*at == ',') {
      p.count[p.threads++] = k;
      k = 0;
      ++at;
      continue;
    }
    p.code[p.threads][k++] = {at[0], at[1], at[2], at[3]};
    at += 4;
  }
  p.count[p.threads++] = k;
  const std::string shape = argv[1];
  p.per_block = shape == "together" ? p.threads : shape == "apart" ? 1 : 2;
  interpret<<<(p.threads + p.per_block - 1) / p.per_block, p.per_block>>>(p);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 3;
  }
  unsigned read[most][most], now[2 * 32];
  cudaMemcpyFromSymbol(read, result, sizeof read);
  cudaMemcpyFromSymbol(now, places, sizeof now);
  unsigned long long outcome = 0;
  for (int t = 0; t < p.threads; ++t) {
    for (int i = 0; i < p.count[t]; ++i) {
      if (p.code[t][i].kind == 'l' || p.code[t][i].kind == 'u') {
        outcome = outcome << 4 | read[t][i];
      }
    }
  }
  outcome = (outcome << 4 | now[0]) << 4 | now[32];
  bool among = false;
  for (int i = 4; i < argc; ++i) {
    among = among || std::strtoull(argv[i], nullptr, 16) == outcome;
  }
  return among == (std::strcmp(argv[3], "in") == 0) ? 0 : 1;
}
