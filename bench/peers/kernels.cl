// The kernels of bench/kernels/peers.cu in OpenCL C, statement by statement.
kernel void vecadd(global const float* a, global const float* b, global float* c, int n) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}

kernel void reduce(global const float* in, global float* out, int n) {
  local float s[256];
  int t = get_local_id(0), size = get_local_size(0);
  float sum = 0;
  for (int i = get_group_id(0) * size * 4 + t, k = 0; k < 4; ++k, i += size) if (i < n) sum += in[i];
  s[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int w = size / 2; w > 0; w /= 2) {
    if (t < w) s[t] += s[t + w];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = s[0];
}

#define T 16
kernel void matmul(global const float* A, global const float* B, global float* C, int n) {
  local float As[T][T], Bs[T][T];
  int x = get_local_id(0), y = get_local_id(1), row = get_group_id(1) * T + y, col = get_group_id(0) * T + x;
  float sum = 0;
  for (int m = 0; m < n / T; ++m) {
    As[y][x] = A[row * n + m * T + x];
    Bs[y][x] = B[(m * T + y) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < T; ++k) sum += As[y][k] * Bs[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[row * n + col] = sum;
}

kernel void nbody(global const float4* p, global float4* a, int n) {
  local float4 tile[256];
  int i = get_global_id(0), l = get_local_id(0);
  float4 me = p[i]; float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n / 256; ++t) {
    tile[l] = p[t * 256 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
    for (int j = 0; j < 256; ++j) {
      float4 o = tile[j];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float inv = rsqrt(d2), w = o.w * inv * inv * inv;
      ax += dx * w; ay += dy * w; az += dz * w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  a[i] = (float4)(ax, ay, az, 0);
}
