// Host code and work in flight on memory that both reach, for plain `heddle run`. Argument: which
// case; "wait" as the second one: with the wait that makes it right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

__managed__ int variable;

__global__ void fill(int* to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    to[i] = i + 1;
  }
}

__global__ void add(const int* from, int* to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    to[i] += from[i];
  }
}

__global__ void count() {
  atomicAdd(&variable, 1);
  if (threadIdx.x == 0) {
    variable = 3;
  }
}

constexpr int n = 4096;

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "managed-read";
  const bool waits = argc > 2 && std::strcmp(argv[2], "wait") == 0;
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  int* managed = nullptr;
  int* pinned = nullptr;
  int* device = nullptr;
  cudaMallocManaged(&managed, n * sizeof(int));
  cudaMallocHost(&pinned, n * sizeof(int));
  cudaMalloc(&device, n * sizeof(int));
  cudaMemset(device, 1, n * sizeof(int));
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  std::memset(managed, 0, n * sizeof(int));
  cudaDeviceSynchronize();
  int sum = 0;
  if (is("managed-read")) { // of what a kernel writes
    fill<<<1, 64>>>(managed, n);
    if (waits) {
      cudaDeviceSynchronize();
    }
    sum = managed[100];
  } else if (is("managed-write")) { // of what a kernel reads
    add<<<1, 64>>>(managed, device, n);
    if (waits) {
      cudaDeviceSynchronize();
    }
    managed[7] = 3;
  } else if (is("pinned-read")) { // before the copy is done
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, one);
    if (waits) {
      cudaStreamSynchronize(one);
    }
    sum = pinned[n - 1];
  } else if (is("pinned-refill")) { // before the copy has read it
    std::memset(pinned, 1, n * sizeof(int));
    cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice, one);
    if (waits) {
      cudaStreamSynchronize(one);
    }
    std::memset(pinned, 2, n * sizeof(int));
  } else if (is("wrong-stream")) {
    fill<<<1, 64, 0, one>>>(managed, n);
    cudaStreamSynchronize(waits ? one : other);
    sum = managed[n - 1];
  } else if (is("early-event")) { // it is recorded before the kernel
    cudaEvent_t event;
    cudaEventCreate(&event);
    if (!waits) {
      cudaEventRecord(event, one);
    }
    fill<<<1, 64, 0, one>>>(managed, n);
    if (waits) {
      cudaEventRecord(event, one);
    }
    cudaEventSynchronize(event);
    sum = managed[0];
  } else if (is("set")) {
    cudaMemsetAsync(managed, 5, n * sizeof(int), one);
    if (waits) {
      cudaStreamSynchronize(one);
    }
    sum = managed[50];
  } else if (is("slept")) { // time passes, and orders nothing
    fill<<<1, 64>>>(managed, n);
    if (waits) {
      cudaDeviceSynchronize();
    } else {
      timespec time{0, 100'000'000};
      nanosleep(&time, nullptr);
    }
    sum = managed[1];
  } else if (is("system-call")) { // which looks at it for the program
    fill<<<1, 64>>>(managed, n);
    if (waits) {
      cudaDeviceSynchronize();
    }
    const int null = ::open("/dev/null", O_WRONLY);
    if (::write(null, managed, n * sizeof(int)) != n * sizeof(int)) {
      std::printf("the call has failed\n");
      return 2;
    }
  } else if (is("aborts")) { // because of what it has read
    fill<<<1, 64>>>(managed, n);
    if (waits) {
      cudaDeviceSynchronize();
    }
    if (managed[5] != 6) {
      std::abort();
    }
  } else if (is("refilled-in-a-loop")) {
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < n; ++i) {
        pinned[i] = round;
      }
      cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice, one);
      if (waits) {
        cudaStreamSynchronize(one);
      }
    }
  } else if (is("variable")) {
    fill<<<1, 1>>>(&variable, 1);
    if (waits) {
      cudaDeviceSynchronize();
    }
    sum = variable;
  } else if (is("named-variable")) { // not an argument
    count<<<1, 64>>>();
    if (waits) {
      cudaDeviceSynchronize();
    }
    sum = variable;
  } else if (is("free-thread")) { // another thread than the one that has launched
    fill<<<1, 64>>>(managed, n);
    if (waits) {
      cudaDeviceSynchronize();
    }
    std::thread([&] { sum = managed[3]; }).join();
  } else if (is("graph")) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, one>>>(managed, n);
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, one);
    if (waits) {
      cudaStreamSynchronize(one);
    }
    sum = managed[60];
  } else {
    std::printf("unknown case\n");
    return 2;
  }
  cudaDeviceSynchronize();
  std::printf("done %d\n", sum != -1);
  return 0;
}
