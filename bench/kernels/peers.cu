// The four kernels that Heddle is compared with peers on (bench/compiled.cpp). peers.ptx is made of it:
//   nvcc -arch=sm_80 -ptx peers.cu

extern "C" __global__ void vecadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void reduce(const float* in, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x * 4 + t, k = 0; k < 4; ++k, i += blockDim.x) if (i < n) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w /= 2) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

const int T = 16;
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float As[T][T], Bs[T][T];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int m = 0; m < n / T; ++m) {
    As[y][x] = A[row * n + m * T + x];
    Bs[y][x] = B[(m * T + y) * n + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += As[y][k] * Bs[k][x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

extern "C" __global__ void nbody(const float4* p, float4* a, int n) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i]; float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n / 256; ++t) {
    tile[threadIdx.x] = p[t * 256 + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 256; ++j) {
      float4 o = tile[j];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float inv = rsqrtf(d2), w = o.w * inv * inv * inv;
      ax += dx * w; ay += dy * w; az += dz * w;
    }
    __syncthreads();
  }
  a[i] = make_float4(ax, ay, az, 0);
}
