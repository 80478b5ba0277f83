// [BAR-7]: two warps meet at barrier 1 with different counts.
//@ revisions: run check
//@[run] command: run
__global__ void meet() {
  if (threadIdx.x < 32) {
    asm volatile("barrier.sync 1, 64;");
  } else {
    asm volatile("barrier.sync 1, 96;"); //~ ERROR barrier-misuse
  }
}

int main() {
  meet<<<1, 64>>>();
  return cudaDeviceSynchronize();
}
