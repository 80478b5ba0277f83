// What it costs that a plain run watches pages of memory which host code and work in flight reach (docs/host.md):
// processor time of a launch and the wait for it, on managed memory and on device memory, side by side.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

constexpr int rounds = 64; // one of so many is watched, after the first
constexpr int batches = 400;
constexpr int threads = 1000;

__global__ void add(int* to) {
  to[threadIdx.x] += 1;
}

double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

int main() {
  int *device = nullptr, *managed = nullptr;
  cudaMalloc(&device, threads * sizeof(int));
  cudaMallocManaged(&managed, threads * sizeof(int));
  std::vector<double> on_device, on_managed;
  for (int batch = 0; batch < batches; ++batch) {
    const double begin = processor_time();
    for (int i = 0; i < rounds; ++i) {
      add<<<1, threads>>>(device);
      cudaDeviceSynchronize();
    }
    const double middle = processor_time();
    for (int i = 0; i < rounds; ++i) {
      add<<<1, threads>>>(managed);
      cudaDeviceSynchronize();
    }
    on_device.push_back((middle - begin) / rounds);
    on_managed.push_back((processor_time() - middle) / rounds);
  }
  for (std::vector<double>* times : {&on_device, &on_managed}) {
    std::sort(times->begin(), times->end());
    std::printf(
        "%s memory: %.1f us (median), %.1f us (a tenth is below)\n",
        times == &on_device ? "device" : "managed",
        (*times)[batches / 2],
        (*times)[batches / 10]
    );
  }
}
