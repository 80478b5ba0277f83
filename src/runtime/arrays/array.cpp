// Implements array.h. What is accepted follows the CUDA Runtime API reference of cudaMalloc3DArray,
// cudaMallocMipmappedArray and cudaCreateTextureObject; the maximum extents are not checked beyond
// the size of memory (so an array that hardware refuses as too wide may be accepted).
#include "runtime/arrays/array.h"

#include "base/check.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/runtime.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t texture_alignment = 512; // cudaDevAttrTextureAlignment
constexpr std::uint64_t pitch_alignment = 32;    // cudaDevAttrTexturePitchAlignment
constexpr unsigned known_flags = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                                 cudaArrayTextureGather | cudaArrayColorAttachment;

int channel_count(const cudaChannelFormatDesc& c) {
  const bool one = c.x > 0 && c.y == 0 && c.z == 0 && c.w == 0;
  const bool two = c.x > 0 && c.y == c.x && c.z == 0 && c.w == 0;
  const bool four = c.x > 0 && c.y == c.x && c.z == c.x && c.w == c.x;
  return one ? 1 : two ? 2 : four ? 4 : 0;
}

/// Whether the extent and flags describe an array; CUDA's rules of cudaMalloc3DArray.
bool valid_extent(const cudaExtent& e, unsigned flags) {
  const bool layered = (flags & cudaArrayLayered) != 0;
  if (e.width == 0) {
    return false;
  }
  if ((flags & cudaArrayCubemap) != 0) {
    return e.height == e.width && (layered ? e.depth != 0 && e.depth % 6 == 0 : e.depth == 6);
  }
  if (layered) {
    return e.depth != 0;
  }
  return e.depth == 0 || e.height != 0;
}

cudaError_t
check_array(const cudaChannelFormatDesc& channels, const cudaExtent& extent, unsigned flags) {
  if (channels.f > cudaChannelFormatKindNone) {
    complain_unsupported("an array with a planar, normalised or compressed channel format");
    return cudaErrorNotSupported;
  }
  if ((flags & (cudaArraySparse | cudaArrayDeferredMapping)) != 0) {
    complain_unsupported("a sparse array, or one whose memory is mapped later");
    return cudaErrorNotSupported;
  }
  if (texel_bytes(channels) == 0) {
    return cudaErrorInvalidChannelDescriptor;
  }
  return (flags & ~known_flags) != 0 || !valid_extent(extent, flags) ? cudaErrorInvalidValue
                                                                     : cudaSuccess;
}

/// Level n of an array: every dimension halved n times, layers and faces kept.
cudaExtent extent_of_level(const cudaExtent& e, unsigned flags, unsigned level) {
  const auto half = [level](std::size_t n) {
    return n == 0 ? 0 : std::max<std::size_t>(1, n >> level);
  };
  const bool slices = (flags & (cudaArrayLayered | cudaArrayCubemap)) == 0;
  return cudaExtent{half(e.width), half(e.height), slices ? half(e.depth) : e.depth};
}

void describe_texels(const cudaChannelFormatDesc& channels, isa::TextureDescriptor& t) {
  t.channels = static_cast<std::uint8_t>(channel_count(channels));
  t.channel_bytes = static_cast<std::uint8_t>(channels.x / 8);
  t.kind = channels.f == cudaChannelFormatKindFloat    ? isa::ChannelKind::Float
           : channels.f == cudaChannelFormatKindSigned ? isa::ChannelKind::Signed
                                                       : isa::ChannelKind::Unsigned;
}

void describe_array(const Array& array, isa::TextureDescriptor& t) {
  describe_texels(array.channels, t);
  t.data = array.data;
  t.pitch = array.pitch();
  t.width = static_cast<std::uint32_t>(array.extent.width);
  t.height = static_cast<std::uint32_t>(array.rows());
  t.layered = (array.flags & cudaArrayLayered) != 0;
  t.cubemap = (array.flags & cudaArrayCubemap) != 0;
  if (t.layered || t.cubemap) {
    t.layers = static_cast<std::uint32_t>(array.slices());
    t.dimensions = array.extent.height == 0 ? 1 : 2;
  } else {
    t.depth = static_cast<std::uint32_t>(array.slices());
    t.dimensions = array.extent.depth != 0 ? 3 : array.extent.height != 0 ? 2 : 1;
  }
}

