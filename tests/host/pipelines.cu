// Pipelines as programs have them, each with a mistake and without: pipelines.cu CASE racy|right. The line before each
// case is that of pairs.cu.
#include "pair.h"

#include <atomic>
#include <latch>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__constant__ int factors[count];
__global__ void scale(int* to) { to[threadIdx.x] *= factors[threadIdx.x]; }
__device__ int results[count];
__global__ void to_results(int value) { results[threadIdx.x] = value; }
__global__ void sample(cudaTextureObject_t from, int* to) { to[threadIdx.x] = tex1Dfetch<int>(from, threadIdx.x); }
__global__ void store(cudaSurfaceObject_t to, int value) { surf2Dwrite(value, to, threadIdx.x * 4, 0); }
__global__ void load(cudaSurfaceObject_t from, int* to) { surf2Dread(to + threadIdx.x, from, threadIdx.x * 4, 0); }
__global__ void tell(int* data, int* flag, int value) {
  *data = value;
  __threadfence_system();
  atomicExch_system(flag, 1);
}
__global__ void say(const int* what) { printf("%.0d", *what); }
__global__ void rows(int* to, size_t pitch, int height) {
  for (int y = 0; y < height; ++y) {
    reinterpret_cast<int*>(reinterpret_cast<char*>(to) + y * pitch)[threadIdx.x] = y;
  }
}

static long sum(const int* p) { return std::accumulate(p, p + count, 0L); }
static void put(int* p, int value) {
  for (int i = 0; i < count; ++i) p[i] = value;
}

// --- Events that one thread waits for and another one records ---------------------------------------

// The wait may come before the record: then it waits for nothing.
//@ ? | data-race | data-race
CASE(event_recorded_by_another_thread, "") {
  int* data = zeros();
  int* result = pinned();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t filled = event();
  std::mutex mutex;
  std::latch recorded(1);
  std::thread consumer([&] {
    if (right) recorded.wait();
    {
      const std::lock_guard lock(mutex); // this orders nothing
    }
    must(cudaEventSynchronize(filled));
    must(cudaMemcpyAsync(result, data, bytes, cudaMemcpyDeviceToHost, t));
    must(cudaStreamSynchronize(t));
  });
  {
    const std::lock_guard lock(mutex);
    fill<<<1, count, 0, s>>>(data, 1);
  }
  must(cudaEventRecord(filled, s));
  recorded.count_down();
  consumer.join();
}

//@ ? | data-race | data-race
CASE(stream_waits_for_another_threads_event, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t filled = event();
  std::atomic<bool> recorded{false};
  std::thread producer([&] {
    fill<<<1, count, 0, s>>>(data, 1);
    must(cudaEventRecord(filled, s));
    recorded = true;
    recorded.notify_one();
  });
  if (right) recorded.wait(false);
  must(cudaStreamWaitEvent(t, filled));
  copy<<<1, count, 0, t>>>(to, data);
  producer.join();
}

