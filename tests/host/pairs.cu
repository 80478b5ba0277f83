// Host and device, each kind of mistake with its good twin: pairs.cu CASE racy|right.
// The line before each case: what plain `heddle run`, `--races` and `heddle check` report of the racy twin; "-": nothing
// (a limit that docs/host.md names); "?": it depends on when threads of the host move; "x": not tried, for one as a
// device need not begin while the host polls.
#include "pair.h"

#include <atomic>
#include <cstdlib>
#include <future>
#include <mutex>
#include <condition_variable>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void add_atomic(int* to) { atomicAdd(to, 1); }
__global__ void add_plain(int* to) { *to += 1; }
__global__ void append(int* list, int* length) {
  if (const int at = atomicAdd(length, 1); at < count / 2) {
    list[at] = threadIdx.x;
  }
}
__constant__ int table[count];
__device__ int variable[count];
__managed__ int shared_variable;
__global__ void from_table(int* to) { to[threadIdx.x] = table[threadIdx.x]; }
__global__ void to_variable() { variable[threadIdx.x] = 1; }
__global__ void bump_shared() { shared_variable += 1; }

static long sum(const int* p) { return std::accumulate(p, p + count, 0L); }
// --- The host reads or writes too early ------------------------------------------------------------

//@ data-race | data-race | data-race
CASE(managed_sum, "") {
  int* data = managed();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) must(cudaStreamSynchronize(s));
  use(sum(data));
}

// By a function of the C library.
//@ data-race | data-race | data-race
CASE(managed_memcpy, "") {
  int *data = managed(), local[count];
  fill<<<1, count>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  std::memcpy(local, data, bytes);
  use(sum(local));
}

//@ data-race | data-race | data-race
CASE(managed_vector, "") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  std::vector<int> all(data, data + count);
  use(sum(all.data()));
}

// Nobody tells the kernel anything by a counter of which it does not use the result.
//@ - | data-race | data-race
CASE(managed_counted, "") {
  int* data = managed();
  use(sum(data));
  add_atomic<<<1, count>>>(data);
  if (right) must(cudaDeviceSynchronize());
  use(sum(data));
}

// A list that a kernel appends to: the host reads how long it is, or makes it empty for the next kernel.
//@ - | data-race | data-race
CASE(appended, "") {
  int *list = managed(), *length = managed(1);
  *length = 0;
  append<<<1, count>>>(list, length);
  if (right) must(cudaDeviceSynchronize());
  use(*length);
}

//@ data-race | data-race | data-race
CASE(appended_and_emptied, "") {
  int *list = managed(), *length = managed(1);
  for (int round = 0; round < 2; ++round) {
    *length = 0;
    append<<<1, count>>>(list, length);
    if (right) must(cudaDeviceSynchronize());
  }
}

//@ data-race | data-race | data-race
CASE(managed_memset, "") {
  int *data = managed(), *to = zeros();
  std::memset(data, 0, bytes);
  copy<<<1, count>>>(to, data);
  if (right) must(cudaDeviceSynchronize());
  std::memset(data, 1, bytes);
}

//@ data-race | data-race | data-race
CASE(pinned_string, "") {
  char* text = reinterpret_cast<char*>(pinned());
  std::memset(text, 0, bytes);
  char* from = reinterpret_cast<char*>(zeros());
  cudaStream_t s = stream();
  must(cudaMemcpyAsync(text, from, bytes, cudaMemcpyDeviceToHost, s));
  if (right) must(cudaStreamSynchronize(s));
  use(static_cast<long>(std::string(text).size()));
}

//@ data-race | data-race | data-race
CASE(pinned_refilled, "") {
  int *from = pinned(), *to = zeros();
  cudaStream_t s = stream();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < count; ++i) from[i] = round;
    must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s));
    if (right) must(cudaStreamSynchronize(s));
  }
}

//@ data-race | data-race | data-race
CASE(set_of_managed, "") {
  int* data = managed();
  cudaStream_t s = stream();
  must(cudaMemsetAsync(data, 0, bytes, s));
  if (right) must(cudaStreamSynchronize(s));
  data[3] = 7;
}

