// More programs with streams that are right (see right.cu): pipelines of copies and kernels, graphs, pools, several
// devices, cooperative launches. right_pipelines.cu CASE.
#include "right.h"

#include <cooperative_groups.h>

#include <numeric>
#include <vector>

__global__ void scale(int* to, int by) { to[threadIdx.x] *= by; }
__global__ void one_more(int* to) { ++to[threadIdx.x]; }
__constant__ int factors[count];
__global__ void by_factors(int* to) { to[threadIdx.x] *= factors[threadIdx.x]; }
__device__ int total;
__global__ void sum_up(const int* from) { atomicAdd(&total, from[threadIdx.x]); }
__global__ void two_phases(int* a, int* b) {
  const auto grid = cooperative_groups::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank());
  a[i] = 1;
  grid.sync();
  b[i] = a[count - 1 - i] + 1;
}
__global__ void wait_for_flag(int* flag, int* to) {
  while (atomicAdd_system(flag, 0) == 0) {
  }
  __threadfence_system();
  to[threadIdx.x] = 4;
}
__global__ void sample(cudaTextureObject_t from, int* to) { to[threadIdx.x] = tex1Dfetch<int>(from, threadIdx.x); }

void put(int* p, int value) { std::fill(p, p + count, value); }

// Tiles go round three streams; each has its pinned buffer, which is read after the wait for its stream.
bool three_streams_in_turn() {
  cudaStream_t s[3] = {stream(), stream(), stream()};
  int *host[3] = {pinned(), pinned(), pinned()}, *data[3] = {device(), device(), device()};
  long sum = 0;
  for (int tile = 0; tile < 5; ++tile) {
    const int k = tile % 3;
    if (tile >= 3) {
      must(cudaStreamSynchronize(s[k]));
      sum += std::accumulate(host[k], host[k] + count, 0L);
    }
    put(host[k], tile + 1);
    must(cudaMemcpyAsync(data[k], host[k], bytes, cudaMemcpyHostToDevice, s[k]));
    scale<<<1, count, 0, s[k]>>>(data[k], 2);
    must(cudaMemcpyAsync(host[k], data[k], bytes, cudaMemcpyDeviceToHost, s[k]));
  }
  must(cudaDeviceSynchronize());
  for (const int k : {2, 0, 1}) {
    sum += std::accumulate(host[k], host[k] + count, 0L);
  }
  return sum == 2L * count * (1 + 2 + 3 + 4 + 5);
}

// In, compute, out: each stage in a stream of its own.
bool three_stages() {
  cudaStream_t in = stream(), compute = stream(), out = stream();
  cudaEvent_t there = event(), computed = event(), gone = event();
  int *from = pinned(), *to = pinned(), *data = device();
  bool right = true;
  for (int tile = 0; tile < 3; ++tile) {
    put(from, tile);
    must(cudaStreamWaitEvent(in, gone));
    must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice, in));
    must(cudaEventRecord(there, in));
    must(cudaStreamWaitEvent(compute, there));
    one_more<<<1, count, 0, compute>>>(data);
    must(cudaEventRecord(computed, compute));
    must(cudaStreamWaitEvent(out, computed));
    must(cudaMemcpyAsync(to, data, bytes, cudaMemcpyDeviceToHost, out));
    must(cudaEventRecord(gone, out));
    must(cudaEventSynchronize(gone));
    right = right && all(to, tile + 1);
  }
  return right;
}

// An array in chunks: copy, kernel and copy back of each chunk in its stream, one wait for all of them.
bool chunks_of_one_array() {
  constexpr int chunks = 4;
  int *host = nullptr, *data = device(chunks * count);
  must(cudaMallocHost(&host, chunks * bytes));
  std::iota(host, host + chunks * count, 0);
  std::vector<cudaStream_t> s;
  for (int c = 0; c < chunks; ++c) {
    s.push_back(stream());
    must(cudaMemcpyAsync(data + c * count, host + c * count, bytes, cudaMemcpyHostToDevice, s[c]));
    one_more<<<1, count, 0, s[c]>>>(data + c * count);
    must(cudaMemcpyAsync(host + c * count, data + c * count, bytes, cudaMemcpyDeviceToHost, s[c]));
  }
  for (cudaStream_t one : s) {
    must(cudaStreamSynchronize(one));
    must(cudaStreamDestroy(one));
  }
  return host[0] == 1 && host[chunks * count - 1] == chunks * count;
}

