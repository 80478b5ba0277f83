// Programs in which two reductions of the search meet: threads that are alike, or become alike, and
// accesses that are attributed to one thread; the last of several blocks and the one before it; a
// cluster's first operation and its first step; copies and updates that commute. Each hangs under
// one order only, which a reduction that is sound alone, but not with the others, leaves out.
#include "cases.h"

__device__ Atomic<int> tickets{0}, mark{0}, never{0}, turn{0}, mine[2], first{0}, second{0};
__device__ int counter, place, nothing, data;

__device__ void wait_for_ever() {
  while (!never.load()) {
  }
}

// --- Tickets -----------------------------------------------------------------------------------

// Which block takes the last ticket but one matters, too: block 0 hangs if it comes behind block 0.
//@ case: last-but-one 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: last-but-one 3
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: last-but-one 16
//@ large: 2^16 states
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void last_but_one() {
  const int i = tickets.fetch_add(1), n = gridDim.x;
  if (i == n - 2) {
    mark.store(blockIdx.x + 1);
  }
  if (i == n - 1 && mark.load() * 32 + blockIdx.x == 33) {
    wait_for_ever();
  }
}

// Nobody waits.
//@ case: last-but-one-ends 16
//@ large: 2^16 states
//@ verdict: terminates
__global__ void last_but_one_ends() {
  const int i = tickets.fetch_add(1), n = gridDim.x;
  if (i == n - 2) {
    mark.store(blockIdx.x + 1);
  }
  if (i == n - 1 && mark.load() * 32 + blockIdx.x == 33) {
    counter = 1;
  }
}

// --- Threads that are alike, and accesses that look like those of one thread --------------------

// Thread by thread, the tickets 0 and 2 may be those of different threads.
//@ case: alike block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: alike-unoptimised block 2
//@ nvcc: -G
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void alike() {
  int i;
  do {
    i = atomicAdd(&counter, 1);
    if ((i == 0 || i == 2) && atomicExch(&place, i + 1) == 3 && i == 0) {
      while (!atomicAdd(&nothing, 0)) {
      }
    }
  } while (i < 3);
}

// The same with memory of the heap: two pieces may be alive at once, and one is all there is room
// for.
//@ case: alike-heap block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void alike_heap() {
  int i;
  do {
    i = atomicAdd(&counter, 1);
    if (i == 0 || i == 2) {
      char* const piece = static_cast<char*>(malloc(5 << 20));
      if (piece == nullptr) {
        while (!atomicAdd(&nothing, 0)) {
        }
      }
      *piece = 1;
      free(piece);
    }
  } while (i < 3);
}

// Told apart at first; when both have nothing but a ticket to take they are alike, and the one that
// takes it need not be the one that has used the place before.
//@ case: alike-later block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void alike_later() {
  if (threadIdx.x == 0) {
    atomicExch(&place, 1);
  }
  const int i = atomicAdd(&counter, 1);
  if (i == 0 && atomicExch(&place, 2) == 0) {
    while (!atomicAdd(&nothing, 0)) {
    }
  }
}

// The same between blocks.
//@ case: alike-later plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void alike_later_blocks() {
  if (blockIdx.x == 0) {
    atomicExch(&place, 1);
  }
  const int i = atomicAdd(&counter, 1);
  if (i == 0 && atomicExch(&place, 2) == 0) {
    while (!atomicAdd(&nothing, 0)) {
    }
  }
}

// The elements of a vector are accesses of their own. Without weak memory they are made at once, and
// the verdict says so.
//@ case: vector-in-parts
//@ verdict: unknown
//@ coverage: bounded
//@ case: vector-in-parts
//@ flags: --memory=ptx
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__device__ ulonglong2 pair;
__global__ void vector_in_parts() {
  if (blockIdx.x == 0) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %1};" ::"l"(&pair), "l"(1ull) : "memory");
  } else {
    unsigned long long x, y;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x), "=l"(y)
                 : "l"(&pair)
                 : "memory");
    if (x != y) {
      wait_for_ever();
    }
  }
}

