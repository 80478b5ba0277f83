// Execution.Model.API.1 of the CUDA C++ execution model.
//
// Terminates: cudaDeviceSynchronize makes some device thread start, the other threads of its block
// must follow, and the barrier then lets all of them through.
//
// Changed: nothing.
//@ verdict: terminates
//@ rests-on: API
__global__ void hello_world() { __syncthreads(); }
int main() {
  hello_world<<<1, 2>>>();
  return (int)cudaDeviceSynchronize();
}
