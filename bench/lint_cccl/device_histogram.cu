// cub::DeviceHistogram: even and ranged bins, one and several channels, several types of samples.
#include <cub/cub.cuh>

void all(void* work, size_t& bytes, int n, const float* samples, const unsigned char* pixels, int* counts,
         const float* levels) {
  cub::DeviceHistogram::HistogramEven(work, bytes, samples, counts, 65, 0.0f, 1.0f, n);
  cub::DeviceHistogram::HistogramEven(work, bytes, pixels, counts, 257, 0, 256, n, 100, size_t(n));
  cub::DeviceHistogram::HistogramRange(work, bytes, samples, counts, 17, levels, n);
  int* several[3] = {counts, counts, counts};
  const int sizes[3] = {257, 257, 257};
  const int low[3] = {0, 0, 0};
  const int high[3] = {256, 256, 256};
  cub::DeviceHistogram::MultiHistogramEven<4, 3>(work, bytes, pixels, several, sizes, low, high, n);
}
