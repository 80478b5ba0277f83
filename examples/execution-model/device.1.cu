// Execution.Model.Device.1 of the CUDA C++ execution model.
//
// May hang: device threads have no host.threads.2, a thread that only yields makes no progress.
//
// Changed: main launches the kernel; __nanosleep(0) stands for cuda::std::this_thread::yield(), which
// libcu++ 13.0 does not have (its internal counterpart for device code is an empty function).
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ names: while (true)
//@ names: cudaDeviceSynchronize
__global__ void ex1() {
  while (true) __nanosleep(0);
}

int main() {
  ex1<<<1, 1>>>();
  return (int)cudaDeviceSynchronize();
}
