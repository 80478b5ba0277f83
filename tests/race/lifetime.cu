// Memory that streams allocate and free, used where nothing orders the use (spec/memory.md: [MEM-LIFETIME]).
//@ find: lifetime
#include "cases.h"

__global__ void write(int* data) { data[threadIdx.x] = 1; }

constexpr int count = 32;
constexpr size_t bytes = count * sizeof(int);
cudaStream_t stream() {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
void* allocate(cudaStream_t s, size_t size = bytes) {
  void* p = nullptr;
  must(cudaMallocAsync(&p, size, s));
  return p;
}

CASE(used_before_the_allocation, "use-before-allocation(.|\n)*cudaMallocAsync in stream 1") {
  cudaStream_t s = stream(), t = right ? s : stream();
  int* p = static_cast<int*>(allocate(s));
  write<<<1, count, 0, t>>>(p);
}

CASE(allocated_and_waited_for, "use-before-allocation") {
  cudaStream_t s = stream(), t = stream();
  int* p = static_cast<int*>(allocate(s));
  cudaEvent_t there;
  must(cudaEventCreate(&there));
  must(cudaEventRecord(there, s));
  if (right) {
    must(cudaStreamWaitEvent(t, there));
  }
  write<<<1, count, 0, t>>>(p);
}

CASE(allocated_and_synchronised, "use-before-allocation") {
  cudaStream_t s = stream(), t = stream();
  int* p = static_cast<int*>(allocate(s));
  must(cudaStreamSynchronize(right ? s : t));
  write<<<1, count, 0, t>>>(p);
}

CASE(set_before_the_allocation, "use-before-allocation(.|\n)*cudaMemsetAsync") {
  cudaStream_t s = stream(), t = right ? s : stream();
  void* p = allocate(s);
  must(cudaMemsetAsync(p, 0, bytes, t));
}

CASE(large_before_the_allocation, "use-before-allocation") {
  cudaStream_t s = stream(), t = right ? s : stream();
  char* p = static_cast<char*>(allocate(s, 1 << 20));
  write<<<1, count, 0, t>>>(reinterpret_cast<int*>(p + (1 << 19)));
}

CASE(freed_by_another_stream, "use-after-free(.|\n)*cudaFreeAsync in stream 2") {
  cudaStream_t s = stream(), t = right ? s : stream();
  int* p = static_cast<int*>(allocate(s));
  write<<<1, count, 0, s>>>(p);
  must(cudaFreeAsync(p, t));
}

CASE(freed_by_another_stream_that_waits, "use-after-free") {
  cudaStream_t s = stream(), t = stream();
  int* p = static_cast<int*>(allocate(s));
  cudaEvent_t used;
  must(cudaEventCreate(&used));
  if (!right) {
    must(cudaEventRecord(used, s));
  }
  write<<<1, count, 0, s>>>(p);
  if (right) {
    must(cudaEventRecord(used, s));
  }
  must(cudaStreamWaitEvent(t, used));
  must(cudaFreeAsync(p, t));
}

// cudaFree does not wait for memory of a pool.
CASE(freed_by_the_host, "use-after-free(.|\n)*cudaFree") {
  cudaStream_t s = stream();
  int* p = static_cast<int*>(allocate(s));
  write<<<1, count, 0, s>>>(p);
  if (right) {
    must(cudaStreamSynchronize(s));
  }
  must(cudaFree(p));
  cudaDeviceSynchronize();
  cudaGetLastError();
}

// The default stream waits for blocking streams.
CASE(freed_in_the_default_stream, "use-after-free") {
  cudaStream_t s = stream();
  if (right) {
    must(cudaStreamCreate(&s));
  }
  int* p = static_cast<int*>(allocate(s));
  write<<<1, count, 0, s>>>(p);
  must(cudaFreeAsync(p, 0));
}

CASE(of_a_graph, "use-(after-free|before-allocation)") {
  cudaStream_t s = stream(), t = stream();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  int* p = static_cast<int*>(allocate(s));
  write<<<1, count, 0, s>>>(p);
  if (!right) {
    must(cudaFreeAsync(p, s));
  }
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&exec, graph, 0));
  must(cudaGraphLaunch(exec, s));
  write<<<1, count, 0, s>>>(p);
  if (right) {
    must(cudaFreeAsync(p, s));
  }
  cudaDeviceSynchronize();
  cudaGetLastError();
}

CASE(graph_launched_again, "use-after-free") {
  cudaStream_t s = stream();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  int* p = static_cast<int*>(allocate(s));
  write<<<1, count, 0, s>>>(p);
  must(cudaFreeAsync(p, s));
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; ++round) {
    must(cudaGraphLaunch(exec, s));
    if (round == 1) {
      must(cudaStreamSynchronize(s));
    }
  }
  must(cudaStreamSynchronize(s));
  if (!right) {
    write<<<1, count, 0, s>>>(p);
    cudaStreamSynchronize(s);
    cudaGetLastError();
  }
}
