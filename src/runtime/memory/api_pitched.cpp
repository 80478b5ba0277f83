// Pitched memory and the copies and sets of two and three dimensions between pitched pointers
// (api_array.cpp has those with arrays).
#include "runtime/memory/api_call.h"

using namespace heddle::runtime;

namespace {

constexpr std::size_t pitch_unit = 512; // as a real device

std::size_t pitch_for(std::size_t width) {
  return (width + pitch_unit - 1) / pitch_unit * pitch_unit;
}

cudaError_t allocate_rows(
    Runtime& rt,
    ThreadState& thread,
    void** p,
    std::size_t* pitch,
    std::size_t width,
    std::size_t rows
) {
  *p = nullptr;
  *pitch = pitch_for(width);
  if (width == 0 || rows == 0) {
    return cudaSuccess;
  }
  if (*pitch > rt.model().global_bytes || rows > rt.model().global_bytes / *pitch) {
    return cudaErrorMemoryAllocation;
  }
  const auto at =
      rt.memory().allocate_device(*pitch * rows, thread.device, rt.model().global_bytes);
  if (!at) {
    return at.error();
  }
  rt.space().restrict_to_peers(*at);
  *p = reinterpret_cast<void*>(*at);
  return cudaSuccess;
}

cudaError_t copy_2d(
    const Call& call,
    const Plane& to,
    const Plane& from,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind
) {
  return call_copy(call, kind, [&](Runtime&, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    // Of a single row the pitch is never used, but it is judged all the same.
    if (width > to.pitch || width > from.pitch) {
      return tl::unexpected(cudaErrorInvalidPitchValue);
    }
    Copy copy = linear_copy(const_cast<void*>(to.at), from.at, width);
    copy.height = height;
    copy.to_pitch = to.pitch;
    copy.from_pitch = from.pitch;
    return copy;
  });
}

cudaError_t set_2d(
    const Call& call,
    void* to,
    std::size_t pitch,
    int value,
    std::size_t width,
    std::size_t height
) {
  return call_set(call, [&]() -> tl::expected<Set, cudaError_t> {
    if (width > pitch && height > 1) {
      return tl::unexpected(cudaErrorInvalidPitchValue);
    }
    Set set = linear_set(to, value, width);
    set.height = height;
    set.pitch = pitch;
    return set;
  });
}

cudaError_t
set_3d(const Call& call, const cudaPitchedPtr& to, int value, const cudaExtent& extent) {
  return call_set(call, [&]() -> tl::expected<Set, cudaError_t> {
    if (extent.width > to.pitch || extent.height > to.ysize) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    Set set = linear_set(to.ptr, value, extent.width);
    set.height = extent.height;
    set.depth = extent.depth;
    set.pitch = to.pitch;
    set.slice = to.pitch * to.ysize;
    return set;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMallocPitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  return api("cudaMallocPitch", [&](Runtime& rt, ThreadState& thread) {
    return p == nullptr || pitch == nullptr ? cudaErrorInvalidValue
                                            : allocate_rows(rt, thread, p, pitch, width, height);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
  return api("cudaMalloc3D", [&](Runtime& rt, ThreadState& thread) {
    if (p == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (extent.depth != 0 && extent.height > ~std::size_t{0} / extent.depth) {
      return cudaErrorMemoryAllocation;
    }
    p->xsize = extent.width;
    p->ysize = extent.height;
    return allocate_rows(
        rt,
        thread,
        &p->ptr,
        &p->pitch,
        extent.width,
        extent.height * extent.depth
    );
  });
}

// clang-format off
HEDDLE_CALLS(cudaMemcpy2D, copy_2d, (Plane{to, to_pitch}, Plane{from, from_pitch}, width, height, kind),
    void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
    std::size_t width, std::size_t height, cudaMemcpyKind kind)
HEDDLE_CALLS(cudaMemset2D, set_2d, (to, pitch, value, width, height),
    void* to, std::size_t pitch, int value, std::size_t width, std::size_t height)
HEDDLE_CALLS(cudaMemset3D, set_3d, (to, value, extent), cudaPitchedPtr to, int value, cudaExtent extent)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
