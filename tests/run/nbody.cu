// All-pairs gravitation of a few hundred bodies, with IEEE division and square root (every bit is compared) and with rsqrtf (few digits).
//@ exercises: float4 tiles in shared memory, __fsqrt_rn, __fdiv_rn, rsqrtf, loop unrolling
#include "support.h"

#include <cmath>

template <bool exact> __device__ float3 pull(float3 force, float4 self, float4 other) {
  float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
  float squared = dx * dx + dy * dy + dz * dz + 0.01f;
  float strength;
  if (exact) {
    float distance = __fsqrt_rn(squared);
    strength = __fdiv_rn(other.w, distance * squared);
  } else {
    float inverse = rsqrtf(squared);
    strength = other.w * inverse * inverse * inverse;
  }
  force.x += dx * strength;
  force.y += dy * strength;
  force.z += dz * strength;
  return force;
}

template <bool exact>
__global__ void step(const float4* in, float4* out, float4* velocity, int n, float dt) {
  __shared__ float4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 self = in[i];
  float3 force = {0, 0, 0};
  for (int start = 0; start < n; start += blockDim.x) {
    tile[threadIdx.x] = in[start + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 64; ++k) {
      force = pull<exact>(force, self, tile[k]);
    }
    __syncthreads();
  }
  float4 v = velocity[i];
  v.x += force.x * dt;
  v.y += force.y * dt;
  v.z += force.z * dt;
  velocity[i] = v;
  self.x += v.x * dt;
  self.y += v.y * dt;
  self.z += v.z * dt;
  out[i] = self;
}

int main() {
  constexpr int n = 256;
  std::vector<float4> bodies(n);
  Lcg random{42};
  auto unit = [&] { return static_cast<float>(random.next() % 65536) / 65536.0f; };
  for (auto& body : bodies) {
    body = {unit() * 10 - 5, unit() * 10 - 5, unit() * 10 - 5, unit()};
  }
  for (bool exact : {true, false}) {
    Buffer<float4> a(bodies), b(n), velocity(n);
    float4 *from = a, *to = b;
    for (int i = 0; i < 3; ++i) {
      if (exact) {
        step<true><<<n / 64, 64>>>(from, to, velocity, n, 0.01f);
      } else {
        step<false><<<n / 64, 64>>>(from, to, velocity, n, 0.01f);
      }
      std::swap(from, to);
    }
    SYNC_OK();
    auto result = b.get();
    if (exact) {
      std::printf("exact %016llx\n", static_cast<unsigned long long>(digest(result)));
    }
    for (int i : {0, 100, 255}) {
      std::printf("%d: %.3f %.3f %.3f\n", i, result[i].x, result[i].y, result[i].z);
    }
  }
}
