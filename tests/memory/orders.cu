// Weaker orders: where `heddle check --memory=ptx --explain-order` must say that an order is
// needed, and where that it is not (test_explain_order.py reads the words behind `order:`).
#include <cuda/atomic>

#include <cstring>

template <class T> using Atomic = cuda::atomic<T, cuda::thread_scope_device>;

__device__ Atomic<int> flag, first, second;
__device__ int data, copy, both_in;

// Data behind a flag: release and acquire are needed.
__global__ void message() {
  if (threadIdx.x == 0) {
    data = 1;
    flag.store(1, cuda::memory_order_release); // order: store, release is needed
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) { // order: load, acquire is needed
    }
    copy = data;
  }
}

// Nothing is handed over by a counter that nobody waits for.
__global__ void counter() {
  flag.fetch_add(1, cuda::memory_order_acq_rel); // order: update, acq_rel can be weaker; relaxed
}

// Whoever comes first does it: only sequential consistency keeps both from doing so.
__global__ void either() {
  Atomic<int>& mine = threadIdx.x == 0 ? first : second;
  Atomic<int>& other = threadIdx.x == 0 ? second : first;
  mine.store(1, cuda::memory_order_relaxed); // order: store, relaxed already
  __threadfence();                           // order: fence, seq_cst is needed
  if (other.load(cuda::memory_order_relaxed) == 0) {
    data += 1;
  }
}

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  if (is("message")) {
    message<<<1, 2>>>();
  } else if (is("counter")) {
    counter<<<1, 2>>>();
  } else if (is("either")) {
    either<<<1, 2>>>();
  } else {
    return 2;
  }
  return static_cast<int>(cudaDeviceSynchronize());
}
