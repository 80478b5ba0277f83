// A client program of a map, written in its arguments: which thread does what. In every schedule
// the program must end, and its results must be those of some sequential map.
//
//     BLOCKS PREPARATION THREAD…        e.g.  2 insert2,erase2 insert1 erase2,insert1
//
// Operations are insert, assign, apply, find, erase, walk and contains, each with a key; `-` is
// none. One device thread prepares; then the threads run, in BLOCKS blocks of equal size; then one
// more thread erases key 1 and looks for it, which finds second copies. With HOST_PART the first
// thread is a host thread that runs while the others do. All keys have one path. Before all that
// may stand `tight`, which allows insertions to find the map full, and `roomN`, the capacity (4).
// With RELAXED the operations are those of relaxed().
#pragma once

#include "history.h"
#include <cooperative_groups.h>

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
  bool noted = true; // in the history
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
    perform(map, h, script.noted ? i : -1, script.steps[i]);
  }
}
template <class Ref> __global__ void client(Ref map, History* h, Script script, int first) {
  play(map, *h, script, first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}
/// The operations of a whole warp: the first lane brings a key, and the others bring none.
template <class Ref> struct ByWarp {
  Ref map;
  bool wanted;

  __device__ auto tile() const {
    return cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  }
  __device__ auto try_insert(int key, int value) const {
    return map.try_insert(tile(), key, value, wanted);
  }
  __device__ auto find(int key) const { return map.find(tile(), key, wanted); }
  __device__ bool contains(int key) const { return map.contains(tile(), key, wanted); }
  __device__ bool erase(int key) const { return map.erase(tile(), key, wanted); }
  // There are none of warps.
  __device__ int insert_or_assign(int, int) const { return 0; }
  template <class Function> __device__ int insert_or_apply(int, int, Function) const { return 0; }
  __device__ std::size_t places() const { return 0; }
  template <class Visit> __device__ void visit_place(std::size_t, Visit) const {}
};
/// The first thread of the script is a warp, each other one a thread in a block of its own.
template <class Ref> __global__ void client_of_warp(Ref map, History* h, Script script) {
  const bool notes = threadIdx.x == 0;
  if (blockIdx.x != 0) {
    if (notes) {
      play(map, *h, script, static_cast<int>(blockIdx.x));
    }
    return;
  }
  for (int i = 0; i < script.begin[1]; ++i) {
    Step step = script.steps[i];
    step.other = notes ? step.other : -1;
    perform(ByWarp<Ref>{map, notes}, *h, notes ? i : -1, step);
  }
}

inline Step step_of(const std::string& text) {
  const char* const names[] = {"insert", "assign", "apply", "find", "erase", "walk", "contains"};
  for (int i = 0; i < 7; ++i) {
    const std::size_t length = std::strlen(names[i]);
    if (text.compare(0, length, names[i]) == 0) {
      return {static_cast<Kind>(i), std::atoi(text.c_str() + length), -1, 0};
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

template <class Map, bool OfWarp = false> int run_client(int argc, char** argv) {
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
  preparation.noted = false;
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
      before.value[place_of(s.key)] = s.kind == Kind::erase ? 0 : History::value_before;
    }
  }
  if (calls == 2) {
    for (int i = 0; i < 2; ++i) {
      script.steps[i].other = 1 - i;
      script.steps[i].alone = before.value[place_of(script.steps[i].key)] != 0;
    }
  }
  History* h;
  if (cudaMallocManaged(&h, sizeof *h) != cudaSuccess) {
    return 2;
  }
  *h = {};
  Map map(capacity);
  if (preparation.begin[1] != 0) {
    client<<<1, 1>>>(map.ref(), h, preparation, 0);
  }
#if defined(HOST_PART)
  cudaDeviceSynchronize();
  client<<<blocks, (script.threads - 1) / blocks>>>(map.ref(), h, script, 1);
  play(map, *h, script, 0);
#else
  if constexpr (OfWarp) {
    client_of_warp<<<script.threads, 32>>>(map.ref(), h, script);
  } else {
#if defined(RELAXED)
    client<<<blocks, script.threads / blocks>>>(map.ref().relaxed(), h, script, 0);
#else
    client<<<blocks, script.threads / blocks>>>(map.ref(), h, script, 0);
#endif
  }
#endif
  client<<<1, 1>>>(map.ref(), h, afterwards, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 2;
  }
  require_linearisable(*h, calls + 2, before);
  cudaFree(h);
  return 0;
}