// A ready event that has not been recorded again says nothing of the second round.
//@ ? | data-race | data-race
CASE(second_round_of_an_event, "") {
  int *data = zeros(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t filled = event();
  std::latch first(1), taken(1), second(1);
  std::thread producer([&] {
    fill<<<1, count, 0, s>>>(data, 1);
    must(cudaEventRecord(filled, s));
    first.count_down();
    taken.wait();
    fill<<<1, count, 0, s>>>(data, 2);
    must(cudaEventRecord(filled, s));
    second.count_down();
  });
  first.wait();
  must(cudaStreamWaitEvent(t, filled));
  copy<<<1, count, 0, t>>>(to, data);
  must(cudaStreamSynchronize(t));
  taken.count_down();
  if (right) second.wait();
  must(cudaEventSynchronize(filled));
  copy<<<1, count, 0, t>>>(to, data);
  producer.join();
}

// What the first record stands for the waiting thread has, whether or not the second one is there.
//@ ? | data-race | data-race
CASE(only_the_first_record_is_needed, "") {
  int *data = zeros(), *other = zeros(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t done = event();
  std::latch first(1);
  std::thread producer([&] {
    fill<<<1, count, 0, s>>>(data, 1);
    must(cudaEventRecord(done, s));
    first.count_down();
    fill<<<1, count, 0, s>>>(other, 1);
    must(cudaEventRecord(done, s));
  });
  first.wait();
  must(cudaStreamWaitEvent(t, done));
  copy<<<1, count, 0, t>>>(to, right ? data : other);
  producer.join();
}

// --- Buffers that are used again --------------------------------------------------------------------

// Two pinned buffers: one is filled while the other one is copied.
//@ data-race | data-race | data-race
CASE(double_buffering, "") {
  int *buffer[2] = {pinned(), pinned()}, *to = zeros(), *all = zeros();
  cudaStream_t s = stream();
  cudaEvent_t copied[2] = {event(), event()};
  for (int round = 0; round < 4; ++round) {
    const int half = round % 2;
    if (right && round >= 2) must(cudaEventSynchronize(copied[half]));
    put(buffer[half], round);
    must(cudaMemcpyAsync(to, buffer[half], bytes, cudaMemcpyHostToDevice, s));
    must(cudaEventRecord(copied[half], s));
    add<<<1, count, 0, s>>>(all, to);
  }
  must(cudaStreamSynchronize(s));
}

// A ring of three; the wrong one waits for the buffer before.
//@ data-race | data-race | data-race
CASE(ring_of_three, "") {
  int *ring[3] = {pinned(), pinned(), pinned()}, *from = zeros();
  cudaStream_t s = stream();
  cudaEvent_t there[3] = {event(), event(), event()};
  long total = 0;
  for (int round = 0; round < 6; ++round) {
    const int slot = round % 3, ready = (round + 1) % 3;
    must(cudaMemcpyAsync(ring[slot], from, bytes, cudaMemcpyDeviceToHost, s));
    must(cudaEventRecord(there[slot], s));
    if (round >= 2) {
      must(cudaEventSynchronize(there[ready]));
      total += sum(ring[right ? ready : slot]);
    }
  }
  must(cudaStreamSynchronize(s));
  use(total);
}

// The copy back of one round and the kernel of the next one, in two streams.
//@ data-race | data-race | data-race
CASE(kernel_overtakes_copy_back, "") {
  int *data = zeros(), *result[2] = {pinned(), pinned()};
  cudaStream_t compute = stream(), back = stream();
  cudaEvent_t computed = event(), copied = event();
  for (int round = 0; round < 2; ++round) {
    if (right && round > 0) must(cudaStreamWaitEvent(compute, copied));
    fill<<<1, count, 0, compute>>>(data, round);
    must(cudaEventRecord(computed, compute));
    must(cudaStreamWaitEvent(back, computed));
    must(cudaMemcpyAsync(result[round], data, bytes, cudaMemcpyDeviceToHost, back));
    must(cudaEventRecord(copied, back));
  }
  must(cudaStreamSynchronize(back));
  use(sum(result[1]));
}

// --- Managed and mapped memory ----------------------------------------------------------------------

// A prefetch to the host is work of a stream: who reads has to wait for the kernel all the same.
//@ data-race | data-race | data-race
CASE(prefetched_result, "") {
  int* data = managed();
  put(data, 0);
  cudaStream_t s = stream();
  must(cudaMemPrefetchAsync(data, bytes, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaMemPrefetchAsync(data, bytes, cudaMemLocation{cudaMemLocationTypeHost, 0}, 0, s));
  if (right) must(cudaStreamSynchronize(s));
  use(sum(data));
}

// The host waits for a flag in mapped memory, and reads the data or its neighbour, which nothing announces.
//@ x | data-race | x
CASE(mapped_flag, "") {
  int* memory = pinned();
  put(memory, 0);
  int *one = memory, *two = memory + 1, *flag = memory + 8;
  cudaStream_t s = stream();
  tell<<<1, 1, 0, s>>>(one, flag, 1);
  fill<<<1, 1, 0, s>>>(two, 2);
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
  use(right ? *one : *two);
  must(cudaStreamSynchronize(s));
}

// --- Host functions ---------------------------------------------------------------------------------

struct Batch {
  int* buffer;
  int round;
};
static void make(void* p) {
  const Batch& batch = *static_cast<Batch*>(p);
  put(batch.buffer, batch.round);
}
// A host function fills the buffer of the copy that follows it in its stream, or in another one.
//@ - | data-race | data-race
CASE(function_fills_buffer, "") {
  int *buffer = pinned(), *to = zeros();
  cudaStream_t s = stream(), t = stream();
  Batch batch[2] = {{buffer, 1}, {buffer, 2}};
  for (Batch& b : batch) {
    must(cudaLaunchHostFunc(s, make, &b));
    must(cudaMemcpyAsync(to, buffer, bytes, cudaMemcpyHostToDevice, right ? s : t));
  }
  must(cudaStreamSynchronize(s));
  must(cudaStreamSynchronize(t));
}

// The main thread reads what a host function fills.
//@ ? | data-race | data-race
CASE(batch_read_too_early, "") {
  int* buffer = pinned();
  cudaStream_t s = stream();
  Batch batch{buffer, 1};
  must(cudaLaunchHostFunc(s, make, &batch));
  if (right) must(cudaStreamSynchronize(s));
  use(sum(buffer));
  must(cudaStreamSynchronize(s));
}

// --- Graphs -----------------------------------------------------------------------------------------

// Nodes: copy in, kernel, copy out. The edge from the kernel to the copy out is missing.
//@ data-race | data-race | data-race
CASE(graph_of_copies, "") {
  int *in = pinned(), *out = pinned(), *data = zeros();
  put(in, 1);
  int value = 3;
  void* arguments[] = {&data, &value};
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, kernel, last;
  must(cudaGraphAddMemcpyNode1D(&first, graph, nullptr, 0, data, in, bytes, cudaMemcpyHostToDevice));
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(fill);
  params.gridDim = dim3(1);
  params.blockDim = dim3(count);
  params.kernelParams = arguments;
  must(cudaGraphAddKernelNode(&kernel, graph, &first, 1, &params));
  must(cudaGraphAddMemcpyNode1D(&last, graph, right ? &kernel : &first, 1, out, data, bytes, cudaMemcpyDeviceToHost));
  cudaGraphExec_t run;
  must(cudaGraphInstantiate(&run, graph, 0));
  cudaStream_t s = stream();
  must(cudaGraphLaunch(run, s));
  must(cudaStreamSynchronize(s));
  use(sum(out));
}

// The source of a copy in a graph is filled for the next launch before the last one has read it.
//@ data-race | data-race | data-race
CASE(graph_launched_again, "") {
  int *in = pinned(), *data = zeros();
  cudaStream_t s = stream();
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaMemcpyAsync(data, in, bytes, cudaMemcpyHostToDevice, s));
  must(cudaStreamEndCapture(s, &graph));
  cudaGraphExec_t run;
  must(cudaGraphInstantiate(&run, graph, 0));
  for (int round = 0; round < 2; ++round) {
    put(in, round);
    must(cudaGraphLaunch(run, s));
    if (right) must(cudaStreamSynchronize(s));
  }
}

// --- Memory in stream order -------------------------------------------------------------------------

// Memory of one stream's pool, used in another one.
//@ data-race | data-race | data-race
CASE(allocated_for_two_streams, "") {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t allocated = event(), used = event();
  int *data = nullptr, *from = zeros();
  must(cudaMallocAsync(&data, bytes, s));
  must(cudaMemsetAsync(data, 0, bytes, s));
  must(cudaEventRecord(allocated, s));
  must(cudaStreamWaitEvent(t, allocated));
  add<<<1, count, 0, s>>>(data, from);
  if (right) {
    must(cudaEventRecord(allocated, s));
    must(cudaStreamWaitEvent(t, allocated));
  }
  add<<<1, count, 0, t>>>(data, from);
  must(cudaEventRecord(used, t));
  must(cudaStreamWaitEvent(s, used));
  must(cudaFreeAsync(data, s));
  must(cudaStreamSynchronize(s));
}

// --- Textures, surfaces, arrays (docs/limits/run.md) ---------------------------------------------------------------------

//@ - | data-race | data-race
CASE(texture_filled_in_another_stream, "") {
  int *data = zeros(), *to = zeros(), *from = pinned();
  put(from, 1);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data, cudaCreateChannelDesc<int>(), static_cast<size_t>(bytes)};
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  must(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t filled = event();
  must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice, s));
  must(cudaEventRecord(filled, s));
  if (right) must(cudaStreamWaitEvent(t, filled));
  sample<<<1, count, 0, t>>>(texture, to);
  must(cudaStreamSynchronize(s));
  must(cudaStreamSynchronize(t));
}

