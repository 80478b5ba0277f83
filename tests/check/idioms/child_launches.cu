// Kernels that launch kernels. Nothing obliges a child to start while its parent runs, and a parent is not
// over before its children are; so a parent that waits for a child has no guarantee, and neither has a
// child that waits for what comes after its parent.
//@ nvcc: -rdc=true -lcudadevrt
#include "cases.h"

#include <cuda_runtime.h>

__device__ SystemAtomic<int> flag, other;

__global__ void set() { flag.store(1, memory_order_release); }
__global__ void wait() {
  while (flag.load(memory_order_acquire) == 0) {
  }
}

// --- Parent and child -------------------------------------------------------------------------------

__global__ void only_launches() { set<<<1, 1>>>(); }
__global__ void waits_for_child() {
  set<<<1, 1>>>();
  while (flag.load(memory_order_acquire) == 0) {
  }
}
// A launch is no step, so nothing obliges the parent to come to its second line; an atomic read is one.
template <bool Step> __global__ void child_waits() {
  if (Step) {
    other.load(memory_order_relaxed);
  }
  wait<<<1, 1>>>();
  flag.store(1, memory_order_release);
}
__global__ void child_of_nobody_waits() { wait<<<1, 1>>>(); }

//@ case: only-launches
//@ verdict: terminates
//@ case: parent-waits-for-child
//@ verdict: may-hang
//@ finding: starvation API
//@ case: child-waits-for-parent
//@ verdict: may-hang
//@ finding: starvation API
//@ case: child-waits-for-started-parent
//@ verdict: terminates
//@ case: nobody-releases-child
//@ verdict: may-hang
//@ finding: livelock
template <void (*Kernel)()> static int one_kernel(Setup) {
  Kernel<<<1, 1>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- What comes after the parent --------------------------------------------------------------------

__global__ void set_by_a_child_of_a_child(int depth) {
  if (depth == 0) {
    flag.store(1, memory_order_release);
  } else {
    set_by_a_child_of_a_child<<<1, 1>>>(depth - 1);
  }
}

// Behind the parent in its stream: it begins when the children have ended, and theirs.
//@ case: after-grandchildren
//@ verdict: terminates
//@ case: beside-grandchildren
//@ verdict: may-hang
//@ finding: starvation API
template <bool After> static int grandchildren(Setup) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  set_by_a_child_of_a_child<<<1, 1>>>(2);
  wait<<<1, 1, 0, After ? nullptr : stream>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- Streams of the device --------------------------------------------------------------------------

__global__ void in_order() {
  set<<<1, 1>>>();
  wait<<<1, 1>>>();
}
__global__ void in_wrong_order() {
  wait<<<1, 1>>>();
  set<<<1, 1>>>();
}
__global__ void forgotten() {
  wait<<<1, 1, 0, cudaStreamFireAndForget>>>();
  set<<<1, 1, 0, cudaStreamFireAndForget>>>();
}
__global__ void in_named_streams() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  wait<<<1, 1, 0, stream>>>();
  set<<<1, 1>>>();
}
template <bool Right> __global__ void ordered_by_event() {
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (Right) {
    set<<<1, 1>>>();
  }
  cudaEventRecord(event, nullptr);
  cudaStreamWaitEvent(stream, event, 0);
  wait<<<1, 1, 0, stream>>>();
  if (!Right) {
    set<<<1, 1>>>();
  }
}

//@ case: in-order
//@ verdict: terminates
//@ case: in-wrong-order
//@ verdict: may-hang
//@ finding: livelock
//@ case: forgotten
//@ verdict: may-hang
//@ finding: starvation API
//@ case: in-named-streams
//@ verdict: may-hang
//@ finding: starvation API
//@ case: ordered-by-event
//@ verdict: terminates
//@ case: event-too-early
//@ verdict: may-hang
//@ finding: starvation API

// --- Tail launches ----------------------------------------------------------------------------------

