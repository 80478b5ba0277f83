// Maps that are wrong in the ways that the protocol of packed_table.cuh rules out; `heddle check`
// must find each one.
//
//   duplicate   insertion takes the first tombstone or empty slot that it saw, by one exchange: two
//   threads insert one
//               key in two places while a third pair goes away
//   half        the key is published before its value
//   abandoned   a thread that holds a slot never gives it back, as after an exception that nobody
//   catches unstarted   a block waits for a value that a later block pushes right       the map
//   itself, in the situation of `duplicate`
#include "../../../include/heddle/concurrent_map.cuh"
#include "../../../include/heddle/mpmc_queue.cuh"
#include "../../../include/heddle/mutex.cuh"
#include "history.h"

#include <cstring>

__device__ History history;

/// Two slots, one path. Key 0 is empty, -1 a tombstone.
struct Broken {
  int keys[2];
  int values[2];

  __device__ cuda::atomic_ref<int, cuda::thread_scope_device> key(int i) {
    return cuda::atomic_ref<int, cuda::thread_scope_device>(keys[i]);
  }
  __device__ cuda::atomic_ref<int, cuda::thread_scope_device> value(int i) {
    return cuda::atomic_ref<int, cuda::thread_scope_device>(values[i]);
  }
  __device__ heddle::insert_result try_insert(int k, int v) {
    for (;;) {
      int place = -1, expected = 0;
      for (int i = 0; i < 2; ++i) {
        const int seen = key(i).load();
        if (seen == k) {
          return heddle::insert_result::exists;
        }
        if (seen <= 0 && place < 0) {
          place = i;
          expected = seen;
        }
        if (seen == 0) {
          break;
        }
      }
      if (place < 0) {
        return heddle::insert_result::full;
      }
      if (key(place).compare_exchange_strong(expected, k)) {
        value(place).store(v);
        return heddle::insert_result::inserted;
      }
    }
  }
  __device__ cuda::std::optional<int> find(int k) {
    for (int i = 0; i < 2; ++i) {
      if (key(i).load() == k) {
        return value(i).load();
      }
    }
    return {};
  }
  __device__ bool erase(int k) {
    for (int i = 0; i < 2; ++i) {
      int seen = k;
      if (key(i).compare_exchange_strong(seen, -1)) {
        return true;
      }
    }
    return false;
  }
  __device__ heddle::insert_result insert_or_assign(int, int) {
    return heddle::insert_result::full;
  }
  template <class F> __device__ heddle::insert_result insert_or_apply(int, int, F) {
    return heddle::insert_result::full;
  }
};

__device__ Broken broken;
__device__ heddle::mutex<> mutex;
__device__ heddle::mpmc_queue<int, 2> queue;

/// Pair 2 goes away and key 1 comes, while key 1 comes elsewhere.
template <class Map> __device__ void come_and_go(Map& map) {
  if (threadIdx.x == 0) {
    perform(map, history, 0, Kind::insert, 1, 10);
  } else {
    perform(map, history, 1, Kind::erase, 2, 0);
    perform(map, history, 2, Kind::insert, 1, 20);
  }
}
template <class Map> __device__ void look_afterwards(Map& map) {
  perform(map, history, 3, Kind::erase, 1, 0);
  perform(map, history, 4, Kind::find, 1, 0);
}

struct OnePath {
  __host__ __device__ int operator()(int) const { return 1; }
};
using Right = heddle::concurrent_map<int, int, cuda::thread_scope_device, OnePath>;

__global__ void put(Right::ref_type map) {
  map.try_insert(2, 5);
}
__global__ void right(Right::ref_type map) {
  come_and_go(map);
}
__global__ void right_afterwards(Right::ref_type map) {
  look_afterwards(map);
}
__global__ void put_broken() {
  broken.try_insert(2, 5);
}
__global__ void duplicate() {
  come_and_go(broken);
}
__global__ void duplicate_afterwards() {
  look_afterwards(broken);
}
__global__ void half_done() {
  perform(broken, history, threadIdx.x, threadIdx.x == 0 ? Kind::insert : Kind::find, 1, 10);
}
__global__ void abandoned() {
  mutex.lock();
}
__global__ void unstarted(int* out) {
  if (blockIdx.x == 0) {
    *out = queue.pop();
  } else {
    queue.push(1);
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  Model before{};
  int calls = 0;
  if (std::strcmp(what, "right") == 0) {
    Right map(7);
    put<<<1, 1>>>(map.ref());
    right<<<1, 2>>>(map.ref());
    right_afterwards<<<1, 1>>>(map.ref());
    cudaDeviceSynchronize();
    before.value[2] = 5;
    calls = 5;
  } else if (std::strcmp(what, "duplicate") == 0) {
    put_broken<<<1, 1>>>();
    duplicate<<<1, 2>>>();
    duplicate_afterwards<<<1, 1>>>();
    before.value[2] = 5;
    calls = 5;
  } else if (std::strcmp(what, "half") == 0) {
    half_done<<<1, 2>>>();
    calls = 2;
  } else if (std::strcmp(what, "abandoned") == 0) {
    abandoned<<<1, 2>>>();
  } else if (std::strcmp(what, "unstarted") == 0) {
    int* out;
    cudaMalloc(&out, sizeof *out);
    unstarted<<<2, 1>>>(out);
  } else {
    return 2;
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 2;
  }
  History h;
  cudaMemcpyFromSymbol(&h, history, sizeof h);
  require_linearisable(h, calls, before);
  return 0;
}
