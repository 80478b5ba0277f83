// The driver API: modules, libraries, kernels of libraries, and the linker of PTX (cuLink…).
//
// Linking only collects: the texts become one image (image.h), and are linked when it is loaded, so
// that a symbol nobody defines is reported then. Archives of compiled objects are machine code and
// are passed over: what a kernel calls of them is reported when it is loaded.
#include "runtime/driver/driver.h"
#include "runtime/registration/library.h"

#include <unistd.h>

#include <cstring>
#include <memory>

using namespace heddle::runtime;

namespace {

template <class To, class From> To* as(From* p) {
  return reinterpret_cast<To*>(p);
}

cudaError_t
load(const char* what, CUmodule* module, const void* source, bool is_file, const LoadLog& log) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    if (module == nullptr || source == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto* path = static_cast<const char*>(source);
    if (is_file && ::access(path, R_OK) != 0) {
      return cudaErrorFileNotFound;
    }
    const int arch = arch_of(rt.model());
    const auto loaded = load_texts(
        rt,
        is_file ? read_image_file(path, arch) : read_image(source, std::nullopt, arch),
        thread.device,
        log
    );
    if (!loaded) {
      return loaded.error();
    }
    *module = reinterpret_cast<CUmodule>(*loaded);
    return cudaSuccess;
  });
}

const LoadLog no_log(nullptr, nullptr, 0);

/// A kernel whose library or module is asked for.
template <class Body>
cudaError_t about_function(const char* what, const void* handle, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState&) -> cudaError_t {
    Function* function = rt.modules().function(handle);
    return function == nullptr ? cudaErrorInvalidResourceHandle : body(rt, *function);
  });
}

cudaError_t owner_of_function(const char* what, void** result, const void* handle) {
  return about_function(what, handle, [&](Runtime&, Function& function) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = function.owner;
    return cudaSuccess;
  });
}

/// What cuLinkCreate makes. Its address is the handle; freed by cuLinkDestroy.
struct LinkState {
  std::vector<std::string> texts;
  std::vector<std::byte> image;
  std::unique_ptr<LoadLog> log;
};

