// lint-options: --arch=sm_90 -- --extended-lambda
// `new` in device code, where cuda_runtime.h reads <functional> for the sake of lambdas.
#include <functional>
__global__ void numbers(int* out) {
  int* made = new int(3);
  auto twice = [made] __device__() { return 2 * *made; };
  out[threadIdx.x] = twice();
  delete made;
}
__global__ void divergent(int* out) {
  int* made = new int[4];
  if (threadIdx.x < 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  out[threadIdx.x] = made[0];
  delete[] made;
}
