// All ways to order two pieces of work in two streams, for all kinds of work: orders.cu ORDER PRODUCER CONSUMER.
//
// The producer makes `count` numbers in one stream, the consumer takes them in another one or on the host. Exit
// status 0: it has got them. With the order `none` nothing orders the two.
#include <cuda_runtime.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>

constexpr int count = 256, bytes = count * sizeof(int), made = 0x05050505;

__global__ void fill(int* data) { data[threadIdx.x] = made; }
__global__ void take(const int* data, int* out) { out[threadIdx.x] = data[threadIdx.x]; }
__global__ void nothing() {}

void must(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(2);
  }
}

int *data, *out, *from;
cudaStream_t a, b;
cudaEvent_t event;

void produce(std::string_view how, cudaStream_t s) {
  if (how == "kernel") {
    fill<<<1, count, 0, s>>>(data);
  } else if (how == "copy") {
    must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyDefault, s));
  } else {
    must(cudaMemsetAsync(data, 5, bytes, s));
  }
}

/// On the host it waits for its stream first, behind a kernel there: that comes behind what the stream comes behind.
void consume(std::string_view how, cudaStream_t s, bool host_waits) {
  if (how == "kernel") {
    take<<<1, count, 0, s>>>(data, out);
  } else if (how == "copy") {
    must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDefault, s));
  } else {
    if (host_waits) {
      nothing<<<1, 1, 0, s>>>();
      must(cudaStreamSynchronize(s));
    }
    for (int i = 0; i < count; ++i) {
      out[i] = data[i];
    }
  }
}

void by_graph(std::string_view producer, std::string_view consumer) {
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  must(cudaEventRecord(begin, a));
  must(cudaStreamWaitEvent(b, begin));
  produce(producer, a);
  must(cudaEventRecord(event, a));
  must(cudaStreamWaitEvent(b, event));
  if (consumer != "host") {
    consume(consumer, b, false);
  }
  must(cudaEventRecord(end, b));
  must(cudaStreamWaitEvent(a, end));
  must(cudaStreamEndCapture(a, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphLaunch(run, a));
  must(cudaGraphLaunch(run, a));
  if (consumer == "host") {
    consume(consumer, a, true);
  }
  must(cudaStreamSynchronize(a));
  must(cudaGraphExecDestroy(run));
  must(cudaGraphDestroy(graph));
}

std::mutex mutex;
std::condition_variable changed;
std::atomic<bool> flag{false};
bool waited = false;
std::thread waits;

void in_another_thread(std::string_view order) {
  waits = std::thread([] {
    must(cudaStreamSynchronize(a));
    flag.store(true, std::memory_order_release);
    const std::lock_guard lock(mutex);
    waited = true;
    changed.notify_one();
  });
  if (order == "thread-joined") {
    waits.join();
  } else if (order == "thread-tells") {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return waited; });
  } else {
    while (!flag.load(std::memory_order_acquire)) {
    }
  }
}

int main(int n, char** words) {
  if (n != 4) {
    return 3;
  }
  const std::string_view order = words[1], producer = words[2], consumer = words[3];
  const unsigned flags = order == "legacy" ? cudaStreamDefault : cudaStreamNonBlocking;
  must(cudaMallocManaged(&data, bytes));
  must(cudaMallocManaged(&out, bytes));
  must(cudaMallocHost(&from, bytes));
  std::memset(data, 0, bytes);
  std::memset(out, 0, bytes);
  std::memset(from, 5, bytes);
  must(cudaStreamCreateWithFlags(&a, flags));
  must(cudaStreamCreateWithFlags(&b, flags));
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  if (order == "graph") {
    by_graph(producer, consumer);
  } else {
    produce(producer, a);
    cudaStream_t s = b;
    if (order == "same-stream") {
      s = a;
    } else if (order == "event") {
      must(cudaEventRecord(event, a));
      must(cudaStreamWaitEvent(b, event));
    } else if (order == "event-waited-for") {
      must(cudaEventRecord(event, a));
      must(cudaEventSynchronize(event));
    } else if (order == "event-queried") {
      must(cudaEventRecord(event, a));
      while (cudaEventQuery(event) == cudaErrorNotReady) {
      }
    } else if (order == "stream-waited-for") {
      must(cudaStreamSynchronize(a));
    } else if (order == "stream-queried") {
      while (cudaStreamQuery(a) == cudaErrorNotReady) {
      }
    } else if (order == "device") {
      must(cudaDeviceSynchronize());
    } else if (order == "legacy") {
      nothing<<<1, 1>>>();
    } else if (order == "host-function") {
      must(cudaLaunchHostFunc(a, [](void*) {}, nullptr));
      must(cudaEventRecord(event, a));
      must(cudaStreamWaitEvent(b, event));
    } else if (order == "third-stream") {
      cudaStream_t c;
      must(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
      must(cudaEventRecord(event, a));
      must(cudaStreamWaitEvent(c, event));
      nothing<<<1, 1, 0, c>>>();
      must(cudaEventRecord(event, c));
      must(cudaStreamWaitEvent(b, event));
    } else if (order.substr(0, 6) == "thread") {
      in_another_thread(order);
    }
    consume(consumer, s, true);
  }
  if (waits.joinable()) {
    waits.join();
  }
  must(cudaDeviceSynchronize());
  return out[0] == made && out[count - 1] == made ? 0 : 1;
}
