// Programs with streams that are right: right.cu CASE. Nothing may be said of them in a plain run, by --races, or by
// `heddle check`, and each gets the numbers that it expects (else exit status 1).
#include "right.h"

// Two pinned buffers take turns; an event says when the copy has read one.
bool double_buffer() {
  cudaStream_t s = stream();
  int *half[2] = {pinned(), pinned()}, *sum = device(), *in = device(), *out = pinned();
  cudaEvent_t copied[2] = {event(), event()};
  must(cudaMemsetAsync(sum, 0, bytes, s));
  for (int round = 0; round < 3; ++round) {
    int* const now = half[round % 2];
    if (round >= 2) {
      must(cudaEventSynchronize(copied[round % 2]));
    }
    for (int i = 0; i < count; ++i) {
      now[i] = round + 1;
    }
    must(cudaMemcpyAsync(in, now, bytes, cudaMemcpyHostToDevice, s));
    must(cudaEventRecord(copied[round % 2], s));
    add<<<1, count, 0, s>>>(sum, in);
  }
  must(cudaMemcpyAsync(out, sum, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 6);
}

// Copies in one stream, kernels in another, events both ways.
bool copy_and_compute() {
  cudaStream_t copies = stream(), kernels = stream();
  int *from = pinned(), *out = pinned(), *in = device(), *sum = device();
  std::memset(from, 0, bytes);
  cudaEvent_t there = event(), used = event();
  must(cudaMemsetAsync(sum, 0, bytes, kernels));
  for (int round = 0; round < 2; ++round) {
    must(cudaStreamWaitEvent(copies, used));
    must(cudaMemcpyAsync(in, from, bytes, cudaMemcpyHostToDevice, copies));
    must(cudaEventRecord(there, copies));
    must(cudaStreamWaitEvent(kernels, there));
    add<<<1, count, 0, kernels>>>(sum, in);
    must(cudaEventRecord(used, kernels));
  }
  must(cudaMemcpyAsync(out, sum, bytes, cudaMemcpyDeviceToHost, kernels));
  must(cudaStreamSynchronize(kernels));
  return all(out, 0);
}

// The event goes as soon as it has been waited for by the other stream.
bool events_that_go_early() {
  cudaStream_t s = stream(), t = stream();
  int *data = device(), *out = pinned();
  fill<<<1, count, 0, s>>>(data, 3);
  cudaEvent_t e = event();
  must(cudaEventRecord(e, s));
  must(cudaStreamWaitEvent(t, e));
  must(cudaEventDestroy(e));
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, t));
  must(cudaStreamSynchronize(t));
  return all(out, 3);
}

bool stream_that_goes_early() {
  cudaStream_t s = stream();
  int* data = managed();
  fill<<<1, count, 0, s>>>(data, 4);
  must(cudaStreamDestroy(s));
  must(cudaDeviceSynchronize());
  return all(data, 4);
}

bool fork_and_join() {
  cudaStream_t main_stream = stream(), parts[2] = {stream(), stream()};
  int* data[2] = {managed(), managed()};
  cudaEvent_t begin = event(), end[2] = {event(), event()};
  fill<<<1, count, 0, main_stream>>>(data[0], 1);
  must(cudaEventRecord(begin, main_stream));
  for (int i = 0; i < 2; ++i) {
    must(cudaStreamWaitEvent(parts[i], begin));
    if (i == 1) {
      fill<<<1, count, 0, parts[i]>>>(data[i], 5);
    } else {
      add<<<1, count, 0, parts[i]>>>(data[i], data[i]);
    }
    must(cudaEventRecord(end[i], parts[i]));
    must(cudaStreamWaitEvent(main_stream, end[i]));
  }
  add<<<1, count, 0, main_stream>>>(data[0], data[1]);
  must(cudaStreamSynchronize(main_stream));
  return all(data[0], 7);
}

bool host_function_in_between() {
  cudaStream_t s = stream();
  int *from = pinned(), *data = device(), *out = pinned();
  must(cudaLaunchHostFunc(s, [](void* p) { std::memset(p, 0, bytes); static_cast<int*>(p)[0] = 9; }, from));
  must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice, s));
  copy<<<1, count, 0, s>>>(out, data);
  must(cudaStreamSynchronize(s));
  return out[0] == 9 && out[1] == 0;
}

bool callback_tells() {
  static std::atomic<int> done{0};
  cudaStream_t s = stream();
  int* data = managed();
  fill<<<1, count, 0, s>>>(data, 6);
  must(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) { done.store(1, std::memory_order_release); }, nullptr, 0));
  while (done.load(std::memory_order_acquire) == 0) {
    cudaStreamQuery(s); // else nothing obliges a device to begin
  }
  const bool right = all(data, 6);
  must(cudaStreamSynchronize(s));
  return right;
}