//@ data-race | data-race | data-race
CASE(mapped_result, "") {
  int *data = nullptr, *on_device = nullptr;
  must(cudaHostAlloc(&data, bytes, cudaHostAllocMapped));
  must(cudaHostGetDevicePointer(&on_device, data, 0));
  fill<<<1, count>>>(on_device, 1);
  if (right) must(cudaDeviceSynchronize());
  use(data[5]);
}

//@ data-race | data-race | data-race
CASE(registered_result, "") {
  std::vector<int> data(4096);
  must(cudaHostRegister(data.data(), data.size() * 4, cudaHostRegisterDefault));
  fill<<<1, count>>>(data.data() + 2048, 1);
  if (right) must(cudaDeviceSynchronize());
  use(data[2048 + 5]);
  must(cudaDeviceSynchronize());
  must(cudaHostUnregister(data.data()));
}

//@ data-race | data-race | data-race
CASE(managed_variable, "") {
  shared_variable = 1;
  bump_shared<<<1, 1>>>();
  if (right) must(cudaDeviceSynchronize());
  shared_variable += 1;
  must(cudaDeviceSynchronize());
}

// A class whose memory is managed: the usual base class.
template <bool wait> struct Managed {
  static void* operator new(std::size_t size) {
    void* p = nullptr;
    must(cudaMallocManaged(&p, size));
    if (wait) must(cudaDeviceSynchronize());
    return p;
  }
  static void operator delete(void* p) {
    if (wait) must(cudaDeviceSynchronize());
    must(cudaFree(p));
  }
};
template <bool wait> struct Counter : Managed<wait> {
  int value = 1;
};
template <bool wait> __global__ void count_up(Counter<wait>* c) { c->value += 1; }

//@ data-race | data-race | data-race
CASE(managed_object, "") {
  auto* c = new Counter<right>;
  count_up<<<1, 1>>>(c);
  if (right) must(cudaDeviceSynchronize());
  c->value += 5;
  must(cudaDeviceSynchronize());
  delete c;
}

// --- Waits that are none ----------------------------------------------------------------------------

//@ data-race | data-race | data-race
CASE(query_ignored, "") {
  int* data = managed();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) {
    while (cudaStreamQuery(s) == cudaErrorNotReady) {
    }
  } else {
    static_cast<void>(cudaEventQuery(event()));
  }
  use(data[1]);
}

//@ data-race | data-race | data-race
CASE(event_before_work, "") {
  int* data = managed();
  cudaStream_t s = stream();
  cudaEvent_t e = event();
  if (!right) must(cudaEventRecord(e, s));
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) must(cudaEventRecord(e, s));
  must(cudaEventSynchronize(e));
  use(data[1]);
}

// Synchronising with an event that was never recorded returns at once.
//@ data-race | data-race | data-race
CASE(event_never_recorded, "") {
  int* data = managed();
  cudaStream_t s = stream();
  cudaEvent_t e = event();
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) must(cudaEventRecord(e, s));
  must(cudaEventSynchronize(e));
  use(data[1]);
}

//@ data-race | data-race | data-race
CASE(stream_waits_for_unrecorded, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t e = event();
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) must(cudaEventRecord(e, s));
  must(cudaStreamWaitEvent(t, e));
  copy<<<1, count, 0, t>>>(to, data);
}

// The second record moves the event: what waits for it later waits for the second.
//@ data-race | data-race | data-race
CASE(event_recorded_in_wrong_stream, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t e = event();
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaEventRecord(e, s));
  if (right) must(cudaStreamWaitEvent(t, e));
  must(cudaEventRecord(e, t));
  must(cudaStreamWaitEvent(t, e));
  copy<<<1, count, 0, t>>>(to, data);
}

// The thread that waits has a default stream of its own.
//@ data-race | data-race | data-race
CASE(other_threads_default_stream, "") {
  int* data = managed();
  std::thread([&] { fill<<<1, count, 0, cudaStreamPerThread>>>(data, 1); }).join();
  must(right ? cudaDeviceSynchronize() : cudaStreamSynchronize(cudaStreamPerThread));
  use(data[1]);
}

