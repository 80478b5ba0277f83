// Execution.Model.Device.2 of the CUDA C++ execution model.
//
// May hang: device threads have no host.threads.4 for objects of automatic storage duration
// (device.threads.3).
//
// Changed: main launches the kernel.
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ names: while (True)
//@ names: cudaDeviceSynchronize
__global__ void ex2() {
  volatile bool True = true;
  while (True);
}

int main() {
  ex2<<<1, 1>>>();
  return (int)cudaDeviceSynchronize();
}