// The halo of each part is copied when both parts have been computed.
bool neighbours_and_halos() {
  cudaStream_t s[2] = {stream(), stream()};
  cudaEvent_t computed[2] = {event(), event()};
  int *part[2] = {device(), device()}, *halo[2] = {device(1), device(1)}, *out = pinned();
  for (int i = 0; i < 2; ++i) {
    fill<<<1, count, 0, s[i]>>>(part[i], i + 1);
    must(cudaEventRecord(computed[i], s[i]));
  }
  for (int i = 0; i < 2; ++i) {
    must(cudaStreamWaitEvent(s[i], computed[1 - i]));
    must(cudaMemcpyAsync(halo[i], part[1 - i] + (i == 0 ? 0 : count - 1), sizeof(int), cudaMemcpyDeviceToDevice, s[i]));
    must(cudaMemcpyAsync(out + i, halo[i], sizeof(int), cudaMemcpyDeviceToHost, s[i]));
  }
  must(cudaStreamSynchronize(s[0]));
  must(cudaStreamSynchronize(s[1]));
  return out[0] == 2 && out[1] == 1;
}

// One event, recorded again each round: a wait means the record before it.
bool event_recorded_again() {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t filled = event(), copied = event();
  int *data = device(), *out = pinned();
  bool right = true;
  for (int round = 1; round < 4; ++round) {
    fill<<<1, count, 0, s>>>(data, round);
    must(cudaEventRecord(filled, s));
    must(cudaStreamWaitEvent(t, filled));
    must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, t));
    must(cudaEventRecord(copied, t));
    must(cudaStreamWaitEvent(s, copied));
    must(cudaEventSynchronize(copied));
    right = right && all(out, round);
  }
  return right;
}

bool timed_by_events() {
  cudaStream_t s = stream();
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  int* data = managed();
  must(cudaEventRecord(begin, s));
  fill<<<1, count, 0, s>>>(data, 2);
  must(cudaEventRecord(end, s));
  must(cudaEventSynchronize(end));
  float ms = -1;
  must(cudaEventElapsedTime(&ms, begin, end));
  return ms >= 0 && all(data, 2);
}

bool blocking_sync_event() {
  cudaStream_t s = stream();
  cudaEvent_t e;
  must(cudaEventCreateWithFlags(&e, cudaEventBlockingSync | cudaEventDisableTiming));
  int* data = managed();
  put(data, 1);
  one_more<<<1, count, 0, s>>>(data);
  must(cudaEventRecord(e, s));
  must(cudaEventSynchronize(e));
  ++data[0];
  return data[0] == 3 && data[1] == 2;
}

// Attached to a stream the memory is the host's while other streams work.
bool attached_to_a_stream() {
  cudaStream_t s = stream(), t = stream();
  int *mine = managed(), *other = managed();
  must(cudaStreamAttachMemAsync(s, mine, 0, cudaMemAttachSingle));
  must(cudaStreamAttachMemAsync(t, other, 0, cudaMemAttachSingle));
  must(cudaDeviceSynchronize());
  fill<<<1, count, 0, t>>>(other, 2);
  put(mine, 5); // nothing of its stream is under way
  must(cudaStreamSynchronize(t));
  return all(mine, 5) && all(other, 2);
}

