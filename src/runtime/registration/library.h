// Modules and libraries that a program loads while it runs: what the entry points of the runtime
// (cudaLibrary…) and of the driver API (cuModule…, cuLibrary…) share.
#pragma once

#include "runtime/registration/image.h"
#include "runtime/runtime.h"

namespace heddle::runtime {

/// Loads what an image holds; writes the program's log; says why if it cannot be. `device`: none
/// for a library. Errors: cudaErrorInvalidPtx, cudaErrorNoKernelImageForDevice,
/// cudaErrorNotSupported.
tl::expected<FatBinary*, cudaError_t> load_texts(
    Runtime& rt,
    const Result<std::vector<std::string>>& texts,
    std::optional<int> device,
    const LoadLog& log
);

/// The body of an entry point about a loaded library or module.
template <class Body> cudaError_t about_library(const char* what, const void* handle, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState& thread) -> cudaError_t {
    FatBinary* library = rt.modules().loaded(handle);
    return library == nullptr ? cudaErrorInvalidResourceHandle : body(rt, thread, *library);
  });
}

/// Where a variable of a library lies on the device that the calling thread uses. `bytes` and
/// `address` may be null.
cudaError_t variable_of_library(
    const char* what,
    const void* library,
    const char* name,
    bool managed,
    void** address,
    std::size_t* bytes
);

} // namespace heddle::runtime
