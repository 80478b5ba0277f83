// lint-options: --arch=sm_90 -- -std=c++17
// In C++17, too, nvcc takes a parameter of type auto.
struct Slice {
  template <class T> __device__ static void copy(T from, int* to, auto stage) { to[stage] = from[stage]; }
};
__global__ void wait_in_branch(int* p) {
  Slice::copy(p, p + 8, threadIdx.x);
  if (threadIdx.x > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
