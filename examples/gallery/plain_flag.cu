// A message behind a plain flag
// Block 0 writes the data and then a flag; block 1 looks at the flag and reads the data. Neither access
// to the flag is atomic, so nothing orders the two accesses to the data.
// gallery: run --races; expect: defect
__device__ int data, flag, seen;

__global__ void pass() {
  if (blockIdx.x == 0) {
    data = 42;
    __threadfence();
    flag = 1;
  } else if (flag == 1) {
    seen = data;
  }
}

int main() {
  pass<<<2, 1>>>();
  return cudaDeviceSynchronize();
}
