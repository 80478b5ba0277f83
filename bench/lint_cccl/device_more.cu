// Less common device-wide algorithms of cub, and streaming or wide offsets.
#include <cub/cub.cuh>

struct Small {
  __host__ __device__ bool operator()(int x) const { return x < 10; }
};
struct Large {
  __host__ __device__ bool operator()(int x) const { return x > 1000; }
};
struct Twice {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};
struct Matrix {
  float m[9];
};
struct Product {
  __host__ __device__ Matrix operator()(const Matrix& a, const Matrix&) const { return a; }
};

void all(void* work, size_t& bytes, long long n, int* ints, Matrix* matrices, double* doubles, int* count) {
  cub::DevicePartition::If(work, bytes, ints, ints, ints, ints, count, static_cast<int>(n), Small(), Large());
  cub::DeviceSelect::UniqueByKey(work, bytes, ints, doubles, ints, doubles, count, static_cast<int>(n));
  cub::DeviceSelect::If(work, bytes, ints, ints, count, n, Small());
  cub::DeviceScan::InclusiveScan(work, bytes, matrices, matrices, Product(), n);
  cub::DeviceReduce::ArgMax(work, bytes, doubles, doubles, (long long*)nullptr, n);
  cub::DeviceFor::Bulk(static_cast<int>(n), [ints] __device__(int i) { ints[i] = i; });
  cub::DeviceTransform::Transform(ints, ints, static_cast<int>(n), Twice());
}
