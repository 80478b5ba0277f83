// Surfaces, and arrays with all their copies.
//@ exercises: cudaCreateSurfaceObject, surf1D/2D/3D read and write, layered surfaces and boundary modes; cudaMemcpy2DToArray and friends, cudaMemcpy3D between arrays and pointers, array copies in graphs, errors
#include "support.h"

#include <cstring>
#include <numeric>

__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 c;
  surf2Dread(&c, from, x * 4, y);
  surf2Dwrite(make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w), to, x * 4, y);
}

__global__ void edges(cudaSurfaceObject_t s, int* out) {
  out[0] = surf1Dread<int>(s, -4, cudaBoundaryModeZero);
  out[1] = surf1Dread<int>(s, -4, cudaBoundaryModeClamp);
  out[2] = surf1Dread<int>(s, 4 * 8, cudaBoundaryModeZero);
  out[3] = surf1Dread<int>(s, 4 * 100, cudaBoundaryModeClamp);
  surf1Dwrite(77, s, 4 * 9, cudaBoundaryModeZero);  // nowhere
  surf1Dwrite(88, s, 4 * 12, cudaBoundaryModeClamp); // the last one
  out[4] = surf1Dread<int>(s, 4 * 7);
  out[5] = surf1Dread<int>(s, 4 * 6);
}

__global__ void fill(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf3Dwrite(static_cast<float>(100 * z + 10 * y + x), volume, x * 4, y, z);
  surf2DLayeredwrite(static_cast<short>(-(100 * z + 10 * y + x)), layers, x * 2, y, z);
}

__global__ void wide(cudaSurfaceObject_t s, double2* out) {
  double2 v = make_double2(threadIdx.x + 0.5, -1.0 * threadIdx.x);
  int4 bits;
  memcpy(&bits, &v, sizeof bits);
  surf2Dwrite(bits, s, threadIdx.x * 16, 1);
  bits = surf2Dread<int4>(s, threadIdx.x * 16, 1);
  memcpy(&out[threadIdx.x], &bits, sizeof bits);
}

cudaSurfaceObject_t surface(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object;
  CUDA_OK(cudaCreateSurfaceObject(&object, &resource));
  return object;
}

template <class T> cudaArray_t array_2d(size_t width, size_t height) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CUDA_OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  return array;
}
template <class T> cudaArray_t array_3d(cudaExtent extent, unsigned flags = 0) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CUDA_OK(cudaMalloc3DArray(&array, &format, extent, cudaArraySurfaceLoadStore | flags));
  return array;
}