bool graph_by_capture() {
  cudaStream_t s = stream();
  int *data = device(), *more = device(), *out = pinned();
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  fill<<<1, count, 0, s>>>(data, 1);
  fill<<<1, count, 0, s>>>(more, 2);
  add<<<1, count, 0, s>>>(data, more);
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphDestroy(graph));
  must(cudaGraphLaunch(run, s));
  must(cudaGraphLaunch(run, s));
  must(cudaGraphExecDestroy(run));
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 3);
}

bool graph_with_branches() {
  int *a = managed(), *b = managed();
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaGraphCreate(&graph, 0));
  int one = 1, two = 2;
  void *first[] = {&a, &one}, *second[] = {&b, &two}, *both[] = {&a, &b};
  cudaKernelNodeParams p{};
  p.gridDim = 1;
  p.blockDim = count;
  cudaGraphNode_t nodes[3];
  p.func = reinterpret_cast<void*>(fill);
  p.kernelParams = first;
  must(cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &p));
  p.kernelParams = second;
  must(cudaGraphAddKernelNode(&nodes[1], graph, nullptr, 0, &p));
  p.func = reinterpret_cast<void*>(add);
  p.kernelParams = both;
  must(cudaGraphAddKernelNode(&nodes[2], graph, nodes, 2, &p));
  must(cudaGraphInstantiate(&run, graph, 0));
  cudaStream_t s = stream();
  must(cudaGraphLaunch(run, s));
  must(cudaStreamSynchronize(s));
  return all(a, 3);
}

bool memory_of_a_stream() {
  cudaStream_t s = stream();
  int *data = nullptr, *out = pinned();
  must(cudaMallocAsync(&data, bytes, s));
  fill<<<1, count, 0, s>>>(data, 8);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaFreeAsync(data, s));
  must(cudaStreamSynchronize(s));
  return all(out, 8);
}

bool memory_handed_to_another_stream() {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t there = event(), used = event();
  int *data = nullptr, *out = pinned();
  must(cudaMallocAsync(&data, bytes, s));
  must(cudaEventRecord(there, s));
  must(cudaStreamWaitEvent(t, there));
  fill<<<1, count, 0, t>>>(data, 8);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, t));
  must(cudaEventRecord(used, t));
  must(cudaStreamWaitEvent(s, used));
  must(cudaFreeAsync(data, s));
  must(cudaDeviceSynchronize());
  return all(out, 8);
}

bool pool_that_goes_early() {
  cudaStream_t s = stream();
  cudaMemPool_t pool;
  cudaMemPoolProps kind{};
  kind.allocType = cudaMemAllocationTypePinned;
  kind.location.type = cudaMemLocationTypeDevice;
  must(cudaMemPoolCreate(&pool, &kind));
  int *data = nullptr, *out = pinned();
  must(cudaMallocFromPoolAsync(&data, bytes, pool, s));
  must(cudaMemPoolDestroy(pool));
  fill<<<1, count, 0, s>>>(data, 2);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaFreeAsync(data, s));
  must(cudaStreamSynchronize(s));
  return all(out, 2);
}

bool prefetch_both_ways() {
  cudaStream_t s = stream();
  int* data = managed();
  for (int i = 0; i < count; ++i) {
    data[i] = 1;
  }
  must(cudaMemPrefetchAsync(data, bytes, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
  add<<<1, count, 0, s>>>(data, data);
  must(cudaMemPrefetchAsync(data, bytes, cudaMemLocation{cudaMemLocationTypeHost, 0}, 0, s));
  must(cudaStreamSynchronize(s));
  return all(data, 2);
}

bool flag_in_mapped_memory() {
  int *data = pinned(), *flag = pinned();
  *flag = 0;
  raise_flag<<<1, 1>>>(data, flag, 5);
  while (std::atomic_ref<int>(*flag).load(std::memory_order_acquire) == 0) {
    cudaStreamQuery(nullptr); // else nothing obliges a device to begin
  }
  const bool right = *data == 5;
  must(cudaDeviceSynchronize());
  return right;
}

bool streams_of_priorities() {
  int low, high;
  must(cudaDeviceGetStreamPriorityRange(&low, &high));
  cudaStream_t s, t;
  must(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, low));
  must(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, high));
  int *a = managed(), *b = managed();
  fill<<<1, count, 0, s>>>(a, 1);
  fill<<<1, count, 0, t>>>(b, 2);
  must(cudaStreamSynchronize(s));
  must(cudaStreamSynchronize(t));
  return all(a, 1) && all(b, 2);
}

