// Thrust: sorting, searching, merging, set operations, reduction by key.
//@ exercises: thrust::sort/stable_sort/sort_by_key with comparison (merge sort), lower_bound, merge, set_union/intersection/difference, reduce_by_key, partition, inclusive_scan_by_key
//@ flags: --extended-lambda
#include "support.h"

#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>

template <class Vector> unsigned long long digest_of(const Vector& values, std::size_t size) {
  std::vector<typename Vector::value_type> host(size);
  thrust::copy(values.begin(), values.begin() + size, host.begin());
  return digest(host);
}

int main() {
  constexpr int n = 4000;
  std::vector<int> values(n), numbers(n);
  Lcg random{6};
  for (int i = 0; i < n; ++i) {
    values[i] = static_cast<int>(random.next() % 3000) - 1500;
    numbers[i] = i;
  }
  thrust::device_vector<int> keys(values.begin(), values.end()), order(numbers.begin(), numbers.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
  std::printf("by key %d %d %016llx\n", static_cast<int>(keys[0]), static_cast<int>(order[0]), digest_of(order, n));

  thrust::device_vector<int> modulo(values.begin(), values.end());
  thrust::stable_sort(modulo.begin(), modulo.end(), [] __device__(int a, int b) { return (a & 63) < (b & 63); });
  std::printf("custom %016llx\n", digest_of(modulo, n));

  thrust::device_vector<int> wanted(std::vector<int>{-2000, -1500, 0, 3, 1499, 5000}), positions(6);
  thrust::lower_bound(keys.begin(), keys.end(), wanted.begin(), wanted.end(), positions.begin());
  for (int i = 0; i < 6; ++i) {
    std::printf("%d ", static_cast<int>(positions[i]));
  }
  std::printf("\n");

  thrust::device_vector<int> left(1000), right(700), result(1700);
  for (auto [vector, step] : {std::pair{&left, 3}, std::pair{&right, 5}}) {
    std::vector<int> host(vector->size());
    for (std::size_t i = 0; i < host.size(); ++i) {
      host[i] = static_cast<int>(i) * step;
    }
    thrust::copy(host.begin(), host.end(), vector->begin());
  }
  auto show = [&](const char* name, auto end) {
    std::size_t size = end - result.begin();
    std::printf("%s %zu %016llx\n", name, size, digest_of(result, size));
  };
  show("merge", thrust::merge(left.begin(), left.end(), right.begin(), right.end(), result.begin()));
  show("union", thrust::set_union(left.begin(), left.end(), right.begin(), right.end(), result.begin()));
  show("intersection", thrust::set_intersection(left.begin(), left.end(), right.begin(), right.end(), result.begin()));
  show("difference", thrust::set_difference(left.begin(), left.end(), right.begin(), right.end(), result.begin()));

  thrust::device_vector<int> unique(n), sums(n), ones(n, 1);
  auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), ones.begin(), unique.begin(), sums.begin());
  std::size_t size = ends.first - unique.begin();
  std::printf("reduce by key %zu %016llx %016llx\n", size, digest_of(unique, size), digest_of(sums, size));
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), ones.begin(), sums.begin());
  std::printf("scan by key %016llx\n", digest_of(sums, n));
  auto middle = thrust::stable_partition(keys.begin(), keys.end(), [] __device__(int x) { return x % 2 == 0; });
  std::printf("partition %d %016llx\n", static_cast<int>(middle - keys.begin()), digest_of(keys, n));
}