bool advised_and_prefetched() {
  cudaStream_t s = stream();
  int *table = managed(), *to = managed();
  put(table, 3);
  must(cudaMemAdvise(table, bytes, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  must(cudaMemPrefetchAsync(table, bytes, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
  copy<<<1, count, 0, s>>>(to, table);
  const int seen = table[3]; // the kernel reads it, too
  must(cudaStreamSynchronize(s));
  return seen == 3 && all(to, 3);
}

// The kernel waits for the host: data first, then the flag.
bool host_raises_a_flag() {
  cudaStream_t s = stream();
  int *flag = pinned(), *data = pinned();
  *flag = 0;
  wait_for_flag<<<1, count, 0, s>>>(flag, data);
  std::atomic_ref<int>(*flag).store(1, std::memory_order_release);
  must(cudaStreamSynchronize(s));
  return all(data, 4);
}

bool constants_set_in_between() {
  cudaStream_t s = stream();
  int *values = pinned(), *data = device(), *out = pinned();
  put(values, 2);
  fill<<<1, count, 0, s>>>(data, 1);
  must(cudaMemcpyToSymbolAsync(factors, values, bytes, 0, cudaMemcpyHostToDevice, s));
  by_factors<<<1, count, 0, s>>>(data);
  must(cudaStreamSynchronize(s));
  put(values, 3);
  must(cudaMemcpyToSymbolAsync(factors, values, bytes, 0, cudaMemcpyHostToDevice, s));
  by_factors<<<1, count, 0, s>>>(data);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 6);
}

// Sums of several streams meet in one variable by atomics.
bool sums_of_streams() {
  cudaStream_t s = stream(), t = stream();
  int *a = device(), *b = device(), sum = 0;
  fill<<<1, count, 0, s>>>(a, 1);
  sum_up<<<1, count, 0, s>>>(a);
  fill<<<1, count, 0, t>>>(b, 2);
  sum_up<<<1, count, 0, t>>>(b);
  must(cudaDeviceSynchronize());
  must(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  return sum == 3 * count;
}

bool texture_after_its_copy() {
  cudaStream_t s = stream(), t = stream();
  int *from = pinned(), *data = device(), *to = device(), *out = pinned();
  put(from, 6);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data, cudaCreateChannelDesc<int>(), bytes};
  cudaTextureDesc how{};
  cudaTextureObject_t texture;
  must(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaEvent_t there = event();
  must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice, s));
  must(cudaEventRecord(there, s));
  must(cudaStreamWaitEvent(t, there));
  sample<<<1, count, 0, t>>>(texture, to);
  must(cudaMemcpyAsync(out, to, bytes, cudaMemcpyDeviceToHost, t));
  must(cudaStreamSynchronize(t));
  must(cudaDestroyTextureObject(texture));
  return all(out, 6);
}

// Two streams are captured into one graph, and launched again and again with work around it.
bool graph_of_two_streams() {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t fork = event(), join = event();
  int *a = device(), *b = device(), *out = pinned();
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  one_more<<<1, count, 0, s>>>(a);
  must(cudaEventRecord(fork, s));
  must(cudaStreamWaitEvent(t, fork));
  one_more<<<1, count, 0, t>>>(b);
  must(cudaEventRecord(join, t));
  must(cudaStreamWaitEvent(s, join));
  add<<<1, count, 0, s>>>(a, b);
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  fill<<<1, count, 0, s>>>(a, 1);
  fill<<<1, count, 0, s>>>(b, 1);
  for (int i = 0; i < 2; ++i) {
    must(cudaGraphLaunch(run, s)); // a: 4, b: 2; then a: 8, b: 3
  }
  must(cudaMemcpyAsync(out, a, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 8);
}

// The arguments of a node are others in the second launch; the first one has been waited for.
bool graph_updated_between_launches() {
  cudaStream_t s = stream();
  int *a = managed(), *b = managed(), value = 1;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t run;
  void* arguments[] = {&a, &value};
  cudaKernelNodeParams p{};
  p.gridDim = 1;
  p.blockDim = count;
  p.func = reinterpret_cast<void*>(fill);
  p.kernelParams = arguments;
  must(cudaGraphCreate(&graph, 0));
  must(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphLaunch(run, s));
  arguments[0] = &b;
  value = 2;
  must(cudaGraphExecKernelNodeSetParams(run, node, &p));
  must(cudaGraphLaunch(run, s));
  must(cudaStreamSynchronize(s));
  return all(a, 1) && all(b, 2);
}

bool graph_with_a_host_node() {
  static int *data = managed(), seen = 0;
  cudaStream_t s = stream();
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  fill<<<1, count, 0, s>>>(data, 7);
  must(cudaLaunchHostFunc(s, [](void*) { seen = data[5]; ++data[5]; }, nullptr));
  one_more<<<1, count, 0, s>>>(data);
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphLaunch(run, s));
  must(cudaStreamSynchronize(s));
  return seen == 7 && data[5] == 9 && data[4] == 8;
}

// Memory of a pool is freed in one stream and allocated in another one behind an event.
bool pool_reuse_by_event() {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t freed = event();
  int *first = nullptr, *second = nullptr, *out = pinned();
  must(cudaMallocAsync(&first, bytes, s));
  fill<<<1, count, 0, s>>>(first, 1);
  must(cudaFreeAsync(first, s));
  must(cudaEventRecord(freed, s));
  must(cudaStreamWaitEvent(t, freed));
  must(cudaMallocAsync(&second, bytes, t));
  fill<<<1, count, 0, t>>>(second, 2);
  must(cudaMemcpyAsync(out, second, bytes, cudaMemcpyDeviceToHost, t));
  must(cudaFreeAsync(second, t));
  must(cudaStreamSynchronize(t));
  return all(out, 2);
}

// Scratch memory of each iteration comes and goes in the stream.
bool scratch_in_a_loop() {
  cudaStream_t s = stream();
  int *sum = device(), *out = pinned();
  must(cudaMemsetAsync(sum, 0, bytes, s));
  for (int i = 1; i < 4; ++i) {
    int* scratch = nullptr;
    must(cudaMallocAsync(&scratch, bytes, s));
    fill<<<1, count, 0, s>>>(scratch, i);
    add<<<1, count, 0, s>>>(sum, scratch);
    must(cudaFreeAsync(scratch, s));
  }
  must(cudaMemcpyAsync(out, sum, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 6);
}

bool cooperative_in_a_stream() {
  cudaStream_t s = stream();
  int *a = device(), *b = managed();
  void* arguments[] = {&a, &b};
  must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(two_phases), 2, count / 2, arguments, 0, s));
  one_more<<<1, count, 0, s>>>(b);
  must(cudaStreamSynchronize(s));
  return all(b, 3);
}

// Rows of a pitched matrix go back into a pageable buffer, which the call fills before it returns.
bool pitched_rows() {
  cudaStream_t s = stream();
  constexpr int rows = 3;
  char* matrix = nullptr;
  std::size_t pitch = 0;
  must(cudaMallocPitch(&matrix, &pitch, bytes, rows));
  for (int r = 0; r < rows; ++r) {
    fill<<<1, count, 0, s>>>(reinterpret_cast<int*>(matrix + r * pitch), r);
  }
  std::vector<int> out(rows * count, -1);
  must(cudaMemcpy2DAsync(out.data(), bytes, matrix, pitch, bytes, rows, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return out[0] == 0 && out[count] == 1 && out[2 * count + count - 1] == 2;
}

// Kernels that only read the same memory need no order.
bool readers_of_one_table() {
  cudaStream_t s = stream(), t = stream();
  int *table = managed(), *a = managed(), *b = managed();
  put(table, 4);
  copy<<<1, count, 0, s>>>(a, table);
  copy<<<1, count, 0, t>>>(b, table);
  const int seen = table[0];
  must(cudaDeviceSynchronize());
  return seen == 4 && all(a, 4) && all(b, 4);
}

// Different parts of one pinned buffer are the host's and the device's in turn.
bool ring_in_one_buffer() {
  cudaStream_t s = stream();
  constexpr int slots = 2;
  int *ring = nullptr, *sum = device(), *in = device(), *out = pinned();
  must(cudaMallocHost(&ring, slots * bytes));
  cudaEvent_t read[slots] = {event(), event()};
  must(cudaMemsetAsync(sum, 0, bytes, s));
  for (int i = 0; i < 5; ++i) {
    int* const slot = ring + i % slots * count;
    must(cudaEventSynchronize(read[i % slots])); // of an event that is not recorded: returns at once
    put(slot, 1);
    must(cudaMemcpyAsync(in, slot, bytes, cudaMemcpyHostToDevice, s));
    must(cudaEventRecord(read[i % slots], s));
    add<<<1, count, 0, s>>>(sum, in);
  }
  must(cudaMemcpyAsync(out, sum, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 5);
}

constexpr Case cases[] = {
    {"three_streams_in_turn", three_streams_in_turn},
    {"three_stages", three_stages},
    {"chunks_of_one_array", chunks_of_one_array},
    {"neighbours_and_halos", neighbours_and_halos},
    {"event_recorded_again", event_recorded_again},
    {"timed_by_events", timed_by_events},
    {"blocking_sync_event", blocking_sync_event},
    {"attached_to_a_stream", attached_to_a_stream},
    {"advised_and_prefetched", advised_and_prefetched},
    {"host_raises_a_flag", host_raises_a_flag},
    {"constants_set_in_between", constants_set_in_between},
    {"sums_of_streams", sums_of_streams},
    {"texture_after_its_copy", texture_after_its_copy},
    {"graph_of_two_streams", graph_of_two_streams},
    {"graph_updated_between_launches", graph_updated_between_launches},
    {"graph_with_a_host_node", graph_with_a_host_node},
    {"pool_reuse_by_event", pool_reuse_by_event},
    {"scratch_in_a_loop", scratch_in_a_loop},
    {"cooperative_in_a_stream", cooperative_in_a_stream},
    {"pitched_rows", pitched_rows},
    {"readers_of_one_table", readers_of_one_table},
    {"ring_in_one_buffer", ring_in_one_buffer},
};

int main(int n, char** words) { return run_case(cases, n, words); }
