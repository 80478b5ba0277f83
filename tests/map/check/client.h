// A client program of a map, written in its arguments: which thread does what. In every schedule
// the program must end, and its results must be those of some sequential map.
//
//     BLOCKS PREPARATION THREAD…        e.g.  2 insert2,erase2 insert1 erase2,insert1
//
// Operations are insert, assign, apply, find, erase and walk, each with a key; `-` is none. One
// device thread prepares; then the threads run, in BLOCKS blocks of equal size; then one more
// thread erases key 1 and looks for it, which finds second copies. With HOST_PART the first thread
// is a host thread that runs while the others do. All keys have one path. Before all that may stand
// `tight`, which allows insertions to find the map full, and `roomN`, the capacity (4).
#pragma once

#include "history.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

struct OnePath {
  template <class Key> __host__ __device__ int operator()(const Key&) const { return 1; }
};

struct Script {
  static constexpr int most_threads = 4;
  Step steps[History::most];
  int begin[most_threads + 1];
  int threads;
};

#pragma nv_exec_check_disable
template <class Map, class Visit>
__host__ __device__ auto walk(const Map& map, Visit visit) -> decltype(map.places(), void()) {
  for (std::size_t place = 0; place < map.places(); ++place) {
    map.visit_place(place, visit);
  }
}
#pragma nv_exec_check_disable
template <class Map, class Visit>
__host__ __device__ auto walk(const Map& map, Visit visit)
    -> decltype(map.for_each(visit), void()) {
  map.for_each(visit);
}

template <class Map>
__host__ __device__ void play(const Map& map, History& h, const Script& script, int thread) {
  for (int i = script.begin[thread]; i < script.begin[thread + 1]; ++i) {
    perform(map, h, i, script.steps[i]);
  }
}
template <class Ref> __global__ void client(Ref map, History* h, Script script, int first) {
  play(map, *h, script, first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}
template <class Ref> __global__ void prepare(Ref map, History* h, Script script) {
  for (int i = 0; i < script.begin[1]; ++i) {
    perform(map, *h, -1, script.steps[i]);
  }
}

inline Step step_of(const std::string& text) {
  const char* const names[] = {"insert", "assign", "apply", "find", "erase", "walk"};
  for (int i = 0; i < 6; ++i) {
    const std::size_t length = std::strlen(names[i]);
    if (text.compare(0, length, names[i]) == 0) {
      return {static_cast<Kind>(i), std::atoi(text.c_str() + length)};
    }
  }
  std::fprintf(stderr, "no operation: %s\n", text.c_str());
  std::exit(2);
}
/// Adds one thread with these operations.
inline void add(Script& script, const std::string& text) {
  int n = script.begin[script.threads];
  for (std::size_t at = 0; text != "-" && at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    script.steps[n++] = step_of(text.substr(at, end - at));
    at = end + 1;
  }
  script.begin[++script.threads] = n;
}

template <class Map> int run_client(int argc, char** argv) {
  Model before{};
  std::size_t capacity = 4;
  for (; argc > 1 && std::isdigit(argv[1][0]) == 0; --argc, ++argv) {
    if (std::strcmp(argv[1], "tight") == 0) {
      before.tight = true;
    } else {
      capacity = static_cast<std::size_t>(std::atoi(argv[1] + std::strlen("room")));
    }
  }
  if (argc < 4) {
    return 2;
  }
  const int blocks = std::atoi(argv[1]);
  Script preparation{}, script{}, afterwards{};
  add(preparation, argv[2]);
  for (int i = 3; i < argc; ++i) {
    add(script, argv[i]);
  }
  const int calls = script.begin[script.threads];
  afterwards.begin[0] = calls;
  add(afterwards, "erase1,find1");
  for (int i = 0; i < preparation.begin[1]; ++i) {
    const Step& s = preparation.steps[i];
    if (s.key < 8) {
      before.value[s.key] = s.kind == Kind::erase ? 0 : value_before;
    }
  }
  History* h;
  if (cudaMallocManaged(&h, sizeof *h) != cudaSuccess) {
    return 2;
  }
  *h = {};
  Map map(capacity);
  if (preparation.begin[1] != 0) {
    prepare<<<1, 1>>>(map.ref(), h, preparation);
  }
#if defined(HOST_PART)
  cudaDeviceSynchronize();
  client<<<blocks, (script.threads - 1) / blocks>>>(map.ref(), h, script, 1);
  play(map, *h, script, 0);
#else
  client<<<blocks, script.threads / blocks>>>(map.ref(), h, script, 0);
#endif
  client<<<1, 1>>>(map.ref(), h, afterwards, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 2;
  }
  require_linearisable(*h, calls + 2, before);
  cudaFree(h);
  return 0;
}
