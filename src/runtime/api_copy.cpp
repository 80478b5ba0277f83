// Linear copies and sets, and copies to and from variables.
#include "runtime/copy.h"

using namespace heddle::runtime;

namespace {

cudaError_t copy(
    const char* what,
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t handle,
    Completion completion
) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    return stream ? submit_copy(rt, **stream, linear_copy(to, from, bytes), kind, completion, what)
                  : stream.error();
  });
}

cudaError_t
set(const char* what,
    void* to,
    int value,
    std::size_t bytes,
    cudaStream_t handle,
    Completion completion) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    return stream ? submit_set(rt, **stream, linear_set(to, value, bytes), completion, what)
                  : stream.error();
  });
}

/// Where `bytes` bytes at `offset` of a variable lie.
tl::expected<std::byte*, cudaError_t> in_variable(
    Runtime& rt,
    ThreadState& thread,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset
) {
  const Variable* variable = rt.modules().variable(symbol);
  if (variable == nullptr) {
    return tl::unexpected(cudaErrorInvalidSymbol);
  }
  const auto place = rt.modules().place(*variable, thread.device);
  if (!place) {
    return tl::unexpected(place.error());
  }
  if (offset > place->bytes || bytes > place->bytes - offset) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return reinterpret_cast<std::byte*>(place->address) + offset;
}

cudaError_t copy_to_symbol(
    const char* what,
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t handle,
    Completion completion
) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    const auto to = in_variable(rt, thread, symbol, bytes, offset);
    if (!to) {
      return to.error();
    }
    const auto stream = rt.stream(handle);
    return stream ? submit_copy(rt, **stream, linear_copy(*to, from, bytes), kind, completion, what)
                  : stream.error();
  });
}

cudaError_t copy_from_symbol(
    const char* what,
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t handle,
    Completion completion
) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    const auto from = in_variable(rt, thread, symbol, bytes, offset);
    if (!from) {
      return from.error();
    }
    const auto stream = rt.stream(handle);
    return stream ? submit_copy(rt, **stream, linear_copy(to, *from, bytes), kind, completion, what)
                  : stream.error();
  });
}

constexpr auto waiting = Completion::Synchronous;
constexpr auto returning = Completion::Asynchronous;

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy("cudaMemcpy", to, from, bytes, kind, cudaStreamLegacy, waiting);
}
cudaError_t cudaMemcpy_ptds(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy("cudaMemcpy", to, from, bytes, kind, cudaStreamPerThread, waiting);
}

cudaError_t cudaMemcpyAsync(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return copy("cudaMemcpyAsync", to, from, bytes, kind, stream, returning);
}
cudaError_t cudaMemcpyAsync_ptsz(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return cudaMemcpyAsync(to, from, bytes, kind, per_thread(stream));
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return set("cudaMemset", to, value, bytes, cudaStreamLegacy, waiting);
}
cudaError_t cudaMemset_ptds(void* to, int value, std::size_t bytes) {
  return set("cudaMemset", to, value, bytes, cudaStreamPerThread, waiting);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return set("cudaMemsetAsync", to, value, bytes, stream, returning);
}
cudaError_t cudaMemsetAsync_ptsz(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return cudaMemsetAsync(to, value, bytes, per_thread(stream));
}

cudaError_t cudaMemcpyToSymbol(
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  return copy_to_symbol(
      "cudaMemcpyToSymbol",
      symbol,
      from,
      bytes,
      offset,
      kind,
      cudaStreamLegacy,
      waiting
  );
}
cudaError_t cudaMemcpyToSymbol_ptds(
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  return copy_to_symbol(
      "cudaMemcpyToSymbol",
      symbol,
      from,
      bytes,
      offset,
      kind,
      cudaStreamPerThread,
      waiting
  );
}
cudaError_t cudaMemcpyToSymbolAsync(
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return copy_to_symbol(
      "cudaMemcpyToSymbolAsync",
      symbol,
      from,
      bytes,
      offset,
      kind,
      stream,
      returning
  );
}
cudaError_t cudaMemcpyToSymbolAsync_ptsz(
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, per_thread(stream));
}

cudaError_t cudaMemcpyFromSymbol(
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  return copy_from_symbol(
      "cudaMemcpyFromSymbol",
      to,
      symbol,
      bytes,
      offset,
      kind,
      cudaStreamLegacy,
      waiting
  );
}
cudaError_t cudaMemcpyFromSymbol_ptds(
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  return copy_from_symbol(
      "cudaMemcpyFromSymbol",
      to,
      symbol,
      bytes,
      offset,
      kind,
      cudaStreamPerThread,
      waiting
  );
}
cudaError_t cudaMemcpyFromSymbolAsync(
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return copy_from_symbol(
      "cudaMemcpyFromSymbolAsync",
      to,
      symbol,
      bytes,
      offset,
      kind,
      stream,
      returning
  );
}
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t stream
) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, per_thread(stream));
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api("cudaGetSymbolAddress", [&](Runtime& rt, ThreadState& thread) {
    if (address == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto at = in_variable(rt, thread, symbol, 0, 0);
    if (!at) {
      return at.error();
    }
    *address = *at;
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api("cudaGetSymbolSize", [&](Runtime& rt, ThreadState& thread) {
    if (bytes == nullptr) {
      return cudaErrorInvalidValue;
    }
    const Variable* variable = rt.modules().variable(symbol);
    if (variable == nullptr) {
      return cudaErrorInvalidSymbol;
    }
    const auto place = rt.modules().place(*variable, thread.device);
    if (!place) {
      return place.error();
    }
    *bytes = place->bytes;
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
