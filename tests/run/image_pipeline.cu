// Filters on an image: separable convolution, box filter, Sobel through a texture, transposition, 8x8 cosine transform, rotation, histogram equalisation.
//@ exercises: constant filters, halo tiles in shared memory, uchar textures, surfaces as output, linear filtering of an image, shared atomics, __ldg, float4 traffic
#include "support.h"

#include <cmath>
#include <numeric>

constexpr int width = 128, height = 96, radius = 4;
__constant__ float filter[2 * radius + 1];

template <bool Rows> __global__ void convolve(const float* __restrict__ in, float* __restrict__ out) {
  constexpr int tile = 32;
  __shared__ float cache[16][tile + 2 * radius];
  int along = blockIdx.x * tile, across = blockIdx.y * 16 + threadIdx.y;
  const int n = Rows ? width : height;
  auto at = [&](int i) { return Rows ? across * width + i : i * width + across; };
  for (int i = threadIdx.x; i < tile + 2 * radius; i += blockDim.x) {
    int x = min(max(along + i - radius, 0), n - 1);
    cache[threadIdx.y][i] = in[at(x)];
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = -radius; k <= radius; ++k) sum += filter[k + radius] * cache[threadIdx.y][threadIdx.x + radius + k];
  out[at(along + threadIdx.x)] = sum;
}

__global__ void sobel(cudaTextureObject_t image, unsigned char* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  auto p = [&](int dx, int dy) { return static_cast<int>(tex2D<unsigned char>(image, x + dx, y + dy)); };
  int gx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1);
  int gy = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1);
  out[y * width + x] = static_cast<unsigned char>(min(255, (abs(gx) + abs(gy)) / 4));
}

__global__ void rotate(cudaTextureObject_t image, cudaSurfaceObject_t out, float cosine, float sine) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x / static_cast<float>(width) - 0.5f, v = y / static_cast<float>(height) - 0.5f;
  float value = tex2D<float>(image, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
  surf2Dwrite(value, out, x * 4, y);
}

__global__ void histogram(const uchar4* in, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uchar4 c = in[i];
    atomicAdd(&local[c.x], 1);
    atomicAdd(&local[c.y], 1);
    atomicAdd(&local[c.z], 1);
    atomicAdd(&local[c.w], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

// One thread per column of an 8x8 block; rows and columns in turn.
__global__ void cosine_transform(const float* in, float* out) {
  __shared__ float block[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  block[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += block[threadIdx.y][k] * cospif((2 * k + 1) * threadIdx.x / 16.0f);
  __syncthreads();
  block[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += block[k][threadIdx.x] * cospif((2 * k + 1) * threadIdx.y / 16.0f);
  out[y * width + x] = sum;
}

// Running sums, a thread per row: the recursive form of a box filter.
__global__ void box_rows(const float4* in, float4* out) {
  int y = threadIdx.x;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int x = 0; x < width / 4; ++x) {
    float4 v = __ldg(&in[y * width / 4 + x]);
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    out[y * width / 4 + x] = make_float4(sum.x / (x + 1), sum.y / (x + 1), sum.z / (x + 1), sum.w / (x + 1));
  }
}

int main() {
  std::vector<float> image(width * height);
  std::vector<unsigned char> bytes(width * height);
  Lcg random{7};
  for (int i = 0; i < width * height; ++i) {
    bytes[i] = static_cast<unsigned char>((i % width) * 2 ^ (i / width) ^ random.next() % 16);
    image[i] = static_cast<float>(bytes[i]);
  }
  float weights[2 * radius + 1];
  for (int i = 0; i <= 2 * radius; ++i) weights[i] = (radius + 1 - std::abs(i - radius)) / 32.0f; // exact
  CUDA_OK(cudaMemcpyToSymbol(filter, weights, sizeof weights));
  Buffer<float> source(image), rows(width * height), columns(width * height);
  convolve<true><<<dim3(width / 32, height / 16), dim3(32, 16)>>>(source, rows);
  convolve<false><<<dim3(height / 32, width / 16), dim3(32, 16)>>>(rows, columns);
  SYNC_OK();
  double worst = 0;
  auto got = columns.get();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx)
          sum += weights[dy + radius] * weights[dx + radius] *
                 image[std::min(std::max(y + dy, 0), height - 1) * width + std::min(std::max(x + dx, 0), width - 1)];
      worst = std::max(worst, std::abs(sum - got[y * width + x]));
    }
  std::printf("convolution %s\n", worst < 1e-3 ? "ok" : "wrong");

  cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t array;
  CUDA_OK(cudaMallocArray(&array, &format, width, height));
  CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, bytes.data(), width, width, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  CUDA_OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  Buffer<unsigned char> edges(width * height);
  sobel<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(texture, edges);
  SYNC_OK();
  std::printf("sobel %016llx\n", (unsigned long long)digest(edges.get()));
  CUDA_OK(cudaDestroyTextureObject(texture));

  // Rotation by half a turn with a linear filter: exact, up to the shift by a texel.
  how.readMode = cudaReadModeNormalizedFloat;
  how.filterMode = cudaFilterModeLinear;
  how.normalizedCoords = 1;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
  CUDA_OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaArray_t turned;
  CUDA_OK(cudaMallocArray(&turned, &floats, width, height, cudaArraySurfaceLoadStore));
  cudaResourceDesc target{};
  target.resType = cudaResourceTypeArray;
  target.res.array.array = turned;
  cudaSurfaceObject_t surface;
  CUDA_OK(cudaCreateSurfaceObject(&surface, &target));
  rotate<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(texture, surface, -1.0f, 0.0f);
  SYNC_OK();
  std::vector<float> back(width * height);
  CUDA_OK(cudaMemcpy2DFromArray(back.data(), width * 4, turned, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  int close = 0;
  for (int y = 1; y < height; ++y)
    for (int x = 1; x < width; ++x) {
      // The sample lies on the corner of four texels.
      double sum = 0;
      for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx) sum += bytes[(height - y - dy + height) % height * width + (width - x - dx + width) % width];
      close += std::abs(sum / 4 / 255 - back[y * width + x]) < 1e-4;
    }
  std::printf("rotated %d of %d\n", close, (width - 1) * (height - 1));
  CUDA_OK(cudaDestroySurfaceObject(surface));
  CUDA_OK(cudaDestroyTextureObject(texture));
  CUDA_OK(cudaFreeArray(turned));
  CUDA_OK(cudaFreeArray(array));

  Buffer<unsigned char> plain(bytes);
  Buffer<unsigned> bins(256);
  histogram<<<4, 64>>>(reinterpret_cast<uchar4*>(plain.data()), width * height / 4, bins);
  SYNC_OK();
  auto counts = bins.get();
  std::printf("histogram %u, %016llx\n", std::accumulate(counts.begin(), counts.end(), 0u), (unsigned long long)digest(counts));

  Buffer<float> spectrum(width * height);
  cosine_transform<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(source, spectrum);
  SYNC_OK();
  auto s = spectrum.get();
  double dc = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) dc += image[y * width + x];
  std::printf("dct %s\n", std::abs(dc - s[0]) < 1e-2 ? "ok" : "wrong");
  box_rows<<<1, height>>>(reinterpret_cast<float4*>(source.data()), reinterpret_cast<float4*>(rows.data()));
  SYNC_OK();
  std::printf("box %g\n", rows.get()[4 * width + 4]);
}