// Each thread has a default stream and memory of its own.
bool default_stream_of_each_thread() {
  int* data[2] = {managed(), managed()};
  bool right[2] = {false, false};
  const auto work = [&](int i) {
    fill<<<1, count, 0, cudaStreamPerThread>>>(data[i], i + 1);
    must(cudaStreamSynchronize(cudaStreamPerThread));
    right[i] = all(data[i], i + 1);
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  return right[0] && right[1];
}

bool queried_until_ready() {
  cudaStream_t s = stream();
  cudaEvent_t e = event();
  int* data = managed();
  fill<<<1, count, 0, s>>>(data, 3);
  must(cudaEventRecord(e, s));
  while (cudaEventQuery(e) == cudaErrorNotReady) {
  }
  return all(data, 3);
}

// The legacy default stream waits for blocking streams, and they for it.
bool default_stream_orders() {
  cudaStream_t s = stream(cudaStreamDefault), t = stream(cudaStreamDefault);
  int *data = device(), *out = pinned();
  fill<<<1, count, 0, s>>>(data, 1);
  add<<<1, count>>>(data, data);
  copy<<<1, count, 0, t>>>(out, data);
  must(cudaStreamSynchronize(t));
  return all(out, 2);
}

// The call copies pageable memory aside before it returns.
bool pageable_source_reused() {
  cudaStream_t s = stream();
  int local[count], *data = device(), *out = pinned();
  for (int& i : local) {
    i = 7;
  }
  must(cudaMemcpyAsync(data, local, bytes, cudaMemcpyHostToDevice, s));
  std::memset(local, 0, sizeof local);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 7);
}

// One thread waits, and another one reads when the first has ended.
bool waited_for_by_another_thread() {
  cudaStream_t s = stream();
  int* data = managed();
  fill<<<1, count, 0, s>>>(data, 2);
  std::thread([&] { must(cudaStreamSynchronize(s)); }).join();
  return all(data, 2);
}

bool halves_of_one_allocation() {
  cudaStream_t s = stream();
  int* data = nullptr;
  must(cudaMallocManaged(&data, 2 * bytes));
  fill<<<1, count, 0, s>>>(data, 1);
  for (int i = count; i < 2 * count; ++i) {
    data[i] = 2;
  }
  must(cudaStreamSynchronize(s));
  return all(data, 1) && all(data + count, 2);
}

bool registered_and_unregistered() {
  int* data = static_cast<int*>(std::aligned_alloc(4096, 4096));
  cudaStream_t s = stream();
  bool right = true;
  for (int round = 0; round < 2; ++round) {
    must(cudaHostRegister(data, 4096, cudaHostRegisterDefault));
    fill<<<1, count, 0, s>>>(data, round);
    must(cudaStreamSynchronize(s));
    must(cudaHostUnregister(data));
    right = right && all(data, round);
  }
  std::free(data);
  return right;
}

// Nobody waits for the free, and nobody needs to.
bool freed_as_the_program_ends() {
  cudaStream_t s = stream();
  int *data = nullptr, *out = pinned();
  must(cudaMallocAsync(&data, bytes, s));
  fill<<<1, count, 0, s>>>(data, 2);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  must(cudaFreeAsync(data, s));
  return all(out, 2);
}

constexpr Case cases[] = {
    {"double_buffer", double_buffer},
    {"copy_and_compute", copy_and_compute},
    {"events_that_go_early", events_that_go_early},
    {"stream_that_goes_early", stream_that_goes_early},
    {"fork_and_join", fork_and_join},
    {"host_function_in_between", host_function_in_between},
    {"callback_tells", callback_tells},
    {"graph_by_capture", graph_by_capture},
    {"graph_with_branches", graph_with_branches},
    {"memory_of_a_stream", memory_of_a_stream},
    {"memory_handed_to_another_stream", memory_handed_to_another_stream},
    {"pool_that_goes_early", pool_that_goes_early},
    {"prefetch_both_ways", prefetch_both_ways},
    {"flag_in_mapped_memory", flag_in_mapped_memory},
    {"streams_of_priorities", streams_of_priorities},
    {"default_stream_of_each_thread", default_stream_of_each_thread},
    {"queried_until_ready", queried_until_ready},
    {"default_stream_orders", default_stream_orders},
    {"pageable_source_reused", pageable_source_reused},
    {"waited_for_by_another_thread", waited_for_by_another_thread},
    {"halves_of_one_allocation", halves_of_one_allocation},
    {"registered_and_unregistered", registered_and_unregistered},
    {"freed_as_the_program_ends", freed_as_the_program_ends},
};

int main(int n, char** words) { return run_case(cases, n, words); }