//@ data-race | data-race | data-race
CASE(prefetch_is_no_wait, "") {
  int* data = managed();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaMemPrefetchAsync(data, bytes, cudaMemLocation{cudaMemLocationTypeHost, 0}, 0, s));
  if (right) must(cudaStreamSynchronize(s));
  use(data[1]);
}

//@ data-race | data-race | data-race
CASE(advice_is_no_wait, "") {
  int* data = managed();
  must(cudaMemAdvise(data, bytes, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  fill<<<1, count>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  use(data[1]);
}

// Memory of one stream: the host may use what belongs to the other one.
//@ data-race | data-race | data-race
CASE(attached, "") {
  cudaStream_t s = stream(), t = stream();
  int *a = managed(), *b = managed();
  must(cudaStreamAttachMemAsync(s, a, 0, cudaMemAttachSingle));
  must(cudaStreamAttachMemAsync(t, b, 0, cudaMemAttachSingle));
  must(cudaDeviceSynchronize());
  fill<<<1, count, 0, s>>>(a, 1);
  (right ? b : a)[0] = 5;
}

//@ data-race | data-race | data-race
CASE(managed_input_changed, "") {
  int *data = managed(), *to = zeros();
  data[0] = 1;
  copy<<<1, count>>>(to, data);
  if (right) must(cudaDeviceSynchronize());
  data[0] = 2;
}

// --- Streams ------------------------------------------------------------------------------------------

//@ data-race | data-race | data-race
CASE(copy_back_of_nonblocking, "") {
  int *data = zeros(), local[count];
  cudaStream_t s = stream(right ? cudaStreamDefault : cudaStreamNonBlocking);
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaMemcpy(local, data, bytes, cudaMemcpyDeviceToHost));
  use(sum(local));
}

//@ data-race | data-race | data-race
CASE(default_then_nonblocking, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = stream(right ? cudaStreamDefault : cudaStreamNonBlocking);
  fill<<<1, count>>>(data, 1);
  copy<<<1, count, 0, s>>>(to, data);
}

// The default stream of each thread waits for the legacy one.
//@ data-race | data-race | data-race
CASE(per_thread_and_legacy, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = right ? cudaStreamPerThread : stream();
  fill<<<1, count, 0, cudaStreamLegacy>>>(data, 1);
  copy<<<1, count, 0, s>>>(to, data);
}

//@ data-race | data-race | data-race
CASE(buffer_of_two_streams, "") {
  int *scratch = zeros(), *a = zeros(), *b = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t used = event();
  fill<<<1, count, 0, s>>>(scratch, 1);
  copy<<<1, count, 0, s>>>(a, scratch);
  must(cudaEventRecord(used, s));
  if (right) must(cudaStreamWaitEvent(t, used));
  fill<<<1, count, 0, t>>>(scratch, 2);
  copy<<<1, count, 0, t>>>(b, scratch);
}

//@ data-race | data-race | data-race
CASE(counter_of_two_streams, "") {
  int* counter = zeros();
  for (int i = 0; i < 2; ++i) {
    if (right) {
      add_atomic<<<1, 1, 0, stream()>>>(counter);
    } else {
      add_plain<<<1, 1, 0, stream()>>>(counter);
    }
  }
}

// Double buffering: the first half is filled again too early.
//@ data-race | data-race | data-race
CASE(double_buffer, "") {
  cudaStream_t s = stream();
  int *half[2] = {pinned(), pinned()}, *in = zeros(), *total = zeros();
  cudaEvent_t copied[2] = {event(), event()};
  for (int round = 0; round < 4; ++round) {
    const int now = round % 2;
    if (round >= (right ? 2 : 3)) must(cudaEventSynchronize(copied[now]));
    half[now][0] = round;
    must(cudaMemcpyAsync(in, half[now], bytes, cudaMemcpyHostToDevice, s));
    must(cudaEventRecord(copied[now], s));
    add<<<1, count, 0, s>>>(total, in);
  }
}

// Rows of a pitched copy: what lies between them is the host's.
//@ data-race | data-race | data-race
CASE(padding_of_rows, "") {
  int *to = pinned(64), *from = zeros();
  std::memset(to, 0, 64 * 4);
  cudaStream_t s = stream();
  must(cudaMemcpy2DAsync(to, 32, from, 16, 16, 4, cudaMemcpyDeviceToHost, s));
  to[right ? 4 : 8] = 1;
}

//@ data-race | data-race | data-race
CASE(array_and_kernel, "") {
  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  must(cudaMallocArray(&array, &format, count, 1));
  int *data = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t e = event();
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaEventRecord(e, s));
  if (right) must(cudaStreamWaitEvent(t, e));
  must(cudaMemcpy2DToArrayAsync(array, 0, 0, data, bytes, bytes, 1, cudaMemcpyDeviceToDevice, t));
}

