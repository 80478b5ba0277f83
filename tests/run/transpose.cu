// Matrix transposition, naive, through a padded tile, and in place; element sizes 1 to 16 bytes.
//@ exercises: 2-D shared arrays with padding, dim3 blocks of 32x8, wide elements, char and double2 traffic
#include "support.h"

template <class T> __global__ void naive(const T* in, T* out, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) {
    out[x * rows + y] = in[y * columns + x];
  }
}

template <class T> __global__ void tiled(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (x < columns && y + j < rows) {
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
    }
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (x < rows && y + j < columns) {
      out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
    }
  }
}

template <class T> __global__ void in_place(T* data, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < y && y < n) {
    T upper = data[x * n + y];
    data[x * n + y] = data[y * n + x];
    data[y * n + x] = upper;
  }
}

template <class T> void test(const char* name, int rows, int columns) {
  std::vector<T> in(rows * columns);
  auto bytes = reinterpret_cast<unsigned char*>(in.data());
  Lcg random{static_cast<std::uint64_t>(rows)};
  for (std::size_t i = 0; i < in.size() * sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>(random.next());
  }
  Buffer<T> din(in), first(in.size()), second(in.size());
  naive<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(din.data(), first.data(), rows, columns);
  tiled<<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(din.data(), second.data(), rows, columns);
  SYNC_OK();
  EXPECT(digest(first.get()) == digest(second.get()));
  std::printf("%s %dx%d %016llx", name, rows, columns, static_cast<unsigned long long>(digest(first.get())));
  if (rows == columns) {
    in_place<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(din.data(), rows);
    SYNC_OK();
    EXPECT(digest(din.get()) == digest(first.get()));
    std::printf(" in place");
  }
  std::printf("\n");
}

int main() {
  test<unsigned char>("char", 64, 64);
  test<short>("short", 33, 70);
  test<int>("int", 100, 100);
  test<double>("double", 65, 31);
  test<float4>("float4", 40, 40);
  test<double2>("double2", 1, 77);
}
