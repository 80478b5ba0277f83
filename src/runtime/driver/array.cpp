// The driver API: arrays, texture and surface objects, in the runtime's terms.
#include "runtime/arrays/array.h"

#include "runtime/driver/driver.h"

#include <algorithm>
#include <cstring>

using namespace heddle::runtime;

namespace {

cudaArray_t array_of(CUarray array) {
  return reinterpret_cast<cudaArray_t>(array);
}
cudaMipmappedArray_t array_of(CUmipmappedArray array) {
  return reinterpret_cast<cudaMipmappedArray_t>(array);
}

struct Format {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

/// All zero for a format that the runtime's arrays do not have.
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels) {
  const auto* it = std::ranges::find(formats, format, &Format::format);
  if (it == std::end(formats) || channels == 0 || channels > 4) {
    return {};
  }
  const auto bits = [&](unsigned channel) { return channel < channels ? it->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), it->kind};
}

CUarray_format format_of(const cudaChannelFormatDesc& channels) {
  for (const Format& f : formats) {
    if (f.bits == channels.x && f.kind == channels.f) {
      return f.format;
    }
  }
  return CU_AD_FORMAT_UNSIGNED_INT8;
}

unsigned count_of(const cudaChannelFormatDesc& c) {
  return 1U + (c.y != 0 ? 1 : 0) + (c.z != 0 ? 1 : 0) + (c.w != 0 ? 1 : 0);
}

cudaError_t create(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* p) {
  if (array == nullptr || p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const cudaChannelFormatDesc channels = channels_of(p->Format, p->NumChannels);
  return cudaMalloc3DArray(
      reinterpret_cast<cudaArray_t*>(array),
      &channels,
      cudaExtent{p->Width, p->Height, p->Depth},
      p->Flags
  );
}

cudaError_t create(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* p) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const CUDA_ARRAY3D_DESCRIPTOR same{p->Width, p->Height, 0, p->Format, p->NumChannels, 0};
  return create(array, &same);
}

cudaError_t create(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* p, unsigned levels) {
  if (array == nullptr || p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const cudaChannelFormatDesc channels = channels_of(p->Format, p->NumChannels);
  return cudaMallocMipmappedArray(
      reinterpret_cast<cudaMipmappedArray_t*>(array),
      &channels,
      cudaExtent{p->Width, p->Height, p->Depth},
      levels,
      p->Flags
  );
}

cudaError_t describe(CUDA_ARRAY3D_DESCRIPTOR* p, CUarray array) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  cudaChannelFormatDesc channels;
  cudaExtent extent;
  unsigned flags = 0;
  const cudaError_t error = cudaArrayGetInfo(&channels, &extent, &flags, array_of(array));
  if (error == cudaSuccess) {
    *p =
        {extent.width, extent.height, extent.depth, format_of(channels), count_of(channels), flags};
  }
  return error;
}

cudaError_t describe(CUDA_ARRAY_DESCRIPTOR* p, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR all;
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = describe(&all, array);
  if (error == cudaSuccess) {
    *p = {all.Width, all.Height, all.Format, all.NumChannels};
  }
  return error;
}

