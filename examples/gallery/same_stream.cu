// A kernel that waits for the next kernel of its stream
// The second kernel may not start before the first one has completed, and the first one waits for it.
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
  consume<<<1, 1>>>();
  produce<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
