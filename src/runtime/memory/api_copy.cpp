// Linear copies and sets, and copies to and from variables.
#include "runtime/memory/api_call.h"

using namespace heddle::runtime;

namespace {

cudaError_t
copy(const Call& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call_copy(call, kind, [&](Runtime&, ThreadState&) {
    return linear_copy(to, from, bytes);
  });
}

cudaError_t set(const Call& call, void* to, int value, std::size_t bytes) {
  return call_set(call, [&] { return linear_set(to, value, bytes); });
}

/// Part of a variable.
struct Part {
  const void* symbol;
  std::size_t bytes, offset;
};

cudaError_t
copy_to_symbol(const Call& call, const Part& to, const void* from, cudaMemcpyKind kind) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState& thread) {
    return copy_to_variable(rt, thread.device, to.symbol, from, to.bytes, to.offset, kind);
  });
}

cudaError_t copy_from_symbol(const Call& call, void* to, const Part& from, cudaMemcpyKind kind) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState& thread) {
    return copy_from_variable(rt, thread.device, to, from.symbol, from.bytes, from.offset, kind);
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_CALLS(cudaMemcpy, copy, (to, from, bytes, kind),
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
HEDDLE_CALLS(cudaMemset, set, (to, value, bytes), void* to, int value, std::size_t bytes)
HEDDLE_CALLS(cudaMemcpyToSymbol, copy_to_symbol, (Part{symbol, bytes, offset}, from, kind),
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind)
HEDDLE_CALLS(cudaMemcpyFromSymbol, copy_from_symbol, (to, Part{symbol, bytes, offset}, kind),
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind)
// clang-format on

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api("cudaGetSymbolAddress", [&](Runtime& rt, ThreadState& thread) {
    if (address == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto at = in_variable(rt, thread.device, symbol, 0, 0);
    if (!at) {
      return at.error();
    }
    *address = reinterpret_cast<void*>(*at);
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
