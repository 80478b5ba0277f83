// Programmatic dependent launch: the second kernel may begin early and waits for the first itself.
//@ exercises: cudaLaunchAttributeProgrammaticStreamSerialization, cudaTriggerProgrammaticLaunchCompletion, cudaGridDependencySynchronize (griddepcontrol), a chain of such launches, implicit trigger
#include "support.h"

__global__ void primary(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // The trigger lets the next kernel start; its wait still sees everything written below.
  cudaTriggerProgrammaticLaunchCompletion();
  if (i < n) {
    data[i] = i * 3;
  }
}

__global__ void secondary(const int* data, int* out, int n) {
  __shared__ int prologue[128];
  prologue[threadIdx.x] = static_cast<int>(threadIdx.x) * 2; // work that needs nothing of the first kernel
  __syncthreads();
  cudaGridDependencySynchronize();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = data[n - 1 - i] + prologue[127 - threadIdx.x];
  }
}

__global__ void step(int* value, int factor, int addend) {
  cudaGridDependencySynchronize();
  *value = *value * factor + addend;
  // No trigger: the end of the grid counts as one.
}

template <class... Args> void launch(void (*kernel)(Args...), int grid, int block, cudaStream_t stream, Args... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA_OK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

int main() {
  constexpr int n = 1000;
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  Buffer<int> data(n), out(n);
  CUDA_OK(cudaDeviceSynchronize());
  primary<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
  launch(secondary, (n + 127) / 128, 128, stream, static_cast<const int*>(data.data()), out.data(), n);
  CUDA_OK(cudaStreamSynchronize(stream));
  auto result = out.get();
  for (int i = 0; i < n; ++i) {
    EXPECT(result[i] == (n - 1 - i) * 3 + (127 - i % 128) * 2);
  }
  std::printf("pair %d %016llx\n", result[500], static_cast<unsigned long long>(digest(result)));

  Buffer<int> value(std::vector<int>{1});
  for (int i = 0; i < 6; ++i) {
    launch(step, 1, 1, stream, value.data(), i + 1, 7);
  }
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("chain %d\n", value.get()[0]);

  // Without the attribute both calls are allowed and do nothing.
  step<<<1, 1, 0, stream>>>(value, 0, 5);
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("plain %d\n", value.get()[0]);
}
