// cub::DeviceReduce, DeviceSegmentedReduce and reductions by key, for several types and operators.
#include <cub/cub.cuh>

struct Pair {
  __host__ __device__ bool operator==(const Pair& o) const { return key == o.key; }
  long long key;
  double value;
};
struct Longer {
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const { return a.key < b.key ? b : a; }
};
struct Root {
  __host__ __device__ double operator()(float x) const { return x * x; }
};

template <class T> void sums(const T* in, T* out, int n, void* work, size_t& bytes) {
  cub::DeviceReduce::Sum(work, bytes, in, out, n);
  cub::DeviceReduce::Sum(work, bytes, in, out, static_cast<long long>(n));
  cub::DeviceReduce::Min(work, bytes, in, out, n);
}
template <class T>
void segments(const T* in, T* out, int n, const int* offsets, void* work, size_t& bytes) {
  cub::DeviceSegmentedReduce::Sum(work, bytes, in, out, n, offsets, offsets + 1);
  cub::DeviceSegmentedReduce::ArgMin(work, bytes, in, (cub::KeyValuePair<int, T>*)nullptr, n, offsets, offsets + 1);
}
void all(void* work, size_t& bytes, int n, const int* offsets) {
  sums((const char*)nullptr, (char*)nullptr, n, work, bytes);
  sums((const int*)nullptr, (int*)nullptr, n, work, bytes);
  sums((const double*)nullptr, (double*)nullptr, n, work, bytes);
  segments((const int*)nullptr, (int*)nullptr, n, offsets, work, bytes);
  segments((const double*)nullptr, (double*)nullptr, n, offsets, work, bytes);
  cub::DeviceReduce::Reduce(work, bytes, (Pair*)nullptr, (Pair*)nullptr, n, Longer(), Pair{0, 0.0});
  cub::DeviceReduce::TransformReduce(work, bytes, (float*)nullptr, (double*)nullptr, n, cuda::std::plus<>(), Root(), 0.0);
  cub::DeviceReduce::ReduceByKey(work, bytes, (int*)nullptr, (int*)nullptr, (double*)nullptr, (double*)nullptr,
                                 (int*)nullptr, cuda::std::plus<>(), n);
  cub::DeviceReduce::ReduceByKey(work, bytes, (Pair*)nullptr, (Pair*)nullptr, (Pair*)nullptr, (Pair*)nullptr,
                                 (int*)nullptr, Longer(), n);
}