// Lanes that stand at one instruction and go to two places, of which others change only the second
// one.
//@ case: lanes-at-two-places block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__device__ int words[32], results[2];
__global__ void lanes_at_two_places() {
  atomicAdd(&counter, 1);
  const int before = atomicAdd(&words[threadIdx.x * 16], 1);
  results[threadIdx.x] = atomicAdd(&words[before == 0 ? 0 : 16], 1);
  if (before == 1) {
    while (!atomicAdd(&nothing, 0)) {
    }
  }
}

// --- How a cluster starts ------------------------------------------------------------------------

// A write is no step: the thread that has written first need not be the one that goes on first.
//@ case: write-first block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void write_first() {
  mine[threadIdx.x].store(1);
  if (turn.exchange(threadIdx.x + 1) == 0 && threadIdx.x == 1) {
    wait_for_ever();
  }
}

// --- Copies, sets and updates that commute -------------------------------------------------------

__global__ void add_two(int* sum) {
  atomicAdd(sum, 1);
}

template <class Read> int read_half(Read read) {
  cudaStream_t stream;
  int* sum = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  cudaDeviceSynchronize();
  add_two<<<1, 2, 0, stream>>>(sum);
  const int h = read(sum);
  while (h == 1) {
    (void)*const_cast<const volatile int*>(&h);
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

//@ case: copy-half
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
int copy_half(Setup) {
  return read_half([](int* sum) {
    int h = 0;
    cudaMemcpy(&h, sum, sizeof h, cudaMemcpyDeviceToHost);
    return h;
  });
}

//@ case: copy-half-between-devices
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
int copy_half_between(Setup) {
  return read_half([](int* sum) {
    int h = 0, *other = nullptr;
    cudaStream_t copies;
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaMalloc(&other, sizeof h);
    cudaMemcpyAsync(other, sum, sizeof h, cudaMemcpyDeviceToDevice, copies);
    cudaDeviceSynchronize();
    cudaMemcpy(&h, other, sizeof h, cudaMemcpyDeviceToHost);
    return h;
  });
}

// Zeroed between the two updates.
//@ case: set-half
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
int set_half(Setup) {
  return read_half([](int* sum) {
    int h = 0;
    cudaStream_t sets;
    cudaStreamCreateWithFlags(&sets, cudaStreamNonBlocking);
    cudaMemsetAsync(sum, 0, sizeof h, sets);
    cudaDeviceSynchronize();
    cudaMemcpy(&h, sum, sizeof h, cudaMemcpyDeviceToHost);
    return h;
  });
}

// Nobody owes the set to a kernel that waits for it, whichever reductions there are.
//@ case: set-awaited
//@ flags: --straight-after=1 --no-sums --no-orderly
//@ verdict: may-hang
//@ finding: starvation API
__global__ void wait_for_zero(int* place) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> word(*place);
  while (word.load() != 0) {
  }
}
int set_awaited(Setup) {
  int* word = nullptr;
  cudaStream_t waits, sets;
  cudaStreamCreateWithFlags(&waits, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&sets, cudaStreamNonBlocking);
  cudaMalloc(&word, sizeof *word);
  cudaMemset(word, 1, sizeof *word);
  cudaDeviceSynchronize();
  wait_for_zero<<<1, 1, 0, waits>>>(word);
  cudaMemsetAsync(word, 0, sizeof *word, sets);
  return static_cast<int>(cudaDeviceSynchronize());
}

// The host reads a sum of a grid that it has not waited for, after something else that it has.
//@ case: sum-read-by-host
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: livelock
//@ case: sum-awaited-by-host
//@ flags: --straight-after=1
//@ verdict: terminates
__global__ void add_one(int* sum) {
  atomicAdd_system(sum, 1);
}
int sum_and_host(bool waits) {
  int *sum = nullptr, *other = nullptr;
  cudaStream_t adds, sets;
  cudaStreamCreateWithFlags(&adds, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&sets, cudaStreamNonBlocking);
  cudaMallocHost(&sum, sizeof *sum);
  cudaMalloc(&other, sizeof *other);
  *sum = 0;
  add_one<<<2, 1, 0, adds>>>(sum);
  cudaMemsetAsync(other, 0, sizeof *other, sets);
  cudaStreamSynchronize(waits ? adds : sets);
  if (cuda::std::atomic_ref<int>(*sum).load() == 0) {
    for (;;) {
      (void)cuda::std::atomic_ref<int>(*sum).load();
    }
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- Launches of one kernel ----------------------------------------------------------------------

// A grid of two blocks one of which has ended is no grid of one block: its threads can tell.
//@ case: shape-of-grid
//@ verdict: may-hang
//@ finding: livelock
//@ case: shape-of-block
//@ verdict: may-hang
//@ finding: livelock
//@ case: size-of-shared-memory
//@ verdict: may-hang
//@ finding: livelock
//@ case: shape-awaited
//@ verdict: terminates
__global__ void flip(int blocks) {
  if (turn.fetch_xor(1) == 1 && gridDim.x == blocks) {
    wait_for_ever();
  }
}
__global__ void flip_block(int threads) {
  if (threadIdx.x == 0 && turn.fetch_xor(1) == 1 && blockDim.x == threads) {
    wait_for_ever();
  }
}
__global__ void flip_shared(unsigned bytes) {
  unsigned size;
  asm volatile("mov.u32 %0, %dynamic_smem_size;" : "=r"(size));
  if (turn.fetch_xor(1) == 1 && size == bytes) {
    wait_for_ever();
  }
}
int shape_of_grid(int blocks) {
  flip<<<2, 1>>>(blocks);
  cudaDeviceSynchronize();
  flip<<<1, 1>>>(blocks);
  cudaDeviceSynchronize();
  flip<<<1, 1>>>(blocks);
  return static_cast<int>(cudaDeviceSynchronize());
}
int shape_of_block() {
  for (int threads : {2, 2, 1, 1}) {
    flip_block<<<1, threads>>>(1);
    cudaDeviceSynchronize();
  }
  return 0;
}
int size_of_shared_memory() {
  for (int bytes : {32, 32, 16, 16}) {
    flip_shared<<<1, 1, bytes>>>(16);
    cudaDeviceSynchronize();
  }
  return 0;
}

// The same kernel again while the host asks how far the first launch is.
//@ case: launched-again
//@ verdict: terminates
//@ case: launched-again
//@ flags: --one-order-after=1 --no-sums --no-orderly
//@ verdict: terminates
__global__ void add_more() {
  tickets.fetch_add(blockIdx.x + tickets.load(cuda::std::memory_order_relaxed));
}
int launched_again() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  add_more<<<2, 1, 0, stream>>>();
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  add_more<<<1, 1, 0, stream>>>();
  return static_cast<int>(cudaStreamSynchronize(stream));
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"shape-of-grid", [](Setup) { return shape_of_grid(1); }},
          {"shape-awaited", [](Setup) { return shape_of_grid(3); }},
          {"shape-of-block", [](Setup) { return shape_of_block(); }},
          {"size-of-shared-memory", [](Setup) { return size_of_shared_memory(); }},
          {"launched-again", [](Setup) { return launched_again(); }},
          {"sum-read-by-host", [](Setup) { return sum_and_host(false); }},
          {"sum-awaited-by-host", [](Setup) { return sum_and_host(true); }},
          {"last-but-one", [](Setup s) { return run_kernel(s, last_but_one); }, 3},
          {"last-but-one-ends", [](Setup s) { return run_kernel(s, last_but_one_ends); }, 3},
          {"alike", [](Setup s) { return run_kernel(s, alike); }},
          {"alike-unoptimised", [](Setup s) { return run_kernel(s, alike); }},
          {"alike-heap", [](Setup s) { return run_kernel(s, alike_heap); }},
          {"alike-later",
           [](Setup s) {
             return run_kernel(s, s.shape == Shape::Block ? alike_later : alike_later_blocks);
           }},
          {"lanes-at-two-places", [](Setup s) { return run_kernel(s, lanes_at_two_places); }},
          {"vector-in-parts", [](Setup s) { return run_kernel(s, vector_in_parts); }},
          {"write-first", [](Setup s) { return run_kernel(s, write_first); }},
          {"copy-half", copy_half},
          {"copy-half-between-devices", copy_half_between},
          {"set-half", set_half},
          {"set-awaited", set_awaited},
      }
  );
}
