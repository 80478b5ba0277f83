// Arrays: allocation, questions, and every copy that has an array at one of its ends.
#include "runtime/arrays/array.h"
#include "runtime/memory/api_call.h"
#include "runtime/memory/implicit_wait.h"

using namespace heddle::runtime;

namespace {

namespace memory = heddle::memory;

cudaError_t allocate(
    const char* what,
    cudaArray_t* result,
    const cudaChannelFormatDesc* channels,
    const cudaExtent& extent,
    unsigned flags
) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    if (result == nullptr || channels == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto made =
        rt.arrays().allocate(*channels, extent, flags, thread.device, rt.model().global_bytes);
    if (!made) {
      return made.error();
    }
    *result = made->handle();
    return cudaSuccess;
  });
}

template <class Handle>
cudaError_t about_other_kind(const char* what, const void* result, Handle array) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    return result == nullptr || rt.arrays().find(array) ? cudaErrorInvalidValue
                                                        : cudaErrorInvalidResourceHandle;
  });
}

/// Work that is under way may still use it.
template <class Handle>
cudaError_t free_array(Runtime& rt, int device, Handle array, const char* call) {
  const auto base = reinterpret_cast<memory::Address>(array);
  const auto owned = rt.memory().find(base);
  return free_implicitly(
      rt,
      {{device}},
      {base, owned ? owned->bytes : 0, [&rt, array] { return rt.arrays().release(array); }},
      call
  );
}

cudaError_t copy_3d(const Call& call, const cudaMemcpy3DParms* p) {
  return call_copy(
      call,
      p == nullptr ? cudaMemcpyDefault : p->kind,
      [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
        if (p == nullptr) {
          return tl::unexpected(cudaErrorInvalidValue);
        }
        return copy_of(rt, *p);
      }
  );
}

/// All devices share one address space, so which device an end is on makes no difference.
cudaError_t copy_3d_peer(const Call& call, const cudaMemcpy3DPeerParms* p) {
  if (p == nullptr) {
    return copy_3d(call, nullptr);
  }
  cudaMemcpy3DParms plain{};
  plain.srcArray = p->srcArray;
  plain.srcPos = p->srcPos;
  plain.srcPtr = p->srcPtr;
  plain.dstArray = p->dstArray;
  plain.dstPos = p->dstPos;
  plain.dstPtr = p->dstPtr;
  plain.extent = p->extent;
  plain.kind = cudaMemcpyDefault;
  return copy_3d(call, &plain);
}

/// A window of bytes and rows of the first slice of an array.
struct Window {
  cudaArray_const_t array = nullptr;
  std::size_t x = 0, y = 0; // bytes, rows
};

tl::expected<memory::Address, cudaError_t>
locate(Runtime& rt, const Window& w, std::size_t width, std::size_t height, std::uint64_t& pitch) {
  const auto array = rt.arrays().find(w.array);
  if (!array) {
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  pitch = array->pitch();
  if (w.x > pitch || width > pitch - w.x || w.y > array->rows() || height > array->rows() - w.y) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return array->data + w.y * pitch + w.x;
}

/// `bytes` in reading order from a point of an array, across rows.
tl::expected<memory::Address, cudaError_t> locate(Runtime& rt, const Window& w, std::size_t bytes) {
  const auto array = rt.arrays().find(w.array);
  if (!array) {
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  const std::uint64_t all = array->pitch() * array->rows();
  if (w.x >= array->pitch() || w.y >= array->rows()) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  const std::uint64_t start = w.y * array->pitch() + w.x;
  if (bytes > all - start) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return array->data + start;
}

cudaError_t copy_2d_to(
    const Call& call,
    const Window& to,
    const Plane& from,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind
) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    Copy result = linear_copy(nullptr, from.at, width);
    const auto at = locate(rt, to, width, height, result.to_pitch);
    if (!at || width > from.pitch) {
      return tl::unexpected(at ? cudaErrorInvalidPitchValue : at.error());
    }
    result.to = *at;
    result.height = height;
    result.from_pitch = from.pitch;
    return result;
  });
}

