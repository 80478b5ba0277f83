// [STEP.3]: a volatile read of a global object is a step, so the spinning lane and, by [CLUSTER], its
// neighbour keep going.
__device__ volatile int flag;

__global__ void wait_for_neighbour() {
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
  } else {
    flag = 1;
  }
}

int main() {
  wait_for_neighbour<<<1, 2>>>();
  return cudaDeviceSynchronize();
}
