// Texture objects: on linear, pitched and array memory, with every address mode, filter and read mode.
//@ exercises: cudaCreateTextureObject, tex1Dfetch, tex1D/2D/3D, layered and cubemap textures, gather, levels of detail, point and linear filters whose results are exact
//@ also-flags: -O0 -G
#include "support.h"

#include <cmath>
#include <functional>

template <class T> cudaArray_t make_array(const std::vector<T>& texels, cudaExtent extent, unsigned flags = 0) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CUDA_OK(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(texels.data()), extent.width * sizeof(T), extent.width, extent.height ? extent.height : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, extent.height ? extent.height : 1, extent.depth ? extent.depth : 1);
  copy.kind = cudaMemcpyHostToDevice;
  CUDA_OK(cudaMemcpy3D(&copy));
  return array;
}

cudaTextureObject_t bind(cudaArray_t array, const cudaTextureDesc& how) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t object;
  CUDA_OK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  return object;
}

cudaTextureDesc texture(cudaTextureAddressMode mode, cudaTextureFilterMode filter = cudaFilterModePoint, bool normalised = false,
                        cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalised;
  how.readMode = read;
  return how;
}

__global__ void fetch_1d(cudaTextureObject_t t, int first, int* out) { out[threadIdx.x] = tex1Dfetch<int>(t, first + static_cast<int>(threadIdx.x)); }
__global__ void sample_1d(cudaTextureObject_t t, const float* x, float* out) { out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }
__global__ void sample_2d(cudaTextureObject_t t, float step, float2 start, float* out) {
  out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(t, start.x + step * threadIdx.x, start.y + step * threadIdx.y);
}
__global__ void sample_uchar4(cudaTextureObject_t t, uchar4* out) { out[threadIdx.x] = tex2D<uchar4>(t, threadIdx.x + 0.5f, 1.5f); }
__global__ void sample_float4(cudaTextureObject_t t, float4* out) { out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 1.5f); }
__global__ void sample_short2(cudaTextureObject_t t, float2* out) { out[threadIdx.x] = tex2D<float2>(t, threadIdx.x + 0.5f, 0.5f); }
__global__ void sample_3d(cudaTextureObject_t t, float at, float* out) { out[threadIdx.x] = tex3D<float>(t, at + threadIdx.x % 2, at + threadIdx.x / 2 % 2, at + threadIdx.x / 4); }
__global__ void sample_layers(cudaTextureObject_t one, cudaTextureObject_t two, float* out) {
  int layer = threadIdx.x;
  out[2 * layer] = tex1DLayered<float>(one, 1.5f, layer);
  out[2 * layer + 1] = tex2DLayered<float>(two, 1.5f, 0.5f, layer);
}
__global__ void sample_cube(cudaTextureObject_t cube, cudaTextureObject_t cubes, const float3* to, float* out) {
  float3 d = to[threadIdx.x];
  out[2 * threadIdx.x] = texCubemap<float>(cube, d.x, d.y, d.z);
  out[2 * threadIdx.x + 1] = texCubemapLayered<float>(cubes, d.x, d.y, d.z, 1);
}
__global__ void gather(cudaTextureObject_t t, float4* out) {
  out[0] = tex2Dgather<float4>(t, 2.0f, 2.0f, 0);
  out[1] = tex2Dgather<float4>(t, 1.0f, 3.0f, 0);
}
__global__ void levels(cudaTextureObject_t t, float* out) {
  for (int i = 0; i < 7; ++i) out[i] = tex2DLod<float>(t, 0.5f, 0.5f, 0.5f * i);
  out[7] = tex2D<float>(t, 0.5f, 0.5f);
  out[8] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(0.25f, 0), make_float2(0, 0.25f));
}

void show(const char* name, const std::vector<float>& values) {
  std::printf("%-18s", name);
  for (float v : values) std::printf(" %g", v);
  std::printf("\n");
}