cudaError_t add_to_link(
    LinkState* state,
    CUjitInputType type,
    const heddle::Result<std::vector<std::string>>& texts
) {
  if (state == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (!texts) {
    state->log->finish(texts.error().message);
    return report_load_failure(
        texts.error(),
        type == CU_JIT_INPUT_PTX ? cudaErrorInvalidPtx : cudaErrorInvalidKernelImage
    );
  }
  state->texts.insert(state->texts.end(), texts->begin(), texts->end());
  return cudaSuccess;
}

int arch() {
  return arch_of(Runtime::get().model());
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER(cuModuleLoad, load("cuModuleLoad", module, path, /*is_file=*/true, no_log),
    CUmodule* module, const char* path)
HEDDLE_DRIVER(cuModuleLoadData, load("cuModuleLoadData", module, image, /*is_file=*/false, no_log),
    CUmodule* module, const void* image)
HEDDLE_DRIVER(cuModuleLoadFatBinary, load("cuModuleLoadFatBinary", module, image, /*is_file=*/false, no_log),
    CUmodule* module, const void* image)
HEDDLE_DRIVER(cuModuleLoadDataEx,
    load("cuModuleLoadDataEx", module, image, /*is_file=*/false, LoadLog(as<const int>(options), values, count)),
    CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values)
HEDDLE_DRIVER(cuModuleUnload, cudaLibraryUnload(as<CUlib_st>(module)), CUmodule module)
HEDDLE_DRIVER(cuModuleGetFunction,
    cudaLibraryGetKernel(as<cudaKernel_t>(function), as<CUlib_st>(module), name),
    CUfunction* function, CUmodule module, const char* name)
HEDDLE_DRIVER(cuModuleGetFunctionCount, cudaLibraryGetKernelCount(count, as<CUlib_st>(module)),
    unsigned* count, CUmodule module)
HEDDLE_DRIVER(cuModuleEnumerateFunctions,
    cudaLibraryEnumerateKernels(as<cudaKernel_t>(functions), count, as<CUlib_st>(module)),
    CUfunction* functions, unsigned count, CUmodule module)
HEDDLE_DRIVER(cuModuleGetGlobal_v2,
    variable_of_library("cuModuleGetGlobal", module, name, /*managed=*/false, pointer(p), bytes),
    CUdeviceptr* p, std::size_t* bytes, CUmodule module, const char* name)

HEDDLE_DRIVER(cuLibraryUnload, cudaLibraryUnload(library), CUlibrary library)
HEDDLE_DRIVER(cuLibraryGetKernel, cudaLibraryGetKernel(kernel, library, name),
    CUkernel* kernel, CUlibrary library, const char* name)
HEDDLE_DRIVER(cuLibraryGetKernelCount, cudaLibraryGetKernelCount(count, library),
    unsigned* count, CUlibrary library)
HEDDLE_DRIVER(cuLibraryEnumerateKernels, cudaLibraryEnumerateKernels(kernels, count, library),
    CUkernel* kernels, unsigned count, CUlibrary library)
HEDDLE_DRIVER(cuLibraryGetGlobal, cudaLibraryGetGlobal(pointer(p), bytes, library, name),
    CUdeviceptr* p, std::size_t* bytes, CUlibrary library, const char* name)
HEDDLE_DRIVER(cuLibraryGetManaged, cudaLibraryGetManaged(pointer(p), bytes, library, name),
    CUdeviceptr* p, std::size_t* bytes, CUlibrary library, const char* name)
HEDDLE_DRIVER(cuFuncGetModule, owner_of_function("cuFuncGetModule", as<void*>(module), function),
    CUmodule* module, CUfunction function)
HEDDLE_DRIVER(cuKernelGetLibrary, owner_of_function("cuKernelGetLibrary", as<void*>(library), kernel),
    CUlibrary* library, CUkernel kernel)
// clang-format on

// Loading a library needs no context: it is there for every device.
CUresult cuLibraryLoadData(
    CUlibrary* library,
    const void* code,
    CUjit_option* options,
    void** values,
    unsigned count,
    CUlibraryOption* /*library_options*/,
    void** /*library_values*/,
    unsigned /*library_count*/
) {
  return after_init([&] {
    return cudaLibraryLoadData(
        library,
        code,
        as<cudaJitOption>(options),
        values,
        count,
        nullptr,
        nullptr,
        0
    );
  });
}

CUresult cuLibraryLoadFromFile(
    CUlibrary* library,
    const char* path,
    CUjit_option* options,
    void** values,
    unsigned count,
    CUlibraryOption* /*library_options*/,
    void** /*library_values*/,
    unsigned /*library_count*/
) {
  return after_init([&] {
    return cudaLibraryLoadFromFile(
        library,
        path,
        as<cudaJitOption>(options),
        values,
        count,
        nullptr,
        nullptr,
        0
    );
  });
}

// A library, the module it is in a context, a kernel and its function in a context share a handle.
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return in_context([&] {
    return about_library(
        "cuLibraryGetModule",
        library,
        [&](Runtime&, ThreadState&, FatBinary& found) {
          if (module == nullptr) {
            return cudaErrorInvalidValue;
          }
          *module = reinterpret_cast<CUmodule>(&found);
          return cudaSuccess;
        }
    );
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return in_context([&] {
    return about_function("cuKernelGetFunction", kernel, [&](Runtime&, Function& found) {
      if (function == nullptr) {
        return cudaErrorInvalidValue;
      }
      *function = reinterpret_cast<CUfunction>(&found);
      return cudaSuccess;
    });
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_context([&] {
    if (state == nullptr) {
      return cudaErrorInvalidValue;
    }
    auto made = std::make_unique<LinkState>();
    made->log = std::make_unique<LoadLog>(as<const int>(options), values, count);
    *state = reinterpret_cast<CUlinkState>(made.release());
    return cudaSuccess;
  });
}

CUresult cuLinkAddData_v2(
    CUlinkState state,
    CUjitInputType type,
    void* data,
    std::size_t bytes,
    const char* /*name*/,
    unsigned /*count*/,
    CUjit_option* /*options*/,
    void** /*values*/
) {
  return in_context([&] {
    if (data == nullptr) {
      return cudaErrorInvalidValue;
    }
    return add_to_link(as<LinkState>(state), type, read_link_input(data, bytes, arch()));
  });
}

CUresult cuLinkAddFile_v2(
    CUlinkState state,
    CUjitInputType type,
    const char* path,
    unsigned /*count*/,
    CUjit_option* /*options*/,
    void** /*values*/
) {
  return in_context([&] {
    if (path == nullptr || ::access(path, R_OK) != 0) {
      return path == nullptr ? cudaErrorInvalidValue : cudaErrorFileNotFound;
    }
    return add_to_link(
        as<LinkState>(state),
        type,
        read_image_file(path, arch(), heddle::runtime::ImageUse::Link)
    );
  });
}

CUresult cuLinkComplete(CUlinkState handle, void** image, std::size_t* bytes) {
  return in_context([&] {
    auto* state = as<LinkState>(handle);
    if (state == nullptr || image == nullptr) {
      return cudaErrorInvalidValue;
    }
    state->image = link_image(state->texts);
    *image = state->image.data();
    if (bytes != nullptr) {
      *bytes = state->image.size();
    }
    state->log->finish({});
    return cudaSuccess;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return in_context([&] {
    const std::unique_ptr<LinkState> owned(as<LinkState>(state));
    return owned == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
