// `heddle run` does not sit there: nobody is left who could write the flag.
//@ command: run
__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) { //~ ERROR livelock no thread that is guaranteed
  }
}

int main() {
  int* flag = nullptr;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait_for<<<1, 1>>>(flag);
  return cudaDeviceSynchronize();
}
