// thrust's algorithms with functors and lambdas of our own.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Square {
  __host__ __device__ double operator()(double x) const { return x * x; }
};
struct ByDistance {
  __host__ __device__ bool operator()(float2 a, float2 b) const { return a.x * a.x + a.y * a.y < b.x * b.x + b.y * b.y; }
};

double all(thrust::device_ptr<int> ints, thrust::device_ptr<double> doubles, thrust::device_ptr<float2> points, int n) {
  thrust::sort(ints, ints + n);
  thrust::sort(doubles, doubles + n, thrust::greater<double>());
  thrust::sort(points, points + n, ByDistance());
  thrust::sort_by_key(ints, ints + n, points);
  thrust::exclusive_scan(ints, ints + n, ints);
  thrust::unique(ints, ints + n);
  thrust::reduce_by_key(ints, ints + n, doubles, ints, doubles);
  return thrust::reduce(ints, ints + n) + thrust::transform_reduce(doubles, doubles + n, Square(), 0.0, thrust::plus<double>()) +
         thrust::inner_product(doubles, doubles + n, doubles, 0.0);
}
