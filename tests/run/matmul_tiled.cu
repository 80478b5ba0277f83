// Matrix multiplication with shared-memory tiles; sizes that are no multiple of the tile.
//@ exercises: 2-D blocks, __syncthreads in a loop, static shared memory, partial tiles
//@ also-flags: -Xptxas -O0 -Xcicc -O1
#include "support.h"

constexpr int tile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float tile_a[tile][tile];
  __shared__ float tile_b[tile][tile];
  int row = blockIdx.y * tile + threadIdx.y;
  int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < inner; start += tile) {
    int ax = start + threadIdx.x;
    int by = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < rows && ax < inner ? a[row * inner + ax] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = by < inner && column < columns ? b[by * columns + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tile; ++k) {
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < rows && column < columns) {
    c[row * columns + column] = sum;
  }
}

void test(int rows, int inner, int columns) {
  std::vector<float> a(rows * inner), b(inner * columns);
  Lcg random{static_cast<std::uint64_t>(rows * 31 + columns)};
  for (auto& value : a) {
    value = static_cast<float>(random.next() % 17) - 8;
  }
  for (auto& value : b) {
    value = static_cast<float>(random.next() % 13) * 0.25f;
  }
  Buffer<float> da(a), db(b), dc(rows * columns);
  dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
  multiply<<<grid, dim3(tile, tile)>>>(da, db, dc, rows, inner, columns);
  SYNC_OK();
  auto c = dc.get();
  // All products and sums are small multiples of 1/4: exact in any order.
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      float sum = 0;
      for (int k = 0; k < inner; ++k) {
        sum += a[row * inner + k] * b[k * columns + column];
      }
      EXPECT(c[row * columns + column] == sum);
    }
  }
  std::printf("%dx%dx%d: c[last] = %g, digest %016llx\n", rows, inner, columns, c.back(),
              static_cast<unsigned long long>(digest(c)));
}

int main() {
  test(16, 16, 16);
  test(1, 1, 1);
  test(17, 33, 50);
  test(64, 96, 80);
}
