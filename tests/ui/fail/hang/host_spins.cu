// [LAUNCH] [HANG-STARVATION]: nothing obliges the kernel to start while the host only looks at memory,
// although each look is a step of the host [HSTEP.4].
__global__ void raise(volatile int* flag) {
  *flag = 1;
}

int main() {
  int* flag = nullptr;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  raise<<<1, 1>>>(flag);
  while (*static_cast<volatile int*>(flag) == 0) { //~ ERROR starvation waits for kernel 'raise<<<1,1>>>'
  }
  return 0;
}