// --- Symbols ------------------------------------------------------------------------------------------

//@ data-race | data-race | data-race
CASE(constant_in_use, "") {
  int *to = zeros(), *from = pinned();
  std::memset(from, 0, bytes);
  cudaStream_t s = stream(), t = stream();
  from_table<<<1, count, 0, s>>>(to);
  must(cudaMemcpyToSymbolAsync(table, from, bytes, 0, cudaMemcpyHostToDevice, right ? s : t));
}

//@ data-race | data-race | data-race
CASE(symbol_source_changed, "") {
  int* from = pinned();
  std::memset(from, 0, bytes);
  cudaStream_t s = stream();
  must(cudaMemcpyToSymbolAsync(table, from, bytes, 0, cudaMemcpyHostToDevice, s));
  if (right) must(cudaStreamSynchronize(s));
  from[2] = 1;
}

//@ data-race | data-race | data-race
CASE(symbol_read_early, "") {
  int* to = pinned();
  cudaStream_t s = stream();
  to_variable<<<1, count, 0, s>>>();
  must(cudaMemcpyFromSymbolAsync(to, variable, bytes, 0, cudaMemcpyDeviceToHost, s));
  if (right) must(cudaStreamSynchronize(s));
  use(to[4]);
}

// --- Host functions -----------------------------------------------------------------------------------

static void read_all(void* p) { use(sum(static_cast<int*>(p))); }
static void write_all(void* p) {
  for (int i = 0; i < count; ++i) static_cast<int*>(p)[i] = i;
}

//@ - | data-race | data-race
CASE(function_reads_other_streams_copy, "") {
  int *to = pinned(), *from = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t e = event();
  must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaEventRecord(e, s));
  if (right) must(cudaStreamWaitEvent(t, e));
  must(cudaLaunchHostFunc(t, read_all, to));
}

//@ - | data-race | data-race
CASE(function_fills_for_copy, "") {
  int *from = pinned(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  must(cudaLaunchHostFunc(right ? t : s, write_all, from));
  must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, t));
}

struct Done {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

// A host function tells the main thread. (A check reports both twins: while no thread is in a call of the API, nothing
// promises that the stream goes on.)
//@ ? | data-race | x
CASE(function_tells, "") {
  static Done told;
  int* data = managed();
  cudaStream_t s = stream();
  if (!right) must(cudaLaunchHostFunc(s, [](void*) {}, nullptr));
  const auto tell = [](void*) {
    const std::lock_guard lock(told.mutex);
    told.done = true;
    told.changed.notify_one();
  };
  if (!right) must(cudaLaunchHostFunc(s, tell, nullptr));
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) must(cudaLaunchHostFunc(s, tell, nullptr));
  std::unique_lock lock(told.mutex);
  told.changed.wait(lock, [&] { return told.done; });
  lock.unlock();
  use(data[1]);
}

// --- Graphs -------------------------------------------------------------------------------------------

