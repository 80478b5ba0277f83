// Two threads, one operation each, on one key of a tiny map: in every schedule the program must
// end, and its results must be those of some sequential map. Arguments: two operations (insert,
// assign, apply, find, erase), what was there before (absent, present, erased: a tombstone with the
// key's path around it), and the number of blocks (1 or 2). A third operation after both, an
// erasure, finds second copies of the key.
#include "../../../include/heddle/concurrent_map.cuh"
#include "history.h"

#include <cstring>

#ifndef LAYOUT
#define LAYOUT packed8
#endif
using Map = heddle::concurrent_map<
    int,
    int,
    cuda::thread_scope_device,
    heddle::hash<int>,
    heddle::equal_to<int>,
    heddle::device_allocator,
    heddle::layout::LAYOUT>;

__device__ History history;

__global__ void client(Map::ref_type map, Kind first, Kind second) {
  if (blockIdx.x + threadIdx.x == 0) {
    perform(map, history, 0, first, 1, 10);
  } else {
    perform(map, history, 1, second, 1, 20);
  }
}
__global__ void prepare(Map::ref_type map, bool erase) {
  map.try_insert(1, 5);
  if (erase) {
    map.erase(1);
  }
}
__global__ void finish(Map::ref_type map) {
  perform(map, history, 2, Kind::erase, 1, 0);
  perform(map, history, 3, Kind::find, 1, 0);
}

Kind kind_of(const char* name) {
  const char* const names[] = {"insert", "assign", "apply", "find", "erase"};
  for (int i = 0; i < 5; ++i) {
    if (std::strcmp(name, names[i]) == 0) {
      return static_cast<Kind>(i);
    }
  }
  std::exit(2);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    return 2;
  }
  Map map(2);
  Model before{};
  if (std::strcmp(argv[3], "absent") != 0) {
    const bool erase = std::strcmp(argv[3], "erased") == 0;
    prepare<<<1, 1>>>(map.ref(), erase);
    before.value[1] = erase ? 0 : 5;
  }
  const int blocks = std::atoi(argv[4]);
  client<<<blocks, 3 - blocks>>>(map.ref(), kind_of(argv[1]), kind_of(argv[2]));
  finish<<<1, 1>>>(map.ref());
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 2;
  }
  History h;
  cudaMemcpyFromSymbol(&h, history, sizeof h);
  require_linearisable(h, 4, before);
  return 0;
}