/// Checks how a texture is to be read and fills that in.
cudaError_t describe_sampling(const cudaTextureDesc& d, isa::TextureDescriptor& t) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (d.addressMode[axis] < cudaAddressModeWrap || d.addressMode[axis] > cudaAddressModeBorder) {
      return cudaErrorInvalidValue;
    }
    t.address_mode[axis] = static_cast<isa::AddressMode>(d.addressMode[axis]);
  }
  t.normalised_reads =
      d.readMode == cudaReadModeNormalizedFloat && t.kind != isa::ChannelKind::Float;
  if (t.normalised_reads && t.channel_bytes == 4) {
    return cudaErrorInvalidNormSetting;
  }
  t.linear_filter = d.filterMode == cudaFilterModeLinear && !t.linear_memory;
  if (d.filterMode == cudaFilterModeLinear && !t.reads_floats()) {
    return cudaErrorInvalidFilterSetting;
  }
  if (d.seamlessCubemap != 0 && t.cubemap && t.linear_filter) {
    complain_unsupported("seamless filtering of cubemaps");
    return cudaErrorNotSupported;
  }
  t.linear_levels = d.mipmapFilterMode == cudaFilterModeLinear;
  t.normalised_coordinates = d.normalizedCoords != 0 || t.cubemap;
  t.srgb = d.sRGB != 0 && t.channel_bytes == 1;
  std::copy_n(d.borderColor, 4, t.border.begin());
  t.level_bias = d.mipmapLevelBias;
  t.min_level = d.minMipmapLevelClamp;
  t.max_level = d.maxMipmapLevelClamp;
  return cudaSuccess;
}

/// Reads the texels as another format of the same size.
cudaError_t describe_view(const cudaResourceViewDesc& view, isa::TextureDescriptor& t) {
  if (view.format == cudaResViewFormatNone) {
    return cudaSuccess;
  }
  const auto number = static_cast<int>(view.format) - 1;
  constexpr struct {
    std::uint8_t bytes;
    isa::ChannelKind kind;
  } formats[] = {
      {1, isa::ChannelKind::Unsigned},
      {1, isa::ChannelKind::Signed},
      {2, isa::ChannelKind::Unsigned},
      {2, isa::ChannelKind::Signed},
      {4, isa::ChannelKind::Unsigned},
      {4, isa::ChannelKind::Signed},
      {2, isa::ChannelKind::Float},
      {4, isa::ChannelKind::Float},
  };
  constexpr std::uint8_t channels[] = {1, 2, 4};
  const bool whole = view.firstMipmapLevel == 0 && view.firstLayer == 0 &&
                     (view.lastMipmapLevel == 0 || view.lastMipmapLevel + 1 == t.levels) &&
                     (view.lastLayer == 0 || view.lastLayer + 1 == t.layers) &&
                     view.width == t.width;
  if (number < 0 || number >= 24 || !whole) {
    complain_unsupported("a texture view of compressed texels or of a part of an array");
    return cudaErrorNotSupported;
  }
  const std::uint32_t bytes = t.texel_bytes();
  t.channel_bytes = formats[number / 3].bytes;
  t.kind = formats[number / 3].kind;
  t.channels = channels[number % 3];
  return t.texel_bytes() == bytes ? cudaSuccess : cudaErrorInvalidValue;
}

memory::Address address_of(const void* p) {
  return reinterpret_cast<memory::Address>(p);
}

} // namespace

std::uint32_t texel_bytes(const cudaChannelFormatDesc& c) {
  const int channels = channel_count(c);
  const bool whole = c.f == cudaChannelFormatKindSigned || c.f == cudaChannelFormatKindUnsigned;
  const bool good = (whole && c.x == 8) ||
                    ((whole || c.f == cudaChannelFormatKindFloat) && (c.x == 16 || c.x == 32));
  return good ? static_cast<std::uint32_t>(c.x / 8 * channels) : 0;
}