static cudaGraphNode_t kernel_node(cudaGraph_t graph, int* data, int value, const cudaGraphNode_t* after) {
  void* arguments[] = {&data, &value};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(fill);
  p.gridDim = 1;
  p.blockDim = count;
  p.kernelParams = arguments;
  cudaGraphNode_t node;
  must(cudaGraphAddKernelNode(&node, graph, after, after != nullptr ? 1 : 0, &p));
  return node;
}
static cudaGraphExec_t instance(cudaGraph_t graph) {
  cudaGraphExec_t run;
  must(cudaGraphInstantiate(&run, graph, 0));
  return run;
}

//@ data-race | data-race | data-race
CASE(nodes_without_edge, "") {
  int* data = zeros();
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t first = kernel_node(graph, data, 1, nullptr);
  kernel_node(graph, data, 2, right ? &first : nullptr);
  must(cudaGraphLaunch(instance(graph), stream()));
}

// Launches of one executable graph follow each other, whatever their streams. Two of them do not.
//@ data-race | data-race | data-race
CASE(graph_in_two_streams, "") {
  int* data = zeros();
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  kernel_node(graph, data, 1, nullptr);
  cudaGraph_t other;
  must(cudaGraphCreate(&other, 0));
  kernel_node(other, data, 2, nullptr);
  cudaGraphExec_t one = instance(graph), two = right ? one : instance(other);
  must(cudaGraphLaunch(one, stream()));
  must(cudaGraphLaunch(two, stream()));
}

//@ data-race | data-race | data-race
CASE(graph_source_changed, "") {
  int *from = pinned(), *to = zeros();
  std::memset(from, 0, bytes);
  cudaGraph_t graph;
  cudaGraphNode_t node;
  must(cudaGraphCreate(&graph, 0));
  must(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, bytes, cudaMemcpyHostToDevice));
  cudaStream_t s = stream();
  cudaGraphExec_t run = instance(graph);
  for (int round = 0; round < 2; ++round) {
    from[0] = round;
    must(cudaGraphLaunch(run, s));
    if (right) must(cudaStreamSynchronize(s));
  }
}

//@ data-race | data-race | data-race
CASE(graph_result_read, "") {
  int* data = managed();
  cudaStream_t s = stream();
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphLaunch(instance(graph), s));
  if (right) must(cudaStreamSynchronize(s));
  use(data[1]);
}

// A fork within a capture that nobody joins is refused; one that is joined too early races.
//@ data-race | data-race | data-race
CASE(capture_joined_early, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t fork = event(), join = event();
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaEventRecord(fork, s));
  must(cudaStreamWaitEvent(t, fork));
  fill<<<1, count, 0, t>>>(data, 1);
  must(cudaEventRecord(join, t));
  if (right) must(cudaStreamWaitEvent(s, join));
  copy<<<1, count, 0, s>>>(to, data);
  if (!right) must(cudaStreamWaitEvent(s, join));
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphLaunch(instance(graph), s));
}

// --- Memory of a pool ---------------------------------------------------------------------------------

//@ use-after-free | use-after-free | use-after-free
CASE(freed_in_another_stream, "") {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t used = event();
  int* data = nullptr;
  must(cudaMallocAsync(&data, bytes, s));
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaEventRecord(used, s));
  must(cudaStreamWaitEvent(t, right ? used : event()));
  if (!right) { // the allocation comes before, the kernel does not
    must(cudaStreamSynchronize(s));
    fill<<<1, count, 0, s>>>(data, 2);
  }
  must(cudaFreeAsync(data, t));
}

//@ use-before-allocation | use-before-allocation | use-before-allocation
CASE(allocated_behind_the_event, "") {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t e = event();
  int* data = nullptr;
  if (!right) must(cudaEventRecord(e, s));
  must(cudaMallocAsync(&data, bytes, s));
  if (right) must(cudaEventRecord(e, s));
  must(cudaStreamWaitEvent(t, e));
  fill<<<1, count, 0, t>>>(data, 1);
  must(cudaDeviceSynchronize());
  must(cudaFreeAsync(data, s));
}

