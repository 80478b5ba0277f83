// [LOOP] [HANG-LOOP]: volatile accesses to a local variable are no steps ([STEP.3]).
__global__ void loop() {
  volatile bool go = true;
  while (go) { //~ ERROR no-progress-loop
  }
}

int main() {
  loop<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
