// A barrier in shared memory is constructed again by the thread that passes it first, while others still
// wait on it: as in five of NVIDIA's own tests of libcu++. Where others stand by then, or whether they have passed
// without having told so, depends on how long the waiting instruction waits, and so on how busy the machine is.
//@ exercises: [BAR-REUSE], with the place that gives the barrier up and that of the threads that wait
//@ flags: -lineinfo
//@ exit: 1
//@ expect: error\[barrier-reused\]: an mbarrier is initialised again while \d+ threads? (still waits?|might still wait) on it
//@ expect: \(1\) thread \(0,0,0\) of block \(0,0,0\) of kernel
//@ expect: barrier_reused.cu:20:3
//@ expect: \(2\) thread \(\d+,0,0\) of block \(0,0,0\).*: (waits for a phase of it|has passed it, and nothing says so)
#include <cuda/barrier>
#include <new>
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void run() {
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  Barrier* barrier = reinterpret_cast<Barrier*>(room);
  if (threadIdx.x == 0) init(barrier, blockDim.x);
  __syncthreads();
  barrier->arrive_and_wait();
  if (threadIdx.x == 0)
    new (barrier) Barrier(blockDim.x);
  __syncthreads();
  barrier->arrive_and_wait();
}

int main() {
  run<<<1, 128>>>();
  cudaDeviceSynchronize();
}