void images() {
  const int width = 37, height = 19;
  std::vector<uchar4> image(width * height), got(width * height);
  for (int i = 0; i < width * height; ++i) image[i] = make_uchar4(i, i / 3, i / 7, 9);
  cudaArray_t a = array_2d<uchar4>(width, height), b = array_2d<uchar4>(width, height);
  CUDA_OK(cudaMemcpy2DToArray(a, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaSurfaceObject_t from = surface(a), to = surface(b);
  invert<<<dim3(3, 2), dim3(16, 16)>>>(from, to, width, height);
  SYNC_OK();
  CUDA_OK(cudaMemcpy2DFromArray(got.data(), width * 4, b, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  std::printf("inverted %d %d %d %d digest %016llx\n", got[100].x, got[100].y, got[100].z, got[100].w, (unsigned long long)digest(got));
  cudaResourceDesc told;
  CUDA_OK(cudaGetSurfaceObjectResourceDesc(&told, to));
  EXPECT(told.res.array.array == b);
  CUDA_OK(cudaDestroySurfaceObject(from));
  CUDA_OK(cudaDestroySurfaceObject(to));

  // A window of one array into another, and bytes in reading order.
  CUDA_OK(cudaMemcpy2DArrayToArray(a, 4 * 4, 2, b, 8 * 4, 5, 10 * 4, 7));
  CUDA_OK(cudaMemcpy2DFromArray(got.data(), width * 4, a, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  std::printf("window %d %d %d, digest %016llx\n", got[2 * width + 3].x, got[2 * width + 4].x, got[8 * width + 13].x, (unsigned long long)digest(got));
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaMemcpy2DToArrayAsync(b, 0, 3, image.data(), width * 4, width * 4, 2, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpy2DFromArrayAsync(got.data(), width * 4, b, 0, 0, width * 4, height, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaStreamDestroy(stream));
  std::printf("rows %d %d digest %016llx\n", got[3 * width].x, got[4 * width + 1].x, (unsigned long long)digest(got));

  unsigned flags;
  cudaExtent extent;
  cudaChannelFormatDesc format;
  CUDA_OK(cudaArrayGetInfo(&format, &extent, &flags, a));
  std::printf("array %zu x %zu x %zu, %d %d %d %d kind %d, flags %u\n", extent.width, extent.height, extent.depth, format.x, format.y, format.z, format.w, format.f, flags);
  CUDA_OK(cudaFreeArray(a));
  CUDA_OK(cudaFreeArray(b));
}

void small_ones() {
  std::vector<int> numbers(8);
  std::iota(numbers.begin(), numbers.end(), 10);
  cudaArray_t line = array_2d<int>(8, 0);
  CUDA_OK(cudaMemcpy2DToArray(line, 0, 0, numbers.data(), 32, 32, 1, cudaMemcpyHostToDevice));
  cudaSurfaceObject_t s = surface(line);
  Buffer<int> out(6);
  edges<<<1, 1>>>(s, out);
  SYNC_OK();
  for (int v : out.get()) std::printf("%d ", v);
  std::printf("\n");
  CUDA_OK(cudaDestroySurfaceObject(s));
  CUDA_OK(cudaFreeArray(line));

  cudaArray_t table = array_2d<int4>(4, 2);
  s = surface(table);
  Buffer<double2> wide_out(4);
  wide<<<1, 4>>>(s, wide_out);
  SYNC_OK();
  std::printf("wide %g %g\n", wide_out.get()[3].x, wide_out.get()[3].y);
  CUDA_OK(cudaDestroySurfaceObject(s));
  CUDA_OK(cudaFreeArray(table));
}

void volumes() {
  cudaExtent extent = make_cudaExtent(4, 3, 2);
  cudaArray_t volume = array_3d<float>(extent), layers = array_3d<short>(extent, cudaArrayLayered);
  cudaSurfaceObject_t sv = surface(volume), sl = surface(layers);
  fill<<<1, dim3(4, 3, 2)>>>(sv, sl);
  SYNC_OK();
  std::vector<float> floats(24);
  std::vector<short> shorts(24);
  cudaMemcpy3DParms copy{};
  copy.srcArray = volume;
  copy.dstPtr = make_cudaPitchedPtr(floats.data(), 16, 4, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA_OK(cudaMemcpy3D(&copy));
  copy = {};
  copy.srcArray = layers;
  copy.dstPtr = make_cudaPitchedPtr(shorts.data(), 8, 4, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA_OK(cudaMemcpy3D(&copy));
  std::printf("volume %g %g, layers %d %d, digests %016llx %016llx\n", floats[5], floats[23], shorts[5], shorts[23],
              (unsigned long long)digest(floats), (unsigned long long)digest(shorts));

  // Part of the array into pitched device memory, with offsets on both sides.
  cudaPitchedPtr pitched;
  CUDA_OK(cudaMalloc3D(&pitched, make_cudaExtent(5 * 4, 4, 3)));
  CUDA_OK(cudaMemset3D(pitched, 0, make_cudaExtent(5 * 4, 4, 3)));
  copy = {};
  copy.srcArray = volume;
  copy.srcPos = make_cudaPos(1, 1, 0);
  copy.dstPtr = pitched;
  copy.dstPos = make_cudaPos(2, 1, 1); // in elements, because of the array
  copy.extent = make_cudaExtent(3, 2, 2);
  copy.kind = cudaMemcpyDeviceToDevice;
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaMemcpy3DAsync(&copy, stream));
  std::vector<float> box(60);
  copy = {};
  copy.srcPtr = pitched;
  copy.dstPtr = make_cudaPitchedPtr(box.data(), 20, 20, 4);
  copy.extent = make_cudaExtent(20, 4, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA_OK(cudaMemcpy3DAsync(&copy, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("box %g %g %g, digest %016llx\n", box[20 + 5 + 2], box[40 + 10 + 4], box[0], (unsigned long long)digest(box));

  // The same copy as a node of a graph.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  CUDA_OK(cudaGraphCreate(&graph, 0));
  std::fill(floats.begin(), floats.end(), 0.0f);
  copy = {};
  copy.srcArray = volume;
  copy.dstPtr = make_cudaPitchedPtr(floats.data(), 16, 4, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("graph %g\n", floats[23]);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFree(pitched.ptr));
  CUDA_OK(cudaDestroySurfaceObject(sv));
  CUDA_OK(cudaDestroySurfaceObject(sl));
  CUDA_OK(cudaFreeArray(volume));
  CUDA_OK(cudaFreeArray(layers));
}

void refused() {
  cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t array;
  EXPECT(cudaMallocArray(&array, &three, 4, 4) != cudaSuccess);
  cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
  EXPECT(cudaMallocArray(&array, &one, 0, 4) == cudaErrorInvalidValue);
  EXPECT(cudaMalloc3DArray(&array, &one, make_cudaExtent(4, 5, 6), cudaArrayCubemap) == cudaErrorInvalidValue);
  CUDA_OK(cudaMallocArray(&array, &one, 4, 4));
  float values[16] = {};
  EXPECT(cudaMemcpy2DToArray(array, 4, 0, values, 16, 16, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CUDA_OK(cudaFreeArray(array));
  cudaGetLastError();
  std::printf("refused\n");
}

int main() {
  images();
  small_ones();
  volumes();
  refused();
}
