// heddle check names what is queued behind the kernel that hangs: a kernel, with its launch, and a
// memset. The copy at the end cannot end the wait: it writes the host's own memory.
__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) { //~ ERROR livelock
  }
}

__global__ void set(volatile int* flag) {
  *flag = 1;
}

int main() {
  int* flag = nullptr;
  int result = 0;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait_for<<<1, 1>>>(flag);
  set<<<1, 1>>>(flag);
  cudaMemsetAsync(flag, 1, sizeof(int));
  cudaMemcpyAsync(&result, flag, sizeof(int), cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize();
}