//@ data-race | data-race | data-race
CASE(array_of_two_stages, "") {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  must(cudaMallocArray(&array, &format, count, 1, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  must(cudaCreateSurfaceObject(&surface, &resource));
  int* to = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t stored = event();
  store<<<1, count, 0, s>>>(surface, 1);
  must(cudaEventRecord(stored, s));
  if (right) must(cudaStreamWaitEvent(t, stored));
  load<<<1, count, 0, t>>>(surface, to);
  must(cudaDeviceSynchronize());
}

// --- Symbols ----------------------------------------------------------------------------------------

// New factors for the second kernel while the first one runs.
//@ data-race | data-race | data-race
CASE(factors_of_two_kernels, "") {
  int *data = zeros(), *from = pinned();
  put(from, 2);
  cudaStream_t s = stream(), t = stream();
  must(cudaMemcpyToSymbolAsync(factors, from, bytes, 0, cudaMemcpyHostToDevice, s));
  scale<<<1, count, 0, s>>>(data);
  must(cudaMemcpyToSymbolAsync(factors, from, bytes, 0, cudaMemcpyHostToDevice, right ? s : t));
  scale<<<1, count, 0, s>>>(data);
  must(cudaStreamSynchronize(s));
  must(cudaStreamSynchronize(t));
}

//@ data-race | data-race | data-race
CASE(results_of_two_kernels, "") {
  int* to = pinned();
  cudaStream_t s = stream(), t = stream();
  to_results<<<1, count, 0, s>>>(1);
  must(cudaMemcpyFromSymbolAsync(to, results, bytes, 0, cudaMemcpyDeviceToHost, s));
  to_results<<<1, count, 0, right ? s : t>>>(2);
  must(cudaStreamSynchronize(s));
  must(cudaStreamSynchronize(t));
  use(sum(to));
}

// --- Output, rows, one copy after another -----------------------------------------------------------

// The kernel that prints reads what another stream writes.
//@ data-race | data-race | data-race
CASE(printed_too_early, "") {
  int* data = zeros();
  cudaStream_t s = stream(), t = stream();
  fill<<<1, count, 0, s>>>(data, 0);
  if (right) must(cudaStreamSynchronize(s));
  say<<<1, 1, 0, t>>>(data);
  must(cudaStreamSynchronize(t));
}

// Each stream copies every second row; the wrong one begins in a row of the other one.
//@ data-race | data-race | data-race
CASE(rows_of_two_streams, "") {
  int* data = nullptr;
  size_t pitch = 0;
  must(cudaMallocPitch(&data, &pitch, bytes, 4));
  int* host = pinned(4 * count);
  rows<<<1, count>>>(data, pitch, 4);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream(), t = stream();
  must(cudaMemcpy2DAsync(host, 2 * bytes, data, 2 * pitch, bytes, 2, cudaMemcpyDeviceToHost, s));
  must(cudaMemcpy2DAsync(host + (right ? count : count - 1), 2 * bytes, data, 2 * pitch, bytes, 2, cudaMemcpyDeviceToHost, t));
  must(cudaDeviceSynchronize());
  use(sum(host));
}

// A chain of copies between devices' buffers; the last one is in a stream of its own.
//@ data-race | data-race | data-race
CASE(chain_of_peer_copies, "") {
  int *a = zeros(), *b = zeros(), *c = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t copied = event();
  fill<<<1, count, 0, s>>>(a, 1);
  must(cudaMemcpyPeerAsync(b, 0, a, 0, bytes, s));
  must(cudaEventRecord(copied, s));
  if (right) must(cudaStreamWaitEvent(t, copied));
  must(cudaMemcpyPeerAsync(c, 0, b, 0, bytes, t));
  must(cudaDeviceSynchronize());
}

// Stages on threads of their own, which hand a buffer on by a latch.
//@ ? | data-race | data-race
CASE(stages_on_threads, "") {
  int *from = pinned(), *to = zeros();
  cudaStream_t s = stream();
  std::latch filled(1);
  std::thread fills([&] {
    put(from, 1);
    filled.count_down();
  });
  std::thread copies([&] {
    if (right) filled.wait();
    must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s));
    must(cudaStreamSynchronize(s));
  });
  fills.join();
  copies.join();
}

