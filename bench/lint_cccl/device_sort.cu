// cub::DeviceRadixSort, DeviceSegmentedRadixSort, DeviceSegmentedSort, DeviceMergeSort for several types.
#include <cub/cub.cuh>

struct Record {
  double weight;
  int id;
};
struct Lighter {
  __host__ __device__ bool operator()(const Record& a, const Record& b) const { return a.weight < b.weight; }
};

template <class K> void keys(K* in, K* out, int n, void* work, size_t& bytes) {
  cub::DeviceRadixSort::SortKeys(work, bytes, in, out, n);
}
template <class K, class V> void pairs(K* in, V* values, int n, void* work, size_t& bytes) {
  cub::DeviceRadixSort::SortPairs(work, bytes, in, in, values, values, n);
  cub::DeviceRadixSort::SortPairsDescending(work, bytes, in, in, values, values, n);
}
void all(void* work, size_t& bytes, int n, const int* offsets, Record* records) {
  keys((unsigned char*)nullptr, (unsigned char*)nullptr, n, work, bytes);
  keys((double*)nullptr, (double*)nullptr, n, work, bytes);
  pairs((int*)nullptr, (int*)nullptr, n, work, bytes);
  pairs((unsigned long long*)nullptr, (Record*)nullptr, n, work, bytes);
  cub::DeviceSegmentedRadixSort::SortPairs(work, bytes, (int*)nullptr, (int*)nullptr, (float*)nullptr,
                                           (float*)nullptr, n, n, offsets, offsets + 1);
  cub::DeviceMergeSort::SortKeys(work, bytes, records, n, Lighter());
  cub::DeviceMergeSort::SortPairs(work, bytes, records, (int*)nullptr, n, Lighter());
}
