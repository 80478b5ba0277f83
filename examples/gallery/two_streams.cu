// A kernel that waits for a kernel of another stream
// Streams may run at the same time, but nothing promises that they do: a GPU may finish one kernel first.
// gallery: check; expect: may-hang
__device__ volatile int ready;

__global__ void consume() {
  while (ready == 0) {
  }
}
__global__ void produce() {
  ready = 1;
}

int main() {
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  consume<<<1, 1, 0, one>>>();
  produce<<<1, 1, 0, two>>>();
  return cudaDeviceSynchronize();
}
