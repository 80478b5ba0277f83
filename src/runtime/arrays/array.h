// Arrays, mipmapped arrays, and the texture and surface objects on them and on linear memory.
//
// An array's texels lie in device memory row after row without gaps (hardware tiles them; no
// program can tell). The handle of an array is the address of its texels, that of an object the
// address of its descriptor (isa/texture.h): both are device addresses, so they are never used
// again, the host faults when it dereferences one, and a kernel that uses a destroyed object or a
// freed array is told so.
#pragma once

#include "isa/texture.h"
#include "memory/address_space.h"
#include "runtime/cudart.h"
#include "runtime/memory/memory_table.h"
#include "runtime/streams/operation.h"

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace heddle::runtime {

/// An array, or one level of a mipmapped one.
struct Array {
  memory::Address data = 0;
  int device = 0;
  cudaChannelFormatDesc channels{};
  cudaExtent
      extent{}; // as given: 0 where there is no such dimension; depth counts layers and faces
  unsigned flags = 0;

  cudaArray_t handle() const { return reinterpret_cast<cudaArray_t>(data); }
  std::uint32_t texel_bytes() const;
  std::uint64_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::uint64_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::uint64_t pitch() const { return extent.width * texel_bytes(); }
  std::uint64_t bytes() const { return pitch() * rows() * slices(); }
};

struct MipmappedArray {
  std::vector<Array> levels; // in one allocation, the first level first
  cudaMipmappedArray_t handle() const {
    return reinterpret_cast<cudaMipmappedArray_t>(levels.front().data);
  }
};

/// What a texture or surface object was made of.
struct TextureObject {
  int device = 0;
  bool surface = false;
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  std::optional<cudaResourceViewDesc> view;
};

/// Thread safe.
class Arrays {
public:
  Arrays(memory::AddressSpace& space, MemoryTable& memory) : space_(space), memory_(memory) {}

  tl::expected<Array, cudaError_t> allocate(
      const cudaChannelFormatDesc& channels,
      const cudaExtent& extent,
      unsigned flags,
      int device,
      std::uint64_t limit
  );
  tl::expected<MipmappedArray, cudaError_t> allocate_mipmapped(
      const cudaChannelFormatDesc& channels,
      const cudaExtent& extent,
      unsigned levels,
      unsigned flags,
      int device,
      std::uint64_t limit
  );
  std::optional<Array> find(cudaArray_const_t handle) const;
  std::optional<MipmappedArray> find(cudaMipmappedArray_const_t handle) const;
  /// Error: no such array, or a level of a mipmapped one.
  cudaError_t release(cudaArray_t handle);
  cudaError_t release(cudaMipmappedArray_t handle);

  /// The handle of a new object.
  tl::expected<memory::Address, cudaError_t> add(const TextureObject& object);
  std::optional<TextureObject> find_object(memory::Address handle, bool surface) const;
  cudaError_t remove(memory::Address handle, bool surface);
  std::size_t created_objects() const;

  /// cudaDeviceReset; the memory of arrays is MemoryTable's to free.
  void release_device(int device);

private:
  tl::expected<isa::TextureDescriptor, cudaError_t> describe(const TextureObject& object) const;
  tl::expected<isa::TextureDescriptor, cudaError_t>
  describe_resource(const TextureObject& object) const;

  memory::AddressSpace& space_;
  MemoryTable& memory_;
  mutable std::mutex mutex_;
  std::map<memory::Address, Array> arrays_; // levels of mipmapped ones too
  std::map<memory::Address, MipmappedArray> mipmapped_;
  std::map<memory::Address, TextureObject> objects_;
};

/// Bytes of a texel; 0: not a format that arrays may have.
std::uint32_t texel_bytes(const cudaChannelFormatDesc& channels);

class Runtime;
/// What cudaMemcpy3D and copy nodes of graphs describe.
tl::expected<Copy, cudaError_t> copy_of(Runtime& rt, const cudaMemcpy3DParms& p);

} // namespace heddle::runtime