cudaError_t copy_2d_from(
    const Call& call,
    const Plane& to,
    const Window& from,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind
) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    Copy result = linear_copy(const_cast<void*>(to.at), nullptr, width);
    const auto at = locate(rt, from, width, height, result.from_pitch);
    if (!at || width > to.pitch) {
      return tl::unexpected(at ? cudaErrorInvalidPitchValue : at.error());
    }
    result.from = *at;
    result.height = height;
    result.to_pitch = to.pitch;
    return result;
  });
}

cudaError_t copy_2d_between(
    const Call& call,
    const Window& to,
    const Window& from,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind
) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    Copy result;
    const auto to_at = locate(rt, to, width, height, result.to_pitch);
    const auto from_at = locate(rt, from, width, height, result.from_pitch);
    if (!to_at || !from_at) {
      return tl::unexpected(!to_at ? to_at.error() : from_at.error());
    }
    result.to = *to_at;
    result.from = *from_at;
    result.width = width;
    result.height = height;
    return result;
  });
}

/// Bytes in reading order; an end without an array is plain memory.
cudaError_t copy_bytes(
    const Call& call,
    const Window& to,
    void* to_memory,
    const Window& from,
    const void* from_memory,
    std::size_t bytes,
    cudaMemcpyKind kind
) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    Copy result = linear_copy(to_memory, from_memory, bytes);
    if (to_memory == nullptr) {
      const auto at = locate(rt, to, bytes);
      if (!at) {
        return tl::unexpected(at.error());
      }
      result.to = *at;
    }
    if (from_memory == nullptr) {
      const auto at = locate(rt, from, bytes);
      if (!at) {
        return tl::unexpected(at.error());
      }
      result.from = *at;
    }
    return result;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMallocArray(
    cudaArray_t* array,
    const cudaChannelFormatDesc* channels,
    std::size_t width,
    std::size_t height,
    unsigned flags
) {
  return allocate("cudaMallocArray", array, channels, cudaExtent{width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(
    cudaArray_t* array,
    const cudaChannelFormatDesc* channels,
    cudaExtent extent,
    unsigned flags
) {
  return allocate("cudaMalloc3DArray", array, channels, extent, flags);
}

cudaError_t cudaMallocMipmappedArray(
    cudaMipmappedArray_t* result,
    const cudaChannelFormatDesc* channels,
    cudaExtent extent,
    unsigned levels,
    unsigned flags
) {
  return api("cudaMallocMipmappedArray", [&](Runtime& rt, ThreadState& thread) {
    if (result == nullptr || channels == nullptr || levels == 0) {
      return cudaErrorInvalidValue;
    }
    const auto made = rt.arrays().allocate_mipmapped(
        *channels,
        extent,
        levels,
        flags,
        thread.device,
        rt.model().global_bytes
    );
    if (!made) {
      return made.error();
    }
    *result = made->handle();
    return cudaSuccess;
  });
}

cudaError_t
cudaGetMipmappedArrayLevel(cudaArray_t* result, cudaMipmappedArray_const_t handle, unsigned level) {
  return api("cudaGetMipmappedArrayLevel", [&](Runtime& rt, ThreadState&) {
    const auto array = rt.arrays().find(handle);
    if (!array) {
      return cudaErrorInvalidResourceHandle;
    }
    if (result == nullptr || level >= array->levels.size()) {
      return cudaErrorInvalidValue;
    }
    *result = array->levels[level].handle();
    return cudaSuccess;
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return api("cudaFreeArray", [&](Runtime& rt, ThreadState& thread) {
    if (array == nullptr) {
      return cudaSuccess;
    }
    return free_array(rt, thread.device, array, "cudaFreeArray");
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return api("cudaFreeMipmappedArray", [&](Runtime& rt, ThreadState& thread) {
    if (array == nullptr) {
      return cudaSuccess;
    }
    return free_array(rt, thread.device, array, "cudaFreeMipmappedArray");
  });
}

cudaError_t cudaArrayGetInfo(
    cudaChannelFormatDesc* channels,
    cudaExtent* extent,
    unsigned* flags,
    cudaArray_t handle
) {
  return api("cudaArrayGetInfo", [&](Runtime& rt, ThreadState&) {
    const auto array = rt.arrays().find(handle);
    if (!array) {
      return cudaErrorInvalidResourceHandle;
    }
    if (channels != nullptr) {
      *channels = array->channels;
    }
    if (extent != nullptr) {
      *extent = array->extent;
    }
    if (flags != nullptr) {
      *flags = array->flags;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t handle) {
  return api("cudaGetChannelDesc", [&](Runtime& rt, ThreadState&) {
    const auto array = rt.arrays().find(handle);
    if (!array || channels == nullptr) {
      return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    }
    *channels = array->channels;
    return cudaSuccess;
  });
}

// clang-format off
HEDDLE_CALLS(cudaMemcpy3D, copy_3d, (p), const cudaMemcpy3DParms* p)
HEDDLE_CALLS(cudaMemcpy3DPeer, copy_3d_peer, (p), const cudaMemcpy3DPeerParms* p)
HEDDLE_CALLS(cudaMemcpy2DToArray, copy_2d_to,
    (Window{to, x, y}, Plane{from, pitch}, width, height, kind),
    cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
    std::size_t width, std::size_t height, cudaMemcpyKind kind)
HEDDLE_CALLS(cudaMemcpy2DFromArray, copy_2d_from,
    (Plane{to, pitch}, Window{from, x, y}, width, height, kind),
    void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
    std::size_t width, std::size_t height, cudaMemcpyKind kind)
HEDDLE_CALLS_AT_ONCE(cudaMemcpy2DArrayToArray, copy_2d_between,
    (Window{to, to_x, to_y}, Window{from, x, y}, width, height, kind),
    cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from, std::size_t x, std::size_t y,
    std::size_t width, std::size_t height, cudaMemcpyKind kind)
HEDDLE_CALLS(cudaMemcpyToArray, copy_bytes,
    (Window{to, x, y}, nullptr, Window{}, from, bytes, kind),
    cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, cudaMemcpyKind kind)
HEDDLE_CALLS(cudaMemcpyFromArray, copy_bytes,
    (Window{}, to, Window{from, x, y}, nullptr, bytes, kind),
    void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t bytes, cudaMemcpyKind kind)
HEDDLE_CALLS_AT_ONCE(cudaMemcpyArrayToArray, copy_bytes,
    (Window{to, to_x, to_y}, nullptr, Window{from, x, y}, nullptr, bytes, kind),
    cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from, std::size_t x, std::size_t y,
    std::size_t bytes, cudaMemcpyKind kind)
// clang-format on

// Neither sparse arrays nor those that are mapped later nor planar formats can be made, so the
// questions about them are wrong for every array.
cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* result, cudaArray_t array) {
  return about_other_kind("cudaArrayGetSparseProperties", result, array);
}
cudaError_t cudaMipmappedArrayGetSparseProperties(
    cudaArraySparseProperties* result,
    cudaMipmappedArray_t array
) {
  return about_other_kind("cudaMipmappedArrayGetSparseProperties", result, array);
}
cudaError_t cudaArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements* result,
    cudaArray_t array,
    int /*device*/
) {
  return about_other_kind("cudaArrayGetMemoryRequirements", result, array);
}
cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements* result,
    cudaMipmappedArray_t array,
    int /*device*/
) {
  return about_other_kind("cudaMipmappedArrayGetMemoryRequirements", result, array);
}
cudaError_t cudaArrayGetPlane(cudaArray_t* result, cudaArray_t array, unsigned int /*plane*/) {
  return about_other_kind("cudaArrayGetPlane", result, array);
}

} // extern "C"
#pragma GCC visibility pop