void linear_memory() {
  std::vector<int> values(1000);
  for (int i = 0; i < 1000; ++i) values[i] = i * 3 - 100;
  Buffer<int> data(values), out(32);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 1000 * sizeof(int);
  cudaTextureDesc how{};
  cudaTextureObject_t object;
  CUDA_OK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  fetch_1d<<<1, 32>>>(object, 984, out); // 16 inside, 16 outside: those are zero
  SYNC_OK();
  auto got = out.get();
  std::printf("linear             %d %d | %d %d\n", got[0], got[15], got[16], got[31]);
  cudaResourceDesc told;
  CUDA_OK(cudaGetTextureObjectResourceDesc(&told, object));
  EXPECT(told.res.linear.devPtr == data.data());
  CUDA_OK(cudaDestroyTextureObject(object));

  // Pitched memory, read as fractions.
  unsigned char rows[3][5];
  for (int i = 0; i < 15; ++i) rows[i / 5][i % 5] = static_cast<unsigned char>(i * 17);
  unsigned char* pitched;
  size_t pitch;
  CUDA_OK(cudaMallocPitch(&pitched, &pitch, 5, 3));
  CUDA_OK(cudaMemcpy2D(pitched, pitch, rows, 5, 5, 3, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = pitched;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  resource.res.pitch2D.width = 5;
  resource.res.pitch2D.height = 3;
  resource.res.pitch2D.pitchInBytes = pitch;
  how = texture(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
  CUDA_OK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  Buffer<float> image(15);
  sample_2d<<<1, dim3(5, 3)>>>(object, 1.0f, make_float2(0.5f, 0.5f), image);
  SYNC_OK();
  auto fractions = image.get();
  std::vector<float> back(15);
  for (int i = 0; i < 15; ++i) back[i] = fractions[i] * 15;
  for (float& f : back) f = std::round(f * 1000) / 1000;
  show("pitched", back);
  CUDA_OK(cudaDestroyTextureObject(object));
  CUDA_OK(cudaFree(pitched));
}

void address_modes() {
  cudaArray_t array = make_array<float>({0, 1, 2, 3}, make_cudaExtent(4, 0, 0));
  std::vector<float> inside, around;
  for (float x : {-5.5f, -4.5f, -1.5f, -0.5f, 0.5f, 1.5f, 3.5f, 4.5f, 5.5f, 8.5f, 9.5f}) inside.push_back(x), around.push_back(x / 4);
  int n = static_cast<int>(inside.size());
  Buffer<float> x(inside), normalised(around), out(n);
  struct { const char* name; cudaTextureAddressMode mode; bool norm; } cases[] = {
      {"clamp", cudaAddressModeClamp, false}, {"border", cudaAddressModeBorder, false}, {"wrap, texels", cudaAddressModeWrap, false},
      {"clamp, normalised", cudaAddressModeClamp, true}, {"border, normalised", cudaAddressModeBorder, true},
      {"wrap", cudaAddressModeWrap, true}, {"mirror", cudaAddressModeMirror, true}};
  for (auto& c : cases) {
    cudaTextureDesc how = texture(c.mode, cudaFilterModePoint, c.norm);
    how.borderColor[0] = 9;
    cudaTextureObject_t object = bind(array, how);
    sample_1d<<<1, n>>>(object, c.norm ? normalised : x, out);
    SYNC_OK();
    show(c.name, out.get());
    CUDA_OK(cudaDestroyTextureObject(object));
  }
  // Linear filter: halves and quarters of neighbours are exact.
  std::vector<float> between{0.0f, 0.5f, 0.75f, 1.0f, 1.25f, 3.5f, 3.75f, 4.0f, -1.0f, 6.0f};
  Buffer<float> y(between), filtered(10);
  for (auto mode : {cudaAddressModeClamp, cudaAddressModeBorder}) {
    cudaTextureObject_t object = bind(array, texture(mode, cudaFilterModeLinear));
    sample_1d<<<1, 10>>>(object, y, filtered);
    SYNC_OK();
    show("linear", filtered.get());
    CUDA_OK(cudaDestroyTextureObject(object));
  }
  for (float& v : between) v /= 4;
  y.put(between);
  for (auto mode : {cudaAddressModeWrap, cudaAddressModeMirror}) {
    cudaTextureObject_t object = bind(array, texture(mode, cudaFilterModeLinear, true));
    sample_1d<<<1, 10>>>(object, y, filtered);
    SYNC_OK();
    show("linear, normalised", filtered.get());
    CUDA_OK(cudaDestroyTextureObject(object));
  }
  CUDA_OK(cudaFreeArray(array));
}

void images() {
  std::vector<float> values(16);
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(i);
  cudaArray_t array = make_array(values, make_cudaExtent(4, 4, 0), cudaArrayTextureGather);
  cudaTextureObject_t object = bind(array, texture(cudaAddressModeClamp, cudaFilterModeLinear));
  Buffer<float> out(16);
  sample_2d<<<1, dim3(4, 4)>>>(object, 1.0f, make_float2(1.0f, 0.75f), out);
  SYNC_OK();
  show("bilinear", out.get());
  Buffer<float4> four(4);
  gather<<<1, 1>>>(object, four);
  SYNC_OK();
  for (int i = 0; i < 2; ++i) { float4 g = four.get()[i]; show("gather", {g.x, g.y, g.z, g.w}); }
  CUDA_OK(cudaDestroyTextureObject(object));
  CUDA_OK(cudaFreeArray(array));

  std::vector<uchar4> colours(8);
  for (int i = 0; i < 8; ++i) colours[i] = make_uchar4(i, 10 * i, 255 - i, 51 * (i % 6));
  array = make_array(colours, make_cudaExtent(4, 2, 0));
  object = bind(array, texture(cudaAddressModeClamp));
  Buffer<uchar4> raw(4);
  sample_uchar4<<<1, 4>>>(object, raw);
  SYNC_OK();
  for (uchar4 c : raw.get()) std::printf("uchar4             %d %d %d %d\n", c.x, c.y, c.z, c.w);
  CUDA_OK(cudaDestroyTextureObject(object));
  object = bind(array, texture(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat));
  sample_float4<<<1, 4>>>(object, four);
  SYNC_OK();
  for (float4 c : four.get()) std::printf("normalised         %.6f %.6f %.6f %.6f\n", c.x, c.y, c.z, c.w);
  CUDA_OK(cudaDestroyTextureObject(object));
  CUDA_OK(cudaFreeArray(array));

  array = make_array<short2>({make_short2(-32768, 32767), make_short2(-32767, 0), make_short2(16384, -1)}, make_cudaExtent(3, 1, 0));
  object = bind(array, texture(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat));
  Buffer<float2> pairs(3);
  sample_short2<<<1, 3>>>(object, pairs);
  SYNC_OK();
  for (float2 p : pairs.get()) std::printf("short2             %.6f %.6f\n", p.x, p.y);
  CUDA_OK(cudaDestroyTextureObject(object));
  CUDA_OK(cudaFreeArray(array));
}

void volumes() {
  std::vector<float> values(8);
  for (int i = 0; i < 8; ++i) values[i] = static_cast<float>(1 << i);
  cudaArray_t array = make_array(values, make_cudaExtent(2, 2, 2));
  Buffer<float> out(8);
  cudaTextureObject_t point = bind(array, texture(cudaAddressModeClamp));
  sample_3d<<<1, 8>>>(point, 0.5f, out);
  SYNC_OK();
  show("3d", out.get());
  cudaTextureObject_t filtered = bind(array, texture(cudaAddressModeBorder, cudaFilterModeLinear));
  sample_3d<<<1, 8>>>(filtered, 1.0f, out);
  SYNC_OK();
  show("trilinear", out.get());
  CUDA_OK(cudaDestroyTextureObject(point));
  CUDA_OK(cudaDestroyTextureObject(filtered));
  CUDA_OK(cudaFreeArray(array));

  std::vector<float> layers(24);
  for (int i = 0; i < 24; ++i) layers[i] = static_cast<float>(i);
  cudaArray_t one = make_array(layers, make_cudaExtent(8, 0, 3), cudaArrayLayered);
  cudaArray_t two = make_array(layers, make_cudaExtent(4, 2, 3), cudaArrayLayered);
  cudaTextureObject_t t1 = bind(one, texture(cudaAddressModeClamp)), t2 = bind(two, texture(cudaAddressModeClamp));
  sample_layers<<<1, 3>>>(t1, t2, out);
  SYNC_OK();
  auto got = out.get();
  got.resize(6);
  show("layered", got);

  // Each texel of a cubemap says its face, row and column.
  std::vector<float> faces(6 * 4 * 2);
  for (int i = 0; i < 48; ++i) faces[i] = static_cast<float>(i / 24 * 1000 + i / 4 % 6 * 100 + i / 2 % 2 * 10 + i % 2);
  std::vector<float> first(faces.begin(), faces.begin() + 24);
  cudaArray_t cube = make_array(first, make_cudaExtent(2, 2, 6), cudaArrayCubemap);
  cudaArray_t cubes = make_array(faces, make_cudaExtent(2, 2, 12), cudaArrayCubemap | cudaArrayLayered);
  cudaTextureObject_t t3 = bind(cube, texture(cudaAddressModeClamp, cudaFilterModePoint, true));
  cudaTextureObject_t t4 = bind(cubes, texture(cudaAddressModeClamp, cudaFilterModePoint, true));
  std::vector<float3> to;
  for (int axis = 0; axis < 3; ++axis)
    for (int sign : {1, -1})
      for (int corner = 0; corner < 4; ++corner) {
        float v[3] = {corner & 1 ? 0.25f : -0.25f, corner & 2 ? 0.25f : -0.25f, 0};
        float d[3];
        d[axis] = static_cast<float>(sign);
        d[(axis + 1) % 3] = v[0];
        d[(axis + 2) % 3] = v[1];
        to.push_back(make_float3(d[0], d[1], d[2]));
      }
  Buffer<float3> directions(to);
  Buffer<float> seen(2 * to.size());
  sample_cube<<<1, static_cast<unsigned>(to.size())>>>(t3, t4, directions, seen);
  SYNC_OK();
  show("cubemaps", seen.get());
  for (auto t : {t1, t2, t3, t4}) CUDA_OK(cudaDestroyTextureObject(t));
  for (auto a : {one, two, cube, cubes}) CUDA_OK(cudaFreeArray(a));
}

void mipmaps() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t pyramid;
  CUDA_OK(cudaMallocMipmappedArray(&pyramid, &format, make_cudaExtent(8, 8, 0), 4));
  for (int level = 0; level < 4; ++level) {
    cudaArray_t array;
    CUDA_OK(cudaGetMipmappedArrayLevel(&array, pyramid, level));
    cudaExtent extent;
    CUDA_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
    EXPECT(extent.width == 8u >> level && extent.height == 8u >> level && extent.depth == 0);
    std::vector<float> texels(extent.width * extent.height, static_cast<float>(10 * level));
    CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), extent.width * 4, extent.width * 4, extent.height, cudaMemcpyHostToDevice));
  }
  Buffer<float> out(9);
  for (auto between : {cudaFilterModePoint, cudaFilterModeLinear}) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = pyramid;
    cudaTextureDesc how = texture(cudaAddressModeClamp, cudaFilterModeLinear, true);
    how.mipmapFilterMode = between;
    how.maxMipmapLevelClamp = 3;
    cudaTextureObject_t object;
    CUDA_OK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
    levels<<<1, 1>>>(object, out);
    SYNC_OK();
    auto got = out.get();
    if (between == cudaFilterModePoint) for (int i : {1, 3, 5}) got[i] = 0; // ties between levels
    show("levels", got);
    CUDA_OK(cudaDestroyTextureObject(object));
  }
  CUDA_OK(cudaFreeMipmappedArray(pyramid));
}

int main() {
  linear_memory();
  address_modes();
  images();
  volumes();
  mipmaps();
}
