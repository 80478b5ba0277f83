// Streams: order within one, waits between several, the legacy default stream, priorities, queries, per-stream copies.
//@ exercises: cudaStreamCreateWithFlags/Priority, cudaStreamWaitEvent, cudaStreamQuery, implicit synchronisation of the legacy stream, cudaStreamPerThread
#include "support.h"

__global__ void append(int* log, int* position, int value) { log[(*position)++] = value; }

__global__ void scale(int* data, int factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    data[i] *= factor;
  }
}

__global__ void add(int* data, int amount, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    data[i] += amount;
  }
}

void show(const char* name, Buffer<int>& log) {
  std::printf("%s:", name);
  for (int value : log.get()) {
    std::printf(" %d", value);
  }
  std::printf("\n");
}

int main() {
  cudaStream_t a, b, free_running;
  CUDA_OK(cudaStreamCreate(&a));
  CUDA_OK(cudaStreamCreate(&b));
  CUDA_OK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
  Buffer<int> log(8), position(1);

  // One stream keeps its order.
  for (int i = 0; i < 8; ++i) {
    append<<<1, 1, 0, a>>>(log, position, i);
  }
  CUDA_OK(cudaStreamSynchronize(a));
  show("one stream", log);

  // An event orders two streams, in both directions.
  position.clear();
  log.clear();
  CUDA_OK(cudaDeviceSynchronize());
  cudaEvent_t ping, pong;
  CUDA_OK(cudaEventCreateWithFlags(&ping, cudaEventDisableTiming));
  CUDA_OK(cudaEventCreateWithFlags(&pong, cudaEventDisableTiming));
  for (int i = 0; i < 4; ++i) {
    append<<<1, 1, 0, a>>>(log, position, 10 + i);
    CUDA_OK(cudaEventRecord(ping, a));
    CUDA_OK(cudaStreamWaitEvent(b, ping, 0));
    append<<<1, 1, 0, b>>>(log, position, 20 + i);
    CUDA_OK(cudaEventRecord(pong, b));
    CUDA_OK(cudaStreamWaitEvent(a, pong, 0));
  }
  CUDA_OK(cudaDeviceSynchronize());
  show("two streams", log);

  // The legacy default stream waits for all blocking streams and they wait for it.
  position.clear();
  log.clear();
  append<<<1, 1, 0, a>>>(log, position, 1);
  append<<<1, 1>>>(log, position, 2);
  append<<<1, 1, 0, b>>>(log, position, 3);
  append<<<1, 1>>>(log, position, 4);
  append<<<1, 1, 0, a>>>(log, position, 5);
  CUDA_OK(cudaDeviceSynchronize());
  show("legacy", log);

  // Independent work in several streams with asynchronous copies.
  constexpr int n = 3000, parts = 3;
  int* pinned;
  CUDA_OK(cudaMallocHost(&pinned, n * sizeof(int)));
  for (int i = 0; i < n; ++i) {
    pinned[i] = i;
  }
  Buffer<int> data(n);
  CUDA_OK(cudaDeviceSynchronize());
  cudaStream_t streams[parts] = {a, b, free_running};
  for (int part = 0; part < parts; ++part) {
    int* device = data + part * (n / parts);
    int* host = pinned + part * (n / parts);
    CUDA_OK(cudaMemcpyAsync(device, host, n / parts * sizeof(int), cudaMemcpyHostToDevice, streams[part]));
    scale<<<8, 128, 0, streams[part]>>>(device, part + 2, n / parts);
    add<<<8, 128, 0, streams[part]>>>(device, 1, n / parts);
    CUDA_OK(cudaMemcpyAsync(host, device, n / parts * sizeof(int), cudaMemcpyDeviceToHost, streams[part]));
  }
  for (cudaStream_t stream : streams) {
    CUDA_OK(cudaStreamSynchronize(stream));
  }
  std::printf("parts: %d %d %d\n", pinned[999], pinned[1999], pinned[2999]);

  // Query until ready; then it stays ready.
  scale<<<1, 32, 0, a>>>(data, 1, 32);
  cudaError_t state;
  while ((state = cudaStreamQuery(a)) == cudaErrorNotReady) {
  }
  std::printf("query: %s, %s\n", cudaGetErrorName(state), cudaGetErrorName(cudaStreamQuery(a)));

  int least = 0, greatest = 0, priority = 99;
  unsigned flags = 99;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t urgent;
  CUDA_OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  CUDA_OK(cudaStreamGetPriority(urgent, &priority));
  CUDA_OK(cudaStreamGetFlags(urgent, &flags));
  std::printf("priority kept %d, range ordered %d, flags %u\n", priority == greatest, greatest <= least, flags);
  CUDA_OK(cudaStreamGetFlags(a, &flags));
  std::printf("flags %u\n", flags);

  position.clear();
  log.clear();
  CUDA_OK(cudaDeviceSynchronize());
  append<<<1, 1, 0, cudaStreamPerThread>>>(log, position, 77);
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  show("per thread", log);

  CUDA_OK(cudaStreamDestroy(urgent));
  CUDA_OK(cudaStreamDestroy(a));
  CUDA_OK(cudaStreamDestroy(b));
  CUDA_OK(cudaStreamDestroy(free_running));
  CUDA_OK(cudaEventDestroy(ping));
  CUDA_OK(cudaEventDestroy(pong));
  CUDA_OK(cudaFreeHost(pinned));
}
