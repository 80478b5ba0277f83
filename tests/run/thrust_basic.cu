// Thrust: vectors, transformations, reductions, scans, compaction, fancy iterators.
//@ exercises: thrust::transform/reduce/transform_reduce/inclusive_scan/exclusive_scan/copy_if/unique/inner_product/count_if/gather/scatter/zip and counting iterators, for_each with a lambda
//@ flags: --extended-lambda
#include "support.h"

#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

template <class Vector> unsigned long long digest_of(const Vector& values) {
  std::vector<typename Vector::value_type> host(values.size());
  thrust::copy(values.begin(), values.end(), host.begin());
  return digest(host);
}

int main() {
  constexpr int n = 5000;
  thrust::device_vector<int> a(n), b(n), c(n);
  thrust::sequence(a.begin(), a.end(), 3, 7);
  thrust::fill(b.begin(), b.end(), 2);
  thrust::transform(a.begin(), a.end(), b.begin(), c.begin(), [] __host__ __device__(int x, int y) { return x * y % 1000; });
  std::printf("transform %d %016llx\n", static_cast<int>(c[77]), digest_of(c));
  std::printf("reduce %d max %d\n", thrust::reduce(c.begin(), c.end()), thrust::reduce(c.begin(), c.end(), 0, cuda::maximum<int>()));
  std::printf("squares %lld\n", thrust::transform_reduce(c.begin(), c.end(), [] __host__ __device__(int x) { return static_cast<long long>(x) * x; },
                                                         0ll, cuda::std::plus<long long>()));
  std::printf("inner %d\n", thrust::inner_product(a.begin(), a.begin() + 1000, b.begin(), 10));
  thrust::inclusive_scan(c.begin(), c.end(), a.begin());
  std::printf("scan %d %016llx\n", static_cast<int>(a[n - 1]), digest_of(a));
  thrust::exclusive_scan(c.begin(), c.end(), a.begin(), 5, cuda::maximum<int>());
  std::printf("exclusive %016llx\n", digest_of(a));

  auto end = thrust::copy_if(c.begin(), c.end(), a.begin(), [] __host__ __device__(int x) { return x % 5 == 0; });
  std::printf("copy_if %d\n", static_cast<int>(end - a.begin()));
  thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), a.begin(), [] __host__ __device__(int i) { return i / 7 % 13; });
  end = thrust::unique(a.begin(), a.end());
  std::printf("unique %d %d\n", static_cast<int>(end - a.begin()), static_cast<int>(a[20]));
  std::printf("count %d\n", static_cast<int>(thrust::count_if(c.begin(), c.end(), [] __host__ __device__(int x) { return x > 500; })));

  thrust::device_vector<int> map(n);
  thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), map.begin(), [] __host__ __device__(int i) { return i * 7 % 5000; });
  thrust::sequence(b.begin(), b.end());
  thrust::gather(map.begin(), map.end(), b.begin(), a.begin());
  thrust::sequence(map.begin(), map.end(), n - 1, -1);
  thrust::scatter(a.begin(), a.end(), map.begin(), b.begin());
  std::printf("gather %d scatter %d\n", static_cast<int>(a[999]), static_cast<int>(b[0]));

  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), c.begin()));
  thrust::for_each(thrust::device, pairs, pairs + n, [] __host__ __device__(thrust::tuple<int&, int&> pair) { thrust::get<1>(pair) += thrust::get<0>(pair); });
  std::printf("zip %016llx\n", digest_of(c));
  auto extremes = thrust::minmax_element(c.begin(), c.end());
  std::printf("minmax %d %d at %d\n", static_cast<int>(*extremes.first), static_cast<int>(*extremes.second),
              static_cast<int>(extremes.second - c.begin()));
  auto halves = thrust::make_transform_iterator(c.begin(), [] __host__ __device__(int x) { return x * 0.5; });
  std::printf("halves %.1f\n", thrust::reduce(halves, halves + n, 0.0));

  thrust::host_vector<float> host(100, 1.5f);
  thrust::device_vector<float> device = host;
  device.resize(200, 2.0f);
  std::printf("vector %g\n", thrust::reduce(device.begin(), device.end()));
}
