// [STEP.2] [FAIR]: output is a step, so this thread makes progress for ever, and never ends.
#include <cstdio>

__global__ void shout() {
  while (true) {
    printf("still here\n"); //~ ERROR livelock
  }
}

int main() {
  shout<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
