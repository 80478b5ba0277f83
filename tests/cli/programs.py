"""Programs that several of the tests here check, and how they compare reports."""
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from same_folder import SameFolder  # noqa: E402, F401

# A block waits for one that need not start.
HANG = """
__device__ volatile int flag;
__global__ void wait_for_next_block() {
  if (blockIdx.x == 0) {
    while (flag == 0) {
    }
  } else {
    flag = 1;
  }
}
int main() {
  wait_for_next_block<<<2, 1>>>();
  return cudaDeviceSynchronize();
}
"""
# Far too many interleavings: it takes all the time that it is given.
LONG = """
__global__ void k(int* p) {
  int x = threadIdx.x + 100 * blockIdx.x;
  for (int i = 0; i < 50; ++i) x = atomicAdd(p + (x & 3), x + 1);
}
int main() {
  int* p;
  cudaMalloc(&p, 64);
  cudaMemset(p, 0, 64);
  k<<<2, 16>>>(p);
  return cudaDeviceSynchronize();
}
"""
# A kernel with far too many interleavings, and then one that waits for what need not start; with an argument
# for what has started.
SECOND = """
namespace scans {
__device__ unsigned tickets, turn;
template <class T> __global__ void in_turn(T* p, bool takes_ticket) {
  const unsigned mine = takes_ticket ? atomicAdd(&tickets, 1u) : blockIdx.x;
  while (atomicAdd(&turn, 0u) != mine) {
  }
  p[mine] = mine;
  __threadfence();
  atomicAdd(&turn, 1u);
}
}
__global__ void prepare(int* p) {
  int x = threadIdx.x + 100 * blockIdx.x;
  for (int i = 0; i < 50; ++i) x = atomicAdd(p + (x & 3), x + 1);
}
int main(int argc, char**) {
  int* p;
  cudaMalloc(&p, 64);
  cudaMemset(p, 0, 64);
  prepare<<<2, 16>>>(p);
  scans::in_turn<<<2, 1>>>(p, argc > 1);
  return cudaDeviceSynchronize();
}
"""


def without_times(text):
    """A report in JSON, but for what differs each time."""
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k != "seconds"}
        return [strip(v) for v in value] if isinstance(value, list) else value
    return strip(json.loads(text))
