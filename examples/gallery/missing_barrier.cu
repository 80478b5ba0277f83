// A neighbour's value read before the barrier
// Each thread writes its element of shared memory and reads the next one. __syncthreads() is missing.
// gallery: run --races; expect: defect
__global__ void shift(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  shift<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
