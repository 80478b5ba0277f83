// cub::DeviceSegmentedSort, DeviceMerge, DeviceAdjacentDifference, DeviceMemcpy, DeviceTransform.
#include <cub/cub.cuh>

void all(void* work, size_t& bytes, int n, int* ints, double* doubles, const int* offsets, void** from, void** to,
         size_t* sizes) {
  cub::DeviceSegmentedSort::SortKeys(work, bytes, ints, ints, n, n, offsets, offsets + 1);
  cub::DeviceSegmentedSort::StableSortPairs(work, bytes, doubles, doubles, ints, ints, n, n, offsets, offsets + 1);
  cub::DeviceMerge::MergeKeys(work, bytes, ints, n, ints, n, ints);
  cub::DeviceAdjacentDifference::SubtractLeftCopy(work, bytes, doubles, doubles, n);
  cub::DeviceAdjacentDifference::SubtractRight(work, bytes, ints, n);
  cub::DeviceMemcpy::Batched(work, bytes, from, to, sizes, n);
}