//@ use-after-free | use-after-free | use-after-free
CASE(copied_after_the_free, "") {
  cudaStream_t s = stream();
  int *data = nullptr, *to = pinned();
  must(cudaMallocAsync(&data, bytes, s));
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) must(cudaMemcpyAsync(to, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaFreeAsync(data, s));
  if (!right) static_cast<void>(cudaMemcpyAsync(to, data, bytes, cudaMemcpyDeviceToHost, s));
  static_cast<void>(cudaStreamSynchronize(s));
  static_cast<void>(cudaGetLastError());
}

// Frees that wait with today's drivers.
//@ - | warning:use-after-free | warning:use-after-free
CASE(buffer_of_a_scope, "") {
  struct Buffer {
    int* p = zeros();
    ~Buffer() { must(cudaFree(p)); }
  };
  cudaStream_t s = stream();
  Buffer buffer;
  fill<<<1, count, 0, s>>>(buffer.p, 1);
  if (right) must(cudaStreamSynchronize(s));
  must(cudaStreamDestroy(s));
}

// --- Threads ------------------------------------------------------------------------------------------

//@ ? | data-race | data-race
CASE(future, "") {
  int* data = managed();
  cudaStream_t s = stream();
  auto result = std::async(std::launch::async, [=] {
    fill<<<1, count, 0, s>>>(data, 1);
    must(cudaStreamSynchronize(s));
  });
  if (right) result.get();
  use(data[1]);
  if (!right) result.get();
}

//@ ? | data-race | data-race
CASE(promise_kept_early, "") {
  int* data = managed();
  std::promise<int> made;
  std::thread worker([&] {
    cudaStream_t s = stream();
    fill<<<1, count, 0, s>>>(data, 1);
    if (right) must(cudaStreamSynchronize(s));
    made.set_value(1);
    must(cudaStreamSynchronize(s));
  });
  use(made.get_future().get() + data[1]);
  worker.join();
}

// One thread waits; the other one goes by a flag that is set behind, or before the wait.
//@ ? | data-race | data-race
CASE(relaxed_flag, "") {
  static std::atomic<int> ready{0};
  int* data = managed();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(data, 1);
  std::thread waits([&] {
    must(cudaStreamSynchronize(s));
    ready.store(1, right ? std::memory_order_release : std::memory_order_relaxed);
  });
  while (ready.load(right ? std::memory_order_acquire : std::memory_order_relaxed) == 0) {
    std::this_thread::yield();
  }
  use(data[1]);
  waits.join();
}

// A worker for each stream, jobs under a lock.
//@ ? | data-race | data-race
CASE(workers, "") {
  std::mutex mutex;
  int* data[2] = {managed(), managed()};
  long total = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&, i] {
      cudaStream_t s = stream();
      fill<<<1, count, 0, s>>>(data[i], i);
      if (right) must(cudaStreamSynchronize(s));
      const std::lock_guard lock(mutex);
      total += sum(data[i]);
      must(cudaStreamSynchronize(s));
    });
  }
  for (std::thread& worker : workers) worker.join();
  use(total);
}

// --- The end ------------------------------------------------------------------------------------------

//@ warning:unawaited | warning:unawaited | -
CASE(nobody_waits, "") {
  int* data = zeros();
  fill<<<1, count, 0, stream()>>>(data, 1);
  if (right) must(cudaDeviceSynchronize());
  std::puts("done");
  std::exit(0);
}

// Each copy has its own bytes, the event says which are there.
//@ data-race | data-race | data-race
CASE(chunks, "") {
  int *to = pinned(4 * count), *from = device_memory<int>(4 * count);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream();
  std::vector<cudaEvent_t> there;
  for (int i = 0; i < 4; ++i) {
    must(cudaMemcpyAsync(to + i * count, from + i * count, bytes, cudaMemcpyDeviceToHost, s));
    there.push_back(event());
    must(cudaEventRecord(there.back(), s));
  }
  for (int i = 0; i < 4; ++i) {
    must(cudaEventSynchronize(there[i]));
    use(sum(to + (right ? i : (i + 1) % 4) * count));
  }
}
