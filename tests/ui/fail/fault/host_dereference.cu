// The line of the host comes from debug information, for which `heddle run` asks.
//@ command: run
int main() {
  int* p = nullptr;
  cudaMalloc(&p, sizeof(int));
  *p = 1; //~ ERROR host-dereference host code writes device memory
  return 0;
}
