// Host and device, each kind of mistake with its good twin: waits that nothing promises, lists, libraries. See pairs.cu.
#include "pair.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void fill_half(int* to, int value) {
  if (threadIdx.x < count / 2) to[threadIdx.x] = value;
}
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__constant__ int table[count];
__global__ void from_table(int* to) { to[threadIdx.x] = table[threadIdx.x]; }

// --- Only a call that may wait stands between the two ----------------------------------------------

//@ warning:data-race | warning:data-race | warning:data-race
CASE(free_of_another, "") {
  int *data = managed(), *other = zeros();
  fill<<<1, count>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  must(cudaFree(other));
  use(data[1]);
}

// What the kernel does not touch is nobody's business, nor is what it only reads and the host, too.
//@ - | - | -
CASE(free_and_the_other_half, "") {
  int *data = managed(), *from = managed(), *other = zeros();
  from[3] = 2;
  fill_half<<<1, count>>>(data, 1);
  copy<<<1, count>>>(device_memory<int>(count), from);
  must(cudaFree(other));
  use(data[count / 2] + from[3]);
}

// The kernel has read what the host writes.
//@ warning:data-race | warning:data-race | warning:data-race
CASE(free_then_refilled, "") {
  int *data = managed(), *to = zeros(), *other = zeros();
  copy<<<1, count>>>(to, data);
  if (right) must(cudaDeviceSynchronize());
  must(cudaFree(other));
  data[1] = 5;
}

//@ warning:data-race | warning:data-race | warning:data-race
CASE(free_host_of_another, "") {
  int *data = pinned(), *other = pinned(), *from = zeros();
  cudaStream_t s = stream();
  must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyDeviceToHost, s));
  if (right) must(cudaStreamSynchronize(s));
  must(cudaFreeHost(other));
  use(data[1]);
}

//@ warning:data-race | warning:data-race | warning:data-race
CASE(unregistered_another, "") {
  auto* other = static_cast<int*>(std::aligned_alloc(4096, 4096));
  must(cudaHostRegister(other, 4096, 0));
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  must(cudaHostUnregister(other));
  use(data[1]);
}

// A set "is asynchronous with respect to the host, except when the target memory is pinned".
//@ warning:data-race | warning:data-race | warning:data-race
CASE(set_of_managed_memory, "") {
  int* data = managed();
  must(cudaMemset(data, 0, bytes));
  if (right) must(cudaDeviceSynchronize());
  use(data[1]);
}
//@ - | - | -
CASE(set_of_pinned_memory, "") {
  int* data = pinned();
  must(cudaMemset(data, 0, bytes));
  use(data[1]);
}

// --- It frees what is in use -------------------------------------------------------------------------

template <class T> struct PinnedAllocator {
  using value_type = T;
  PinnedAllocator() = default;
  template <class U> PinnedAllocator(const PinnedAllocator<U>&) {}
  T* allocate(std::size_t n) {
    T* p = nullptr;
    must(cudaMallocHost(&p, n * sizeof(T)));
    return p;
  }
  void deallocate(T* p, std::size_t) { must(cudaFreeHost(p)); }
  bool operator==(const PinnedAllocator&) const { return true; }
};

// The vector takes other memory while its copy is under way.
//@ warning:use-after-free | warning:use-after-free | warning:use-after-free
CASE(pinned_vector_grows, "") {
  std::vector<int, PinnedAllocator<int>> from(count, 1);
  int* to = zeros();
  cudaStream_t s = stream();
  must(cudaMemcpyAsync(to, from.data(), bytes, cudaMemcpyHostToDevice, s));
  if (right) must(cudaStreamSynchronize(s));
  from.reserve(4 * count);
  must(cudaStreamSynchronize(s));
}

//@ warning:use-after-free | warning:use-after-free | warning:use-after-free
CASE(managed_freed_in_use, "") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  must(cudaFree(data));
}

// --- Pageable memory ------------------------------------------------------------------------------------