std::uint32_t Array::texel_bytes() const {
  return runtime::texel_bytes(channels);
}

// --- Arrays

tl::expected<Array, cudaError_t> Arrays::allocate(
    const cudaChannelFormatDesc& channels,
    const cudaExtent& extent,
    unsigned flags,
    int device,
    std::uint64_t limit
) {
  const auto made = allocate_mipmapped(channels, extent, 1, flags, device, limit);
  if (!made) {
    return tl::unexpected(made.error());
  }
  const std::lock_guard lock(mutex_);
  mipmapped_.erase(made->levels.front().data);
  return made->levels.front();
}

tl::expected<MipmappedArray, cudaError_t> Arrays::allocate_mipmapped(
    const cudaChannelFormatDesc& channels,
    const cudaExtent& extent,
    unsigned levels,
    unsigned flags,
    int device,
    std::uint64_t limit
) {
  if (const cudaError_t error = check_array(channels, extent, flags); error != cudaSuccess) {
    return tl::unexpected(error);
  }
  for (const std::size_t side : {extent.width, extent.height, extent.depth}) {
    if (side >= std::size_t{1} << 28) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
  }
  const bool slices = (flags & (cudaArrayLayered | cudaArrayCubemap)) == 0;
  const std::size_t longest = std::max({extent.width, extent.height, slices ? extent.depth : 0});
  const auto most = static_cast<unsigned>(std::bit_width(longest));
  levels = std::clamp(levels, 1U, std::min<unsigned>(most, isa::TextureDescriptor::max_levels));
  MipmappedArray made;
  std::uint64_t bytes = 0;
  for (unsigned level = 0; level < levels; ++level) {
    Array array;
    array.data = bytes; // for now an offset
    array.device = device;
    array.channels = channels;
    array.extent = extent_of_level(extent, flags, level);
    array.flags = flags;
    bytes += (array.bytes() + texture_alignment - 1) / texture_alignment * texture_alignment;
    made.levels.push_back(array);
  }
  const auto at = memory_.allocate_device(bytes, device, limit);
  if (!at) {
    return tl::unexpected(at.error());
  }
  const std::lock_guard lock(mutex_);
  for (Array& array : made.levels) {
    array.data += *at;
    arrays_[array.data] = array;
  }
  mipmapped_[*at] = made;
  return made;
}

