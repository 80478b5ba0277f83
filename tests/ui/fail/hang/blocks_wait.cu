// [CLUSTER] [HANG-STARVATION]: block 0 of a plain grid waits for block 1, which never has to start.
__device__ volatile int flag;

__global__ void wait_for_next_block() {
  if (blockIdx.x == 0) {
    while (flag == 0) { //~ ERROR starvation
    }
  } else {
    flag = 1;
  }
}

int main() {
  wait_for_next_block<<<2, 1>>>();
  return cudaDeviceSynchronize();
}
