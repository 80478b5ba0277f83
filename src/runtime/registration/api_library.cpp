// Libraries loaded while the program runs (cudaLibraryLoadData & co.; implements library.h).
//
// A library is there for every device; its variables exist once on each.
#include "runtime/memory/implicit_wait.h"
#include "runtime/memory/stream_ordered.h"
#include "runtime/registration/library.h"

#include <unistd.h>

namespace heddle::runtime {

tl::expected<FatBinary*, cudaError_t> load_texts(
    Runtime& rt,
    const Result<std::vector<std::string>>& texts,
    std::optional<int> device,
    const LoadLog& log
) {
  const auto fail = [&](const Error& error, cudaError_t code) {
    log.finish(error.message);
    return tl::unexpected(report_load_failure(error, code));
  };
  if (!texts) {
    return fail(texts.error(), cudaErrorNoKernelImageForDevice);
  }
  const Result<FatBinary*> loaded = rt.modules().load(*texts, device);
  if (!loaded) {
    return fail(loaded.error(), cudaErrorInvalidPtx);
  }
  log.finish({});
  if (StreamOrdered* lives = rt.stream_ordered()) {
    lives->made_by_host(reinterpret_cast<memory::Address>(*loaded), 1, StreamOrdered::Kind::Code);
  }
  return *loaded;
}

cudaError_t variable_of_library(
    const char* what,
    const void* handle,
    const char* name,
    bool managed,
    void** address,
    std::size_t* bytes
) {
  return about_library(what, handle, [&](Runtime& rt, ThreadState& thread, FatBinary& library) {
    if (name == nullptr || (address == nullptr && bytes == nullptr)) {
      return cudaErrorInvalidValue;
    }
    const auto place = rt.modules().place(library, name, library.device.value_or(thread.device));
    if (!place) {
      return place.error();
    }
    if (managed && !place->managed) {
      return cudaErrorSymbolNotFound;
    }
    if (address != nullptr) {
      *address = reinterpret_cast<void*>(place->address);
    }
    if (bytes != nullptr) {
      *bytes = place->bytes;
    }
    return cudaSuccess;
  });
}

} // namespace heddle::runtime

using namespace heddle::runtime;

namespace {

cudaError_t load(
    const char* what,
    cudaLibrary_t* library,
    const void* source,
    bool is_file,
    const LoadLog& log
) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    if (library == nullptr || source == nullptr) {
      return cudaErrorInvalidValue;
    }
    const int arch = arch_of(rt.model());
    const auto* path = static_cast<const char*>(source);
    if (is_file && ::access(path, R_OK) != 0) {
      return cudaErrorFileNotFound;
    }
    const auto loaded = load_texts(
        rt,
        is_file ? read_image_file(path, arch) : read_image(source, std::nullopt, arch),
        std::nullopt,
        log
    );
    if (!loaded) {
      return loaded.error();
    }
    *library = reinterpret_cast<cudaLibrary_t>(*loaded);
    return cudaSuccess;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaLibraryLoadData(
    cudaLibrary_t* library,
    const void* code,
    cudaJitOption* options,
    void** values,
    unsigned int count,
    cudaLibraryOption* /*library_options*/,
    void** /*library_values*/,
    unsigned int /*library_count*/
) {
  const LoadLog log(reinterpret_cast<const int*>(options), values, count);
  return load("cudaLibraryLoadData", library, code, /*is_file=*/false, log);
}

cudaError_t cudaLibraryLoadFromFile(
    cudaLibrary_t* library,
    const char* path,
    cudaJitOption* options,
    void** values,
    unsigned int count,
    cudaLibraryOption* /*library_options*/,
    void** /*library_values*/,
    unsigned int /*library_count*/
) {
  const LoadLog log(reinterpret_cast<const int*>(options), values, count);
  return load("cudaLibraryLoadFromFile", library, path, /*is_file=*/true, log);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return about_library(
      "cudaLibraryUnload",
      handle,
      [](Runtime& rt, ThreadState&, FatBinary& library) {
        const auto code = reinterpret_cast<heddle::memory::Address>(&library);
        if (StreamOrdered* lives = rt.stream_ordered()) {
          lives->ended_by_host(code, "cudaLibraryUnload");
        }
        const auto unload = [&rt, &library] {
          rt.modules().unload(library);
          return cudaSuccess;
        };
        return free_implicitly(rt, all_devices(rt), {0, 0, unload}, "cudaLibraryUnload");
      }
  );
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return about_library(
      "cudaLibraryGetKernel",
      handle,
      [&](Runtime& rt, ThreadState&, FatBinary& library) {
        if (kernel == nullptr || name == nullptr) {
          return cudaErrorInvalidValue;
        }
        Function* function = rt.modules().function_named(library, name);
        *kernel = reinterpret_cast<cudaKernel_t>(function);
        return function == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
      }
  );
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t handle) {
  return about_library(
      "cudaLibraryGetKernelCount",
      handle,
      [&](Runtime& rt, ThreadState&, FatBinary& library) {
        if (count == nullptr) {
          return cudaErrorInvalidValue;
        }
        *count = static_cast<unsigned>(rt.modules().kernel_names(library).size());
        return cudaSuccess;
      }
  );
}

cudaError_t
cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int count, cudaLibrary_t handle) {
  return about_library(
      "cudaLibraryEnumerateKernels",
      handle,
      [&](Runtime& rt, ThreadState&, FatBinary& library) {
        const auto names = rt.modules().kernel_names(library);
        if (kernels == nullptr || count == 0) {
          return cudaErrorInvalidValue;
        }
        for (std::size_t i = 0; i < count && i < names.size(); ++i) {
          kernels[i] =
              reinterpret_cast<cudaKernel_t>(rt.modules().function_named(library, names[i]));
        }
        return cudaSuccess;
      }
  );
}

cudaError_t
cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return variable_of_library(
      "cudaLibraryGetGlobal",
      library,
      name,
      /*managed=*/false,
      address,
      bytes
  );
}

cudaError_t
cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return variable_of_library(
      "cudaLibraryGetManaged",
      library,
      name,
      /*managed=*/true,
      address,
      bytes
  );
}

cudaError_t cudaKernelSetAttributeForDevice(
    cudaKernel_t kernel,
    cudaFuncAttribute attribute,
    int value,
    int device
) {
  if (!Runtime::get().valid_device(device)) {
    return record_error(thread_state(), cudaErrorInvalidDevice);
  }
  return cudaFuncSetAttribute(kernel, attribute, value); // attributes hold for all devices alike
}

} // extern "C"
#pragma GCC visibility pop
