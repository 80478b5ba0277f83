// A counter that is increased without an atomic
// Two blocks read the counter, add one and write it back. One of the two updates may get lost.
// gallery: run --races; expect: defect
__device__ int counter;

__global__ void count() {
  counter = counter + 1;
}

int main() {
  count<<<2, 1>>>();
  return cudaDeviceSynchronize();
}
