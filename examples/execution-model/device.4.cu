// Execution.Model.Device.4 of the CUDA C++ execution model.
//
// May hang: device threads have no host.threads.6, a trivial infinite loop is no progress.
//
// Changed: main launches the kernel; the document's `__global` is a misprint for `__global__`.
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ names: while (true)
//@ names: cudaDeviceSynchronize
__global__ void ex4() {
  while (true) { /* empty */ }
}

int main() {
  ex4<<<1, 1>>>();
  return (int)cudaDeviceSynchronize();
}