// Chunks of one buffer, each with a stream: copied in, changed, copied out. The kernel begins one element too early.
//@ data-race | data-race | data-race
CASE(chunks_of_one_buffer, "") {
  constexpr int chunks = 3;
  int *host = pinned(chunks * count), *on_device = device_memory<int>(chunks * count);
  must(cudaDeviceSynchronize());
  put(host, 1);
  for (int n = 0; n < chunks; ++n) {
    cudaStream_t s = stream();
    int* const at = on_device + n * count;
    must(cudaMemcpyAsync(at, host + n * count, bytes, cudaMemcpyHostToDevice, s));
    fill<<<1, count, 0, s>>>(right || n == 0 ? at : at - 1, n);
    must(cudaMemcpyAsync(host + n * count, at, bytes, cudaMemcpyDeviceToHost, s));
  }
  must(cudaDeviceSynchronize());
}

// Two kernels of two streams read what a copy brings; the second one does not wait for it.
//@ data-race | data-race | data-race
CASE(weights_of_two_streams, "") {
  int *weights = zeros(), *a = zeros(), *b = zeros(), *from = pinned();
  put(from, 1);
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t copied = event();
  must(cudaMemcpyAsync(weights, from, bytes, cudaMemcpyHostToDevice, s));
  must(cudaEventRecord(copied, s));
  if (right) must(cudaStreamWaitEvent(t, copied));
  add<<<1, count, 0, s>>>(a, weights);
  add<<<1, count, 0, t>>>(b, weights);
  must(cudaDeviceSynchronize());
}

// A priority is no order.
//@ data-race | data-race | data-race
CASE(priorities, "") {
  int least = 0, greatest = 0, *a = zeros(), *b = zeros();
  must(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t first = nullptr, second = nullptr;
  must(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, greatest));
  must(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, least));
  fill<<<1, count, 0, first>>>(a, 1);
  if (right) must(cudaStreamSynchronize(first));
  add<<<1, count, 0, second>>>(b, a);
  must(cudaDeviceSynchronize());
}

// A kernel waits for one of another stream, by a flag in device memory. A plain run does not look at such kernels.
__global__ void publish(int* data, int* flag) {
  data[threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(flag, 1);
}
__global__ void receive(int* to, const int* data, int* flag, bool waits) {
  if (threadIdx.x == 0 && waits) {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
  __syncthreads();
  __threadfence();
  to[threadIdx.x] = data[threadIdx.x];
}
//@ - | data-race | x
CASE(kernel_waits_for_kernel, "") {
  int *data = zeros(), *to = zeros(), *flag = zeros();
  cudaStream_t s = stream(), t = stream();
  publish<<<1, count, 0, s>>>(data, flag);
  receive<<<1, count, 0, t>>>(to, data, flag, right);
  must(cudaDeviceSynchronize());
}
