__global__ void add(int n, const float* a, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void scale(int n, float f, float* a) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] *= f;
}
