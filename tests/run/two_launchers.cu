// Two host threads launch and wait at the same time, each in a stream of its own.
//@ exercises: kernel launches and cudaStreamSynchronize by several host threads, managed memory
//@ seeds: 1 2 3 4
#include <cstdio>
#include <thread>

constexpr int launches = 100, rounds = 50;

__global__ void count(int* sum) {
  for (int i = 0; i < rounds; ++i) {
    atomicAdd(sum, 1);
  }
}

static int work() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* sum = nullptr;
  cudaMallocManaged(&sum, sizeof *sum);
  *sum = 0;
  for (int i = 0; i < launches; ++i) {
    count<<<4, 64, 0, stream>>>(sum);
    cudaStreamSynchronize(stream);
  }
  return *sum;
}

int main() {
  int other = 0;
  std::thread thread([&] { other = work(); });
  const int own = work();
  thread.join();
  std::printf("%d %d\n", own, other);
}
