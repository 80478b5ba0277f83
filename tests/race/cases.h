// Pairs of programs in one: `program CASE racy|right`. CASE(name, "regular expression") begins each;
// the expression must match what is reported for the racy twin; the right twin must be silent.
#pragma once

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

struct Case {
  const char* name;
  void (*racy)();
  void (*right)();
  Case* next;
};
inline Case* cases = nullptr;
struct Register {
  Case entry;
  Register(const char* name, void (*racy)(), void (*right)()) : entry{name, racy, right, cases} {
    cases = &entry;
  }
};
#define CASE(name, expected)                                                                       \
  template <bool right> void name##_case();                                                        \
  static Register register_##name(#name, name##_case<false>, name##_case<true>);                   \
  template <bool right> void name##_case()

inline void must(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
  }
}
template <class T> T* device_memory(size_t count) {
  T* p = nullptr;
  must(cudaMalloc(&p, count * sizeof(T)));
  must(cudaMemset(p, 0, count * sizeof(T)));
  return p;
}

int main(int count, char** arguments) {
  for (Case* c = cases; c != nullptr && count == 3; c = c->next) {
    if (std::strcmp(c->name, arguments[1]) == 0) {
      std::strcmp(arguments[2], "right") == 0 ? c->right() : c->racy();
      must(cudaDeviceSynchronize());
      std::puts("done");
      return 0;
    }
  }
  std::puts("no such case");
  return 2;
}
