// cub::DeviceScan, DeviceSelect, DevicePartition, DeviceRunLengthEncode for several types and operators.
#include <cub/cub.cuh>

struct Point {
  float x, y, z;
  int tag;
  __host__ __device__ bool operator==(const Point& o) const { return tag == o.tag; }
};
struct Nearer {
  __host__ __device__ Point operator()(const Point& a, const Point& b) const { return a.x < b.x ? a : b; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct IsTagged {
  __host__ __device__ bool operator()(const Point& p) const { return p.tag != 0; }
};

template <class T> void scans(const T* in, T* out, int n, void* work, size_t& bytes) {
  cub::DeviceScan::ExclusiveSum(work, bytes, in, out, n);
  cub::DeviceScan::InclusiveSum(work, bytes, in, out, static_cast<long long>(n));
}
void all(void* work, size_t& bytes, int n, int* ints, Point* points, char* flags, int* count) {
  scans((const char*)nullptr, (char*)nullptr, n, work, bytes);
  scans((const int*)nullptr, (int*)nullptr, n, work, bytes);
  scans((const double*)nullptr, (double*)nullptr, n, work, bytes);
  cub::DeviceScan::InclusiveScan(work, bytes, points, points, Nearer(), n);
  cub::DeviceScan::ExclusiveSumByKey(work, bytes, ints, ints, ints, n);
  cub::DeviceSelect::If(work, bytes, ints, ints, count, n, IsOdd());
  cub::DeviceSelect::If(work, bytes, points, points, count, n, IsTagged());
  cub::DeviceSelect::Flagged(work, bytes, ints, flags, ints, count, n);
  cub::DeviceSelect::Unique(work, bytes, points, points, count, n);
  cub::DevicePartition::If(work, bytes, ints, ints, count, n, IsOdd());
  cub::DeviceRunLengthEncode::Encode(work, bytes, ints, ints, ints, count, n);
  cub::DeviceRunLengthEncode::NonTrivialRuns(work, bytes, points, ints, ints, count, n);
}
