// Interprets one program of axb.json with real atomics, in one of four launch shapes.
//
//   axb SHAPE THREAD…      SHAPE: plain, block, cluster, cooperative
//   THREAD: instructions joined by '/', each  x,CELL,BRANCH_IF,WRITE,TO  (exchange, branch if it was)
//           l,CELL,BRANCH_IF,TO (load, branch if it is) or  s,CELL,WRITE (store)
#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int max_threads = 4, max_length = 4, cells = 4;

struct Instruction {
  int op, cell, branch_if, write, to;
};

struct Program {
  Instruction code[max_threads][max_length];
  int length[max_threads];
};

__global__ void run(const __grid_constant__ Program program, int* memory) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int at = 0; at < program.length[thread];) {
    const Instruction& i = program.code[thread][at];
    cuda::atomic_ref<int, cuda::thread_scope_device> cell(memory[i.cell]);
    ++at;
    if (i.op == 's') {
      cell.store(i.write, cuda::memory_order_relaxed);
    } else {
      const int seen = i.op == 'x' ? cell.exchange(i.write, cuda::memory_order_relaxed)
                                   : cell.load(cuda::memory_order_relaxed);
      if (seen == i.branch_if) {
        at = i.to;
      }
    }
  }
}

int main(int argc, char** argv) {
  Program program{};
  const int threads = argc - 2;
  if (threads < 1 || threads > max_threads) {
    return 2;
  }
  for (int t = 0; t < threads; ++t) {
    for (char* text = argv[t + 2]; *text != 0; ++program.length[t]) {
      Instruction& i = program.code[t][program.length[t]];
      i.op = *text;
      int* const fields[] = {&i.cell, i.op == 's' ? &i.write : &i.branch_if,
                             i.op == 'x' ? &i.write : &i.to, &i.to};
      const int count = i.op == 's' ? 2 : i.op == 'l' ? 3 : 4;
      ++text;
      for (int f = 0; f < count; ++f) {
        *fields[f] = std::strtol(text + 1, &text, 10);
      }
      text += *text == '/';
    }
  }
  int* memory = nullptr;
  cudaMalloc(&memory, cells * sizeof *memory);
  cudaMemset(memory, 0, cells * sizeof *memory);
  const bool one_block = std::strcmp(argv[1], "block") == 0;
  cudaLaunchConfig_t config{};
  config.gridDim = one_block ? 1 : threads;
  config.blockDim = one_block ? threads : 1;
  cudaLaunchAttribute attribute{};
  if (std::strcmp(argv[1], "cluster") == 0) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)threads, 1, 1};
    config.numAttrs = 1;
  } else if (std::strcmp(argv[1], "cooperative") == 0) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.numAttrs = 1;
  }
  config.attrs = &attribute;
  const cudaError_t launched = cudaLaunchKernelEx(&config, run, program, memory);
  return (int)launched + (int)cudaDeviceSynchronize();
}
