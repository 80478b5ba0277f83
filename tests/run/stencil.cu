// Stencils in one, two and three dimensions with halos in shared memory and time steps by swapping buffers.
//@ exercises: halo loads, __constant__ coefficients, 3-D blocks and grids, repeated launches in one stream
#include "support.h"

#include <utility>

constexpr int radius = 3;
__constant__ float weights[2 * radius + 1];

__global__ void stencil_1d(const float* in, float* out, int n) {
  __shared__ float tile[128 + 2 * radius];
  int i = blockIdx.x * blockDim.x + threadIdx.x, local = threadIdx.x + radius;
  tile[local] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < radius) {
    tile[local - radius] = i >= radius ? in[i - radius] : 0.0f;
    int right = i + static_cast<int>(blockDim.x);
    tile[local + blockDim.x] = right < n ? in[right] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = -radius; k <= radius; ++k) {
    sum += tile[local + k] * weights[k + radius];
  }
  if (i < n) {
    out[i] = sum;
  }
}

__global__ void heat_2d(const float* in, float* out, int width, int height) {
  __shared__ float tile[10][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  auto at = [&](int px, int py) {
    px = min(max(px, 0), width - 1);
    py = min(max(py, 0), height - 1);
    return in[py * width + px];
  };
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0) {
    tile[ty][0] = at(x - 1, y);
  }
  if (threadIdx.x == 15) {
    tile[ty][17] = at(x + 1, y);
  }
  if (threadIdx.y == 0) {
    tile[0][tx] = at(x, y - 1);
  }
  if (threadIdx.y == 7) {
    tile[9][tx] = at(x, y + 1);
  }
  __syncthreads();
  if (x < width && y < height) {
    float centre = tile[ty][tx];
    out[y * width + x] =
        centre + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4.0f * centre);
  }
}

__global__ void laplace_3d(const int* in, int* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) {
    return;
  }
  auto at = [&](int i, int j, int k) {
    return i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz ? 0 : in[(k * ny + j) * nx + i];
  };
  out[(z * ny + y) * nx + x] = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) +
                               at(x, y, z - 1) + at(x, y, z + 1) - 6 * at(x, y, z);
}

int main() {
  {
    constexpr int n = 5000;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) {
      in[i] = static_cast<float>((i * 37) % 101);
    }
    float host_weights[2 * radius + 1] = {0.5f, 0.25f, 1, 2, 1, 0.25f, 0.5f};
    CUDA_OK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
    Buffer<float> din(in), out(n);
    stencil_1d<<<(n + 127) / 128, 128>>>(din, out, n);
    SYNC_OK();
    auto result = out.get();
    for (int i = 0; i < n; ++i) {
      float sum = 0; // multiples of 1/4: exact
      for (int k = -radius; k <= radius; ++k) {
        sum += (i + k >= 0 && i + k < n ? in[i + k] : 0.0f) * host_weights[k + radius];
      }
      EXPECT(result[i] == sum);
    }
    std::printf("1-D %016llx %g\n", static_cast<unsigned long long>(digest(result)), result[n / 2]);
  }
  {
    constexpr int width = 50, height = 37;
    std::vector<float> in(width * height);
    in[18 * width + 25] = 1000.0f;
    in[5 * width + 3] = -250.0f;
    Buffer<float> a(in), b(in.size());
    float *from = a, *to = b;
    for (int step = 0; step < 20; ++step) {
      heat_2d<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(from, to, width, height);
      std::swap(from, to);
    }
    SYNC_OK();
    auto result = a.get();
    double sum = 0;
    for (float value : result) {
      sum += value;
    }
    std::printf("2-D %016llx peak %.6f sum %.3f\n", static_cast<unsigned long long>(digest(result)),
                result[18 * width + 25], sum);
  }
  {
    constexpr int nx = 21, ny = 18, nz = 13;
    std::vector<int> in(nx * ny * nz);
    Lcg random{5};
    for (auto& value : in) {
      value = static_cast<int>(random.next() % 1000);
    }
    Buffer<int> din(in), out(in.size());
    laplace_3d<<<dim3((nx + 7) / 8, (ny + 3) / 4, (nz + 3) / 4), dim3(8, 4, 4)>>>(din, out, nx, ny, nz);
    SYNC_OK();
    std::printf("3-D %016llx\n", static_cast<unsigned long long>(digest(out.get())));
  }
}
