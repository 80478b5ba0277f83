// What the programs of this folder share: several cases in one program, selected by its first
// argument, and one way to launch the same kernel in each shape of grid.
//
//   program NAME [SHAPE] [N]     SHAPE: plain (default), block, cluster, cooperative; N: threads
#pragma once

#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

template <class T> using Atomic = cuda::atomic<T, cuda::thread_scope_device>;
template <class T> using SystemAtomic = cuda::atomic<T, cuda::thread_scope_system>;
using cuda::memory_order_acquire;
using cuda::memory_order_acq_rel;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

/// N threads: one block of N, or N blocks of one thread.
enum class Shape { Plain, Block, Cluster, Cooperative };

struct Setup {
  Shape shape = Shape::Plain;
  int n = 2;
};

struct Case {
  const char* name;
  int (*run)(Setup);
  int n = 2; // unless the command line says otherwise
};

inline int run_case(int argc, char** argv, std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    if (argc > 1 && std::strcmp(argv[1], c.name) == 0) {
      Setup setup{Shape::Plain, c.n};
      for (int i = 2; i < argc; ++i) {
        const char* const shapes[] = {"plain", "block", "cluster", "cooperative"};
        for (int s = 0; s < 4; ++s) {
          if (std::strcmp(argv[i], shapes[s]) == 0) {
            setup.shape = static_cast<Shape>(s);
          }
        }
        if (std::atoi(argv[i]) > 0) {
          setup.n = std::atoi(argv[i]);
        }
      }
      return c.run(setup);
    }
  }
  std::fprintf(stderr, "no such case\n");
  return 2;
}

/// Launches `kernel` on setup.n threads of that shape.
template <class... P, class... A>
cudaError_t launch(Setup setup, void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = setup.shape == Shape::Block ? 1 : setup.n;
  config.blockDim = setup.shape == Shape::Block ? setup.n : 1;
  cudaLaunchAttribute attribute{};
  config.attrs = &attribute;
  if (setup.shape == Shape::Cluster) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(setup.n), 1, 1};
    config.numAttrs = 1;
  } else if (setup.shape == Shape::Cooperative) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.numAttrs = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...);
}

/// Launches and waits: most cases are nothing else. cudaErrorLaunchFailure and the like are returned.
template <class... P> int run_kernel(Setup setup, void (*kernel)(P...)) {
  const cudaError_t launched = launch(setup, kernel);
  return static_cast<int>(launched) + static_cast<int>(cudaDeviceSynchronize());
}

/// The number of the executing thread, the same in every shape.
__device__ inline int me() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ inline int all() {
  return static_cast<int>(gridDim.x * blockDim.x);
}
