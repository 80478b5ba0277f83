// cuda-uninitialized-variable: Clang's analysis of local variables, in device code.
__global__ void always_bad(int* o) {
  int x;
  o[threadIdx.x] = x; // expect: cuda_uninitialized_variable
}
__global__ void sum_bad(const float* a, float* o, int n) {
  float s;
  for (int i = 0; i < n; ++i) s += a[i]; // expect: cuda_uninitialized_variable
  o[threadIdx.x] = s;
}
__global__ void sum(const float* a, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += a[i];
  o[threadIdx.x] = s;
}
__global__ void one_side_bad(const int* a, int* o) {
  int x;
  if (a[0] > 0) x = 1;
  o[threadIdx.x] = x + 1; // expect: cuda_uninitialized_variable
}
__global__ void both_sides(const int* a, int* o) {
  int x;
  if (a[0] > 0) x = 1;
  else x = 2;
  o[threadIdx.x] = x + 1;
}
__device__ int helper_bad(int n) {
  int x;
  if (n > 3) x = n;
  return x; // expect: cuda_uninitialized_variable
}
__global__ void calls_helper(int* o) { o[threadIdx.x] = helper_bad(o[0]); }
template <class T> __global__ void pattern_bad(T* o) {
  T x;
  o[threadIdx.x] = x; // expect: cuda_uninitialized_variable
}
void launch(int* p, float* q) {
  pattern_bad<<<1, 32>>>(p);
  pattern_bad<<<1, 32>>>(q);
  int on_the_host;
  p[0] = on_the_host; // the host's compiler says it
}
// Lanes that do not decide a shuffle's result need not have a value.
__global__ void broadcast(int* o) {
  int x;
  if (threadIdx.x == 0) x = atomicAdd(o, 32);
  x = __shfl_sync(0xffffffffu, x, 0);
  o[x + threadIdx.x] = 1;
}
__global__ void by_assembly(int* o) {
  int x;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(x));
  o[threadIdx.x] = x;
}
__global__ void half_by_assembly(int* o) {
  int x, y;
  if (threadIdx.x == 0) x = 5;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(y) : "r"(x));
  o[threadIdx.x] = y;
}
__device__ void set(int& x) { x = 3; }
__global__ void by_reference(int* o) {
  int x;
  set(x);
  o[threadIdx.x] = x;
}
// The two conditions may be one.
__global__ void found_before_used(const int* a, int* o, int n) {
  int x;
  bool found = false;
  for (int i = 0; i < n; ++i)
    if (a[i] > 0) x = i, found = true;
  if (found) o[threadIdx.x] = x;
}
__global__ void largest(const float* a, int* o, int n) {
  float most = -1e30f;
  int at;
  for (int i = 0; i < n; ++i)
    if (a[i] > most) most = a[i], at = i;
  o[threadIdx.x] = at;
}
__global__ void ends_otherwise(const int* a, int* o) {
  int x;
  switch (a[0]) {
  case 0: x = 1; break;
  case 1: x = 2; break;
  default: __trap();
  }
  o[threadIdx.x] = x;
}
__global__ void by_itself_bad(int* o) {
  int x = x;
  o[threadIdx.x] = x; // expect: cuda_uninitialized_variable
}
__global__ void not_read(int* o) {
  int x;
  (void)x;
  o[threadIdx.x] = 1;
}
__global__ void shared(int* o) {
  __shared__ int x;
  if (threadIdx.x == 0) x = 1;
  __syncthreads();
  o[threadIdx.x] = x;
}