cudaError_t resource_of(const CUDA_RESOURCE_DESC& p, cudaResourceDesc& result) {
  result = {};
  switch (p.resType) {
  case CU_RESOURCE_TYPE_ARRAY:
    result.resType = cudaResourceTypeArray;
    result.res.array.array = array_of(p.res.array.hArray);
    return cudaSuccess;
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
    result.resType = cudaResourceTypeMipmappedArray;
    result.res.mipmap.mipmap = array_of(p.res.mipmap.hMipmappedArray);
    return cudaSuccess;
  case CU_RESOURCE_TYPE_LINEAR:
    result.resType = cudaResourceTypeLinear;
    result.res.linear.devPtr = pointer(p.res.linear.devPtr);
    result.res.linear.desc = channels_of(p.res.linear.format, p.res.linear.numChannels);
    result.res.linear.sizeInBytes = p.res.linear.sizeInBytes;
    return cudaSuccess;
  case CU_RESOURCE_TYPE_PITCH2D:
    result.resType = cudaResourceTypePitch2D;
    result.res.pitch2D.devPtr = pointer(p.res.pitch2D.devPtr);
    result.res.pitch2D.desc = channels_of(p.res.pitch2D.format, p.res.pitch2D.numChannels);
    result.res.pitch2D.width = p.res.pitch2D.width;
    result.res.pitch2D.height = p.res.pitch2D.height;
    result.res.pitch2D.pitchInBytes = p.res.pitch2D.pitchInBytes;
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

/// The format of the texels that a resource holds.
cudaChannelFormatDesc texels_of(Runtime& rt, const cudaResourceDesc& p) {
  switch (p.resType) {
  case cudaResourceTypeArray:
    if (const auto array = rt.arrays().find(p.res.array.array)) {
      return array->channels;
    }
    return {};
  case cudaResourceTypeMipmappedArray:
    if (const auto array = rt.arrays().find(p.res.mipmap.mipmap)) {
      return array->levels.front().channels;
    }
    return {};
  case cudaResourceTypeLinear:
    return p.res.linear.desc;
  case cudaResourceTypePitch2D:
    return p.res.pitch2D.desc;
  }
  return {};
}

/// The driver reads integers of 8 and 16 bits as fractions unless it is told not to.
cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& p, const cudaChannelFormatDesc& texels) {
  cudaTextureDesc result{};
  for (int i = 0; i < 3; ++i) {
    result.addressMode[i] = static_cast<cudaTextureAddressMode>(p.addressMode[i]);
  }
  result.filterMode = static_cast<cudaTextureFilterMode>(p.filterMode);
  const bool fractions = (p.flags & CU_TRSF_READ_AS_INTEGER) == 0 &&
                         texels.f != cudaChannelFormatKindFloat && texels.x < 32;
  result.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  result.sRGB = (p.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  std::copy_n(p.borderColor, 4, result.borderColor);
  result.normalizedCoords = (p.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  result.maxAnisotropy = p.maxAnisotropy;
  result.mipmapFilterMode = static_cast<cudaTextureFilterMode>(p.mipmapFilterMode);
  result.mipmapLevelBias = p.mipmapLevelBias;
  result.minMipmapLevelClamp = p.minMipmapLevelClamp;
  result.maxMipmapLevelClamp = p.maxMipmapLevelClamp;
  result.disableTrilinearOptimization =
      (p.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0 ? 1 : 0;
  result.seamlessCubemap = (p.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
  return result;
}

cudaResourceViewDesc view_of(const CUDA_RESOURCE_VIEW_DESC& p) {
  cudaResourceViewDesc result{};
  result.format = static_cast<cudaResourceViewFormat>(p.format);
  result.width = p.width;
  result.height = p.height;
  result.depth = p.depth;
  result.firstMipmapLevel = p.firstMipmapLevel;
  result.lastMipmapLevel = p.lastMipmapLevel;
  result.firstLayer = p.firstLayer;
  result.lastLayer = p.lastLayer;
  return result;
}

cudaError_t make_texture(
    CUtexObject* result,
    const CUDA_RESOURCE_DESC* resource,
    const CUDA_TEXTURE_DESC* texture,
    const CUDA_RESOURCE_VIEW_DESC* view
) {
  if (resource == nullptr || texture == nullptr) {
    return cudaErrorInvalidValue;
  }
  cudaResourceDesc same;
  if (const cudaError_t error = resource_of(*resource, same); error != cudaSuccess) {
    return error;
  }
  const cudaTextureDesc how = texture_of(*texture, texels_of(Runtime::get(), same));
  const cudaResourceViewDesc part = view != nullptr ? view_of(*view) : cudaResourceViewDesc{};
  return cudaCreateTextureObject(result, &same, &how, view != nullptr ? &part : nullptr);
}

cudaError_t
linear_width(std::size_t* width, CUarray_format format, unsigned channels, CUdevice device) {
  const cudaChannelFormatDesc texel = channels_of(format, channels);
  return cudaDeviceGetTexture1DLinearMaxWidth(width, &texel, device);
}

cudaArraySparseProperties* same(CUDA_ARRAY_SPARSE_PROPERTIES* p) {
  return reinterpret_cast<cudaArraySparseProperties*>(p);
}
cudaArrayMemoryRequirements* same(CUDA_ARRAY_MEMORY_REQUIREMENTS* p) {
  return reinterpret_cast<cudaArrayMemoryRequirements*>(p);
}

cudaError_t make_surface(CUsurfObject* result, const CUDA_RESOURCE_DESC* resource) {
  if (resource == nullptr) {
    return cudaErrorInvalidValue;
  }
  cudaResourceDesc same;
  const cudaError_t error = resource_of(*resource, same);
  return error != cudaSuccess ? error : cudaCreateSurfaceObject(result, &same);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER(cuArrayCreate_v2, create(array, p), CUarray* array, const CUDA_ARRAY_DESCRIPTOR* p)
HEDDLE_DRIVER(cuArray3DCreate_v2, create(array, p), CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* p)
HEDDLE_DRIVER(cuArrayGetDescriptor_v2, describe(p, array), CUDA_ARRAY_DESCRIPTOR* p, CUarray array)
HEDDLE_DRIVER(cuArray3DGetDescriptor_v2, describe(p, array), CUDA_ARRAY3D_DESCRIPTOR* p, CUarray array)
HEDDLE_DRIVER(cuArrayDestroy, cudaFreeArray(array_of(array)), CUarray array)
HEDDLE_DRIVER(cuMipmappedArrayCreate, create(array, p, levels),
    CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* p, unsigned levels)
HEDDLE_DRIVER(cuMipmappedArrayGetLevel,
    cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(level), array_of(array), number),
    CUarray* level, CUmipmappedArray array, unsigned number)
HEDDLE_DRIVER(cuMipmappedArrayDestroy, cudaFreeMipmappedArray(array_of(array)), CUmipmappedArray array)
HEDDLE_DRIVER(cuArrayGetSparseProperties, cudaArrayGetSparseProperties(same(p), array_of(array)),
    CUDA_ARRAY_SPARSE_PROPERTIES* p, CUarray array)
HEDDLE_DRIVER(cuMipmappedArrayGetSparseProperties, cudaMipmappedArrayGetSparseProperties(same(p), array_of(array)),
    CUDA_ARRAY_SPARSE_PROPERTIES* p, CUmipmappedArray array)
HEDDLE_DRIVER(cuArrayGetMemoryRequirements, cudaArrayGetMemoryRequirements(same(p), array_of(array), device),
    CUDA_ARRAY_MEMORY_REQUIREMENTS* p, CUarray array, CUdevice device)
HEDDLE_DRIVER(cuMipmappedArrayGetMemoryRequirements,
    cudaMipmappedArrayGetMemoryRequirements(same(p), array_of(array), device),
    CUDA_ARRAY_MEMORY_REQUIREMENTS* p, CUmipmappedArray array, CUdevice device)
HEDDLE_DRIVER(cuArrayGetPlane, cudaArrayGetPlane(reinterpret_cast<cudaArray_t*>(plane), array_of(array), number),
    CUarray* plane, CUarray array, unsigned number)
HEDDLE_DRIVER(cuDeviceGetTexture1DLinearMaxWidth, linear_width(width, format, channels, device),
    std::size_t* width, CUarray_format format, unsigned channels, CUdevice device)
HEDDLE_DRIVER(cuTexObjectCreate, make_texture(texture, resource, how, view),
    CUtexObject* texture, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* how,
    const CUDA_RESOURCE_VIEW_DESC* view)
HEDDLE_DRIVER(cuTexObjectDestroy, cudaDestroyTextureObject(texture), CUtexObject texture)
HEDDLE_DRIVER(cuSurfObjectCreate, make_surface(surface, resource),
    CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource)
HEDDLE_DRIVER(cuSurfObjectDestroy, cudaDestroySurfaceObject(surface), CUsurfObject surface)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