std::optional<Array> Arrays::find(cudaArray_const_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = arrays_.find(address_of(handle));
  return it == arrays_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<MipmappedArray> Arrays::find(cudaMipmappedArray_const_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = mipmapped_.find(address_of(handle));
  return it == mipmapped_.end() ? std::nullopt : std::optional(it->second);
}

cudaError_t Arrays::release(cudaArray_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = arrays_.find(address_of(handle));
  if (it == arrays_.end() || !memory_.find(it->first) || mipmapped_.contains(it->first)) {
    return cudaErrorInvalidValue; // none, or a level
  }
  memory_.release(it->first);
  arrays_.erase(it);
  return cudaSuccess;
}

cudaError_t Arrays::release(cudaMipmappedArray_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = mipmapped_.find(address_of(handle));
  if (it == mipmapped_.end()) {
    return cudaErrorInvalidValue;
  }
  for (const Array& level : it->second.levels) {
    arrays_.erase(level.data);
  }
  memory_.release(it->first);
  mipmapped_.erase(it);
  return cudaSuccess;
}

// --- Objects

tl::expected<isa::TextureDescriptor, cudaError_t>
Arrays::describe_resource(const TextureObject& object) const {
  isa::TextureDescriptor t;
  const auto& resource = object.resource.res;
  switch (object.resource.resType) {
  case cudaResourceTypeArray: {
    const auto array = find(resource.array.array);
    if (!array) {
      return tl::unexpected(cudaErrorInvalidResourceHandle);
    }
    describe_array(*array, t);
    return t;
  }
  case cudaResourceTypeMipmappedArray: {
    const auto array = find(resource.mipmap.mipmap);
    if (!array) {
      return tl::unexpected(cudaErrorInvalidResourceHandle);
    }
    describe_array(array->levels.front(), t);
    t.levels = static_cast<std::uint32_t>(array->levels.size());
    for (std::size_t level = 0; level < array->levels.size(); ++level) {
      t.level_offset[level] = array->levels[level].data - t.data;
    }
    return t;
  }
  case cudaResourceTypeLinear: {
    const auto& linear = resource.linear;
    const std::uint32_t bytes = texel_bytes(linear.desc);
    if (bytes == 0) {
      return tl::unexpected(cudaErrorInvalidChannelDescriptor);
    }
    const std::uint64_t texels = linear.sizeInBytes / bytes;
    if (linear.devPtr == nullptr || texels == 0 || texels > std::uint64_t{1} << 28 ||
        address_of(linear.devPtr) % texture_alignment != 0) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    describe_texels(linear.desc, t);
    t.data = address_of(linear.devPtr);
    t.dimensions = 1;
    t.width = static_cast<std::uint32_t>(texels);
    t.pitch = linear.sizeInBytes;
    t.linear_memory = true;
    return t;
  }
  case cudaResourceTypePitch2D: {
    const auto& pitched = resource.pitch2D;
    const std::uint32_t bytes = texel_bytes(pitched.desc);
    if (bytes == 0) {
      return tl::unexpected(cudaErrorInvalidChannelDescriptor);
    }
    if (pitched.devPtr == nullptr || pitched.width == 0 || pitched.height == 0 ||
        pitched.pitchInBytes < pitched.width * bytes ||
        pitched.pitchInBytes % pitch_alignment != 0 ||
        address_of(pitched.devPtr) % texture_alignment != 0) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    describe_texels(pitched.desc, t);
    t.data = address_of(pitched.devPtr);
    t.width = static_cast<std::uint32_t>(pitched.width);
    t.height = static_cast<std::uint32_t>(pitched.height);
    t.pitch = pitched.pitchInBytes;
    return t;
  }
  default:
    return tl::unexpected(cudaErrorInvalidValue);
  }
}

tl::expected<isa::TextureDescriptor, cudaError_t>
Arrays::describe(const TextureObject& object) const {
  auto t = describe_resource(object);
  if (!t) {
    return t;
  }
  t->tag =
      object.surface ? isa::TextureDescriptor::surface_tag : isa::TextureDescriptor::texture_tag;
  cudaError_t error = cudaSuccess;
  if (object.view) {
    error = describe_view(*object.view, *t);
  }
  if (error == cudaSuccess && !object.surface) {
    error = describe_sampling(object.texture, *t);
  }
  if (error != cudaSuccess) {
    return tl::unexpected(error);
  }
  return t;
}

tl::expected<memory::Address, cudaError_t> Arrays::add(const TextureObject& object) {
  const auto descriptor = describe(object);
  if (!descriptor) {
    return tl::unexpected(descriptor.error());
  }
  constexpr std::uint64_t bytes = isa::TextureDescriptor::allocation_bytes;
  const auto at = space_.allocate(
      bytes,
      bytes,
      memory::AllocationKind::Constant,
      object.device,
      object.surface ? "a surface object" : "a texture object"
  );
  if (!at) {
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  void* p = space_.host_pointer(*at, bytes);
  HEDDLE_CHECK(p != nullptr, "a descriptor is not where it was placed");
  std::memcpy(p, &*descriptor, sizeof *descriptor);
  const std::lock_guard lock(mutex_);
  objects_[*at] = object;
  return *at;
}

std::optional<TextureObject> Arrays::find_object(memory::Address handle, bool surface) const {
  const std::lock_guard lock(mutex_);
  const auto it = objects_.find(handle);
  return it == objects_.end() || it->second.surface != surface ? std::nullopt
                                                               : std::optional(it->second);
}

std::size_t Arrays::created_objects() const {
  const std::lock_guard lock(mutex_);
  return objects_.size();
}

cudaError_t Arrays::remove(memory::Address handle, bool surface) {
  const std::lock_guard lock(mutex_);
  const auto it = objects_.find(handle);
  if (it == objects_.end() || it->second.surface != surface) {
    return cudaErrorInvalidValue;
  }
  static_cast<void>(space_.release(handle));
  objects_.erase(it);
  return cudaSuccess;
}

void Arrays::release_device(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(arrays_, [&](const auto& entry) { return entry.second.device == device; });
  std::erase_if(mipmapped_, [&](const auto& entry) {
    return entry.second.levels.front().device == device;
  });
  std::erase_if(objects_, [&](const auto& entry) {
    if (entry.second.device != device) {
      return false;
    }
    static_cast<void>(space_.release(entry.first));
    return true;
  });
}

// --- Copies

namespace {

/// One end of a cudaMemcpy3D.
struct End {
  memory::Address at = 0;
  std::uint64_t pitch = 0, slice = 0;
  std::uint32_t texel_bytes = 0; // 0: not an array
};

tl::expected<End, cudaError_t> end_of(
    Runtime& rt,
    cudaArray_const_t handle,
    const cudaPitchedPtr& p,
    const cudaPos& pos,
    const cudaExtent& e
) {
  if ((handle != nullptr) == (p.ptr != nullptr)) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  if (handle == nullptr) {
    const std::uint64_t slice = p.pitch * p.ysize;
    return End{address_of(p.ptr) + pos.z * slice + pos.y * p.pitch + pos.x, p.pitch, slice, 0};
  }
  const auto array = rt.arrays().find(handle);
  if (!array) {
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  const auto fits = [](std::size_t from, std::size_t n, std::uint64_t size) {
    return from <= size && n <= size - from;
  };
  if (!fits(pos.x, e.width, array->extent.width) || !fits(pos.y, e.height, array->rows()) ||
      !fits(pos.z, e.depth, array->slices())) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  const std::uint64_t slice = array->pitch() * array->rows();
  return End{
      array->data + pos.z * slice + pos.y * array->pitch() + pos.x * array->texel_bytes(),
      array->pitch(),
      slice,
      array->texel_bytes()
  };
}

} // namespace

tl::expected<Copy, cudaError_t> copy_of(Runtime& rt, const cudaMemcpy3DParms& p) {
  auto from = end_of(rt, p.srcArray, p.srcPtr, p.srcPos, p.extent);
  auto to = end_of(rt, p.dstArray, p.dstPtr, p.dstPos, p.extent);
  if (!from || !to) {
    return tl::unexpected(!from ? from.error() : to.error());
  }
  // The manual counts positions in memory in bytes; where an array takes part the runtime counts
  // them in the array's elements (seen on an H200, driver 580.159).
  if (to->texel_bytes > 1 && from->texel_bytes == 0) {
    from->at += p.srcPos.x * (to->texel_bytes - 1);
  }
  if (from->texel_bytes > 1 && to->texel_bytes == 0) {
    to->at += p.dstPos.x * (from->texel_bytes - 1);
  }
  if (from->texel_bytes != 0 && to->texel_bytes != 0 && from->texel_bytes != to->texel_bytes) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  Copy copy;
  copy.to = to->at;
  copy.from = from->at;
  copy.width = p.extent.width * std::max({from->texel_bytes, to->texel_bytes, 1U});
  copy.height = p.extent.height;
  copy.depth = p.extent.depth;
  copy.to_pitch = to->pitch;
  copy.to_slice = to->slice;
  copy.from_pitch = from->pitch;
  copy.from_slice = from->slice;
  // A pitch may only be left out where it is not used.
  if ((copy.height > 1 || copy.depth > 1) &&
      (copy.from_pitch < copy.width || copy.to_pitch < copy.width)) {
    return tl::unexpected(cudaErrorInvalidPitchValue);
  }
  return copy;
}

} // namespace heddle::runtime