// The copy "might be synchronous". A plain run does not see memory that devices do not reach.
//@ - | warning:data-race | warning:data-race
CASE(pageable_result_in_a_vector, "") {
  std::vector<int> back(count);
  int* from = zeros();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(from, 3);
  must(cudaMemcpyAsync(back.data(), from, bytes, cudaMemcpyDeviceToHost, s));
  if (right) must(cudaStreamSynchronize(s));
  use(back[3]);
  must(cudaStreamSynchronize(s));
}

//@ - | warning:data-race | warning:data-race
CASE(pageable_result_on_the_stack, "") {
  int back = 0;
  int* from = zeros();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(from, 3);
  must(cudaMemcpyAsync(&back, from, sizeof back, cudaMemcpyDeviceToHost, s));
  if (right) must(cudaStreamSynchronize(s));
  use(back);
  must(cudaStreamSynchronize(s));
}

// Both are right: each is waited for before it is read, and its memory is used again for something else.
//@ - | - | -
CASE(pageable_results_that_are_waited_for, "") {
  cudaStream_t s = stream(), t = stream();
  int* from = zeros();
  for (int round = 0; round < 3; ++round) {
    std::vector<int> back(count), other(count);
    must(cudaMemcpyAsync(back.data(), from, bytes, cudaMemcpyDeviceToHost, s));
    must(cudaMemcpyAsync(other.data(), from, bytes, cudaMemcpyDeviceToHost, t));
    must(cudaStreamSynchronize(s));
    must(cudaStreamSynchronize(t));
    use(back[round] + other[round]);
  }
}

// --- Streams that nothing orders, by calls that look as if they did ------------------------------------------

// The set is in the legacy stream, and returns before it is done.
//@ - | data-race | data-race
CASE(set_then_nonblocking, "") {
  int *data = device_memory<int>(count), *to = zeros();
  must(cudaMemset(data, 0, bytes));
  cudaStream_t s = stream(right ? cudaStreamDefault : cudaStreamNonBlocking);
  copy<<<1, count, 0, s>>>(to, data);
}

// From pageable memory: the call returns when the source is staged.
//@ - | data-race | data-race
CASE(pageable_then_nonblocking, "") {
  int local[count] = {}, *data = zeros(), *to = zeros();
  must(cudaMemcpy(data, local, bytes, cudaMemcpyHostToDevice));
  cudaStream_t s = stream(right ? cudaStreamDefault : cudaStreamNonBlocking);
  copy<<<1, count, 0, s>>>(to, data);
}
// From pinned memory it returns when it is done: both are right.
//@ - | - | -
CASE(pinned_then_nonblocking, "") {
  int *local = pinned(), *data = zeros(), *to = zeros();
  std::memset(local, 0, bytes);
  must(cudaMemcpy(data, local, bytes, cudaMemcpyHostToDevice));
  copy<<<1, count, 0, stream()>>>(to, data);
}

//@ data-race | data-race | data-race
CASE(symbol_set_while_read, "") {
  int* to = zeros();
  const int local[count] = {1};
  cudaStream_t s = stream(right ? cudaStreamDefault : cudaStreamNonBlocking);
  from_table<<<1, count, 0, s>>>(to);
  must(cudaMemcpyToSymbol(table, local, bytes));
}

// --- Memory that is found by way of other memory -----------------------------------------------------------

struct Node {
  Node* next;
  int value;
};
__global__ void bump(Node* n) {
  for (; n != nullptr; n = n->next) n->value++;
}
//@ - | data-race | data-race
CASE(list, "") {
  Node *first = nullptr, *second = nullptr;
  must(cudaMallocManaged(&first, sizeof(Node)));
  must(cudaMallocManaged(&second, sizeof(Node)));
  *second = {nullptr, 0};
  *first = {second, 0};
  bump<<<1, 1>>>(first);
  if (right) must(cudaDeviceSynchronize());
  use(second->value);
}
