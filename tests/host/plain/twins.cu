// Host code that touches memory of work in flight and is right, for plain `heddle run`: nothing may
// be said, and each program does what it does without Heddle.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

constexpr int n = 1 << 14;

__global__ void fill(int* to, int count, int value) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    to[i] = value;
  }
}

__global__ void add(const int* from, int* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    to[i] += from[i];
  }
}

__global__ void tell(int* data, volatile int* flag) {
  data[0] = 42;
  __threadfence_system();
  *flag = 1;
}

__global__ void hear(volatile int* flag, const int* data, int* to) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *to = data[0];
}

__global__ void set_flag(int* flag) {
  *flag = 1;
}

int failed(const char* what) {
  std::printf("%s failed\n", what);
  return 1;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "halves";
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  int* managed = nullptr;
  int* pinned = nullptr;
  int* device = nullptr;
  cudaMallocManaged(&managed, n * sizeof(int));
  cudaMallocHost(&pinned, n * sizeof(int));
  cudaMalloc(&device, n * sizeof(int));
  std::memset(managed, 0, n * sizeof(int));
  std::memset(pinned, 0, n * sizeof(int));
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  if (is("halves")) { // of one allocation: the kernel's and the host's, on one page too
    fill<<<1, 64, 0, one>>>(managed, n / 2 - 8, 1);
    for (int i = n / 2 - 8; i < n; ++i) {
      managed[i] = 2;
    }
    cudaStreamSynchronize(one);
    if (managed[0] != 1 || managed[n - 1] != 2) {
      return failed(what);
    }
  } else if (is("both-read")) {
    managed[5] = 7;
    add<<<1, 64, 0, one>>>(managed, device, n);
    if (managed[5] != 7) {
      return failed(what);
    }
    cudaStreamSynchronize(one);
  } else if (is("double-buffer")) {
    cudaEvent_t copied[2];
    for (cudaEvent_t& event : copied) {
      cudaEventCreate(&event);
    }
    for (int round = 0; round < 8; ++round) {
      int* const half = pinned + round % 2 * (n / 2);
      if (round >= 2) {
        cudaEventSynchronize(copied[round % 2]);
      }
      for (int i = 0; i < n / 2; ++i) {
        half[i] = round;
      }
      cudaMemcpyAsync(device, half, n / 2 * sizeof(int), cudaMemcpyHostToDevice, one);
      cudaEventRecord(copied[round % 2], one);
    }
    cudaStreamSynchronize(one);
  } else if (is("flag")) { // polled; what it guards is read without a call
    tell<<<1, 1, 0, one>>>(managed, reinterpret_cast<volatile int*>(pinned));
    while (*reinterpret_cast<volatile int*>(pinned) == 0) {
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (managed[0] != 42) {
      return failed(what);
    }
    cudaStreamSynchronize(one);
  } else if (is("plain-flag")) { // the kernel's store is plain, and the host polls
    set_flag<<<1, 1, 0, one>>>(pinned);
    while (*reinterpret_cast<volatile int*>(pinned) == 0) {
    }
    cudaStreamSynchronize(one);
  } else if (is("tells-kernel")) { // what the host writes after the launch
    hear<<<1, 1, 0, one>>>(reinterpret_cast<volatile int*>(pinned), managed, device);
    add<<<1, 64, 0, one>>>(managed, device, n);
    managed[0] = 5;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *reinterpret_cast<volatile int*>(pinned) = 1;
    cudaStreamSynchronize(one);
  } else if (is("host-function")) {
    std::atomic<int> done{0};
    fill<<<1, 64, 0, one>>>(managed, n, 9);
    cudaLaunchHostFunc(one, [](void* to) { static_cast<std::atomic<int>*>(to)->store(1); }, &done);
    while (done.load() == 0) {
    }
    if (managed[3] != 9) {
      return failed(what);
    }
  } else if (is("function-fills")) { // a function of the stream makes what the copy reads
    cudaLaunchHostFunc(one, [](void* to) { std::memset(to, 3, n * sizeof(int)); }, pinned);
    cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice, one);
    cudaStreamSynchronize(one);
  } else if (is("query")) {
    fill<<<1, 64, 0, one>>>(managed, n, 4);
    while (cudaStreamQuery(one) == cudaErrorNotReady) {
    }
    if (managed[9] != 4) {
      return failed(what);
    }
  } else if (is("system-call")) { // of what a kernel reads, and of the other half of what it writes
    const int file = ::open("/dev/null", O_WRONLY);
    const int zero = ::open("/dev/zero", O_RDONLY);
    add<<<1, 64, 0, one>>>(managed, pinned, n / 2);
    if (::write(file, managed, n * sizeof(int)) != n * sizeof(int) ||
        ::read(zero, pinned + n / 2, 4096) != 4096) {
      return failed(what);
    }
    cudaStreamSynchronize(one);
  } else if (is("printed")) {
    fill<<<1, 64, 0, one>>>(managed, n, 1);
    std::printf("launched\n");
    std::fflush(stdout);
    cudaStreamSynchronize(one);
  } else if (is("other-thread")) { // waits for the first
    fill<<<1, 64, 0, one>>>(managed, n, 6);
    int seen = 0;
    std::thread([&] {
      cudaStreamSynchronize(one);
      seen = managed[2];
    }).join();
    if (seen != 6) {
      return failed(what);
    }
  } else if (is("registered")) { // neighbours on its pages are nobody's business
    char* const heap = static_cast<char*>(std::malloc(3 * 4096));
    cudaHostRegister(heap + 100, 2 * 4096, cudaHostRegisterDefault);
    cudaMemcpyAsync(heap + 100, device, 2 * 4096, cudaMemcpyDeviceToHost, one);
    heap[0] = heap[2 * 4096 + 101] = 1;
    cudaStreamSynchronize(one);
    cudaHostUnregister(heap + 100);
    std::free(heap);
  } else if (is("freed")) { // cudaFreeHost of other memory, and of this one behind the wait
    int* second = nullptr;
    cudaMallocHost(&second, 4096);
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, one);
    cudaFreeHost(second);
    cudaStreamSynchronize(one);
  } else if (is("prefetch")) {
    fill<<<1, 64, 0, one>>>(managed, n, 1);
    cudaMemPrefetchAsync(managed, n * sizeof(int), {cudaMemLocationTypeHost, 0}, 0, one);
    cudaStreamSynchronize(one);
    if (managed[1] != 1) {
      return failed(what);
    }
  } else if (is("works-meanwhile")) { // the host, for longer than work is put off
    fill<<<1, 64, 0, one>>>(managed, n, 1);
    volatile double sum = 0;
    for (int i = 0; i < 60'000'000; ++i) {
      sum = sum + i;
    }
    cudaStreamSynchronize(one);
  } else {
    std::printf("unknown case\n");
    return 2;
  }
  cudaDeviceSynchronize();
  cudaFreeHost(pinned);
  cudaFree(managed);
  std::printf("done\n");
  return 0;
}
