// What would end the wait is queued behind the kernel that waits.
//@ command: run
__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) { //~ ERROR livelock no thread that is guaranteed
  }
}

__global__ void set(volatile int* flag) {
  *flag = 1;
}

int main() {
  int* flag = nullptr;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait_for<<<1, 1>>>(flag);
  set<<<1, 1>>>(flag);
  return cudaDeviceSynchronize();
}