__global__ void tail_waits() {
  wait<<<1, 1, 0, cudaStreamTailLaunch>>>();
  set<<<1, 1>>>();
}
__global__ void child_waits_for_tail() {
  set<<<1, 1, 0, cudaStreamTailLaunch>>>();
  wait<<<1, 1>>>();
}
__global__ void tails_in_order() {
  set<<<1, 1, 0, cudaStreamTailLaunch>>>();
  wait<<<1, 1, 0, cudaStreamTailLaunch>>>();
}
__global__ void tails_in_wrong_order() {
  wait<<<1, 1, 0, cudaStreamTailLaunch>>>();
  set<<<1, 1, 0, cudaStreamTailLaunch>>>();
}
__global__ void again(int rounds) {
  if (rounds != 0) {
    again<<<1, 1, 0, cudaStreamTailLaunch>>>(rounds - 1);
  } else {
    flag.store(1, memory_order_release);
  }
}
__global__ void goes_on_by_tails() { again<<<1, 1>>>(2); }

//@ case: tail-waits
//@ verdict: terminates
//@ case: child-waits-for-tail
//@ verdict: may-hang
//@ finding: livelock
//@ case: tails-in-order
//@ verdict: terminates
//@ case: tails-in-wrong-order
//@ verdict: may-hang
//@ finding: livelock
//@ case: goes-on-by-tails
//@ verdict: terminates

// --- Several launching threads ----------------------------------------------------------------------

__global__ void add_one() { other.fetch_add(1, memory_order_relaxed); }
__global__ void each_launches() {
  add_one<<<1, 1>>>();
  if (threadIdx.x == 0) {
    set<<<1, 1, 0, cudaStreamTailLaunch>>>();
  }
}

//@ case: each-thread-launches
//@ verdict: terminates
//@ case: each-thread-launches
//@ flags: --warps=lockstep
//@ verdict: terminates

// --- Copies by kernels ------------------------------------------------------------------------------

__device__ int words[] = {0, 1, 2};

// While the copy is under way, no register tells which of the two it is.
__global__ void copies_one_of_two() {
  if (blockIdx.x == 1) {
    other.store(1, memory_order_relaxed);
    return;
  }
  const int from = 1 + other.load(memory_order_relaxed);
  cudaMemcpyAsync(words, words + from, sizeof(int), cudaMemcpyDeviceToDevice, nullptr);
}
__global__ void wait_if(int value) {
  while (*static_cast<volatile int*>(words) == value) {
  }
}
template <int Value> int after_one_of_two(Setup) {
  copies_one_of_two<<<2, 1>>>();
  wait_if<<<1, 1>>>(Value);
  return static_cast<int>(cudaDeviceSynchronize());
}

//@ case: first-of-two-copies
//@ verdict: may-hang
//@ finding: livelock
//@ case: second-of-two-copies
//@ verdict: may-hang
//@ finding: livelock
//@ case: neither-of-two-copies
//@ verdict: terminates

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"only-launches", one_kernel<only_launches>},
      {"parent-waits-for-child", one_kernel<waits_for_child>},
      {"child-waits-for-parent", one_kernel<child_waits<false>>},
      {"child-waits-for-started-parent", one_kernel<child_waits<true>>},
      {"nobody-releases-child", one_kernel<child_of_nobody_waits>},
      {"after-grandchildren", grandchildren<true>},
      {"beside-grandchildren", grandchildren<false>},
      {"in-order", one_kernel<in_order>},
      {"in-wrong-order", one_kernel<in_wrong_order>},
      {"forgotten", one_kernel<forgotten>},
      {"in-named-streams", one_kernel<in_named_streams>},
      {"ordered-by-event", one_kernel<ordered_by_event<true>>},
      {"event-too-early", one_kernel<ordered_by_event<false>>},
      {"tail-waits", one_kernel<tail_waits>},
      {"child-waits-for-tail", one_kernel<child_waits_for_tail>},
      {"tails-in-order", one_kernel<tails_in_order>},
      {"tails-in-wrong-order", one_kernel<tails_in_wrong_order>},
      {"goes-on-by-tails", one_kernel<goes_on_by_tails>},
      {"each-thread-launches", [](Setup) {
         each_launches<<<1, 2>>>();
         return static_cast<int>(cudaDeviceSynchronize());
       }},
      {"first-of-two-copies", after_one_of_two<1>},
      {"second-of-two-copies", after_one_of_two<2>},
      {"neither-of-two-copies", after_one_of_two<0>},
  });
}
