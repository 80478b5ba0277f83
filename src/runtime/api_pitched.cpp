// Pitched memory and the copies and sets of two and three dimensions between pitched pointers. CUDA
// arrays are another matter and not here.
#include "runtime/copy.h"

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
  *p = reinterpret_cast<void*>(*at);
  return cudaSuccess;
}

cudaError_t copy_2d(
    const char* what,
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind,
    cudaStream_t handle,
    Completion completion
) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    // Of a single row the pitch is never used, but it is judged all the same.
    if (width > to_pitch || width > from_pitch) {
      return cudaErrorInvalidPitchValue;
    }
    Copy copy = linear_copy(to, from, width);
    copy.height = height;
    copy.to_pitch = to_pitch;
    copy.from_pitch = from_pitch;
    return submit_copy(rt, **stream, copy, kind, completion, what);
  });
}

cudaError_t set_2d(
    const char* what,
    void* to,
    std::size_t pitch,
    int value,
    std::size_t width,
    std::size_t height,
    cudaStream_t handle,
    Completion completion
) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (width > pitch && height > 1) {
      return cudaErrorInvalidPitchValue;
    }
    Set set = linear_set(to, value, width);
    set.height = height;
    set.pitch = pitch;
    return submit_set(rt, **stream, set, completion, what);
  });
}

cudaError_t set_3d(
    const char* what,
    const cudaPitchedPtr& to,
    int value,
    const cudaExtent& extent,
    cudaStream_t handle,
    Completion completion
) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (extent.width > to.pitch || extent.height > to.ysize) {
      return cudaErrorInvalidValue;
    }
    Set set = linear_set(to.ptr, value, extent.width);
    set.height = extent.height;
    set.depth = extent.depth;
    set.pitch = to.pitch;
    set.slice = to.pitch * to.ysize;
    return submit_set(rt, **stream, set, completion, what);
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

cudaError_t cudaMemcpy2D(
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind
) {
  return copy_2d(
      "cudaMemcpy2D",
      to,
      to_pitch,
      from,
      from_pitch,
      width,
      height,
      kind,
      cudaStreamLegacy,
      Completion::Synchronous
  );
}
cudaError_t cudaMemcpy2D_ptds(
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind
) {
  return copy_2d(
      "cudaMemcpy2D",
      to,
      to_pitch,
      from,
      from_pitch,
      width,
      height,
      kind,
      cudaStreamPerThread,
      Completion::Synchronous
  );
}
cudaError_t cudaMemcpy2DAsync(
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return copy_2d(
      "cudaMemcpy2DAsync",
      to,
      to_pitch,
      from,
      from_pitch,
      width,
      height,
      kind,
      stream,
      Completion::Asynchronous
  );
}
cudaError_t cudaMemcpy2DAsync_ptsz(
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, per_thread(stream));
}

cudaError_t
cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return set_2d(
      "cudaMemset2D",
      to,
      pitch,
      value,
      width,
      height,
      cudaStreamLegacy,
      Completion::Synchronous
  );
}
cudaError_t
cudaMemset2D_ptds(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return set_2d(
      "cudaMemset2D",
      to,
      pitch,
      value,
      width,
      height,
      cudaStreamPerThread,
      Completion::Synchronous
  );
}
cudaError_t cudaMemset2DAsync(
    void* to,
    std::size_t pitch,
    int value,
    std::size_t width,
    std::size_t height,
    cudaStream_t stream
) {
  return set_2d(
      "cudaMemset2DAsync",
      to,
      pitch,
      value,
      width,
      height,
      stream,
      Completion::Asynchronous
  );
}
cudaError_t cudaMemset2DAsync_ptsz(
    void* to,
    std::size_t pitch,
    int value,
    std::size_t width,
    std::size_t height,
    cudaStream_t stream
) {
  return cudaMemset2DAsync(to, pitch, value, width, height, per_thread(stream));
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return set_3d("cudaMemset3D", to, value, extent, cudaStreamLegacy, Completion::Synchronous);
}
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr to, int value, cudaExtent extent) {
  return set_3d("cudaMemset3D", to, value, extent, cudaStreamPerThread, Completion::Synchronous);
}
cudaError_t
cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return set_3d("cudaMemset3DAsync", to, value, extent, stream, Completion::Asynchronous);
}
cudaError_t
cudaMemset3DAsync_ptsz(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return cudaMemset3DAsync(to, value, extent, per_thread(stream));
}

} // extern "C"
#pragma GCC visibility pop
