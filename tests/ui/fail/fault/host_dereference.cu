// Without debug information for the host there is no line to point at.
//@ command: run
int main() {
  int* p = nullptr;
  cudaMalloc(&p, sizeof(int));
  *p = 1;
  return 0;
}
