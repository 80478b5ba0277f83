// Heddle's libcudart, as an operator needs it: work on a stream that the host computes on device
// memory (src/runtime/streams/library_work.h, whose declarations these are).
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace heddle_torch {

enum class Access : std::uint8_t {
  Read,
  Write,
  ReadWrite
};

struct Memory {
  const char* name;
  const void* at;
  std::uint64_t width, count, pitch;
  Access access;
  bool on_host;
};

struct Cudart {
  int (*work)(
      void* stream,
      const char* call,
      const Memory* memory,
      std::size_t count,
      void (*compute)(void* data, std::byte* const* at),
      void* data,
      void (*destroy)(void* data)
  );
  int (*synchronize)(void* stream);
  int (*capturing)(void* stream, int* status);
  void (*unsupported)(const char* call);
  void (*failed)(const char* call, const char* reason);
};

inline const Cudart& cudart() {
  static const Cudart found = [] {
    Cudart all;
    void* library = ::dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD);
    library = library != nullptr ? library : ::dlopen("libcudart.so.12", RTLD_LAZY | RTLD_NOLOAD);
    const auto find = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          library == nullptr ? nullptr : ::dlsym(library, name)
      );
      if (function == nullptr) {
        throw std::runtime_error(
            "PyTorch does not use Heddle's libcudart: start with 'heddle run'"
        );
      }
    };
    find(all.work, "heddle_library_work");
    find(all.synchronize, "cudaStreamSynchronize");
    find(all.capturing, "cudaStreamIsCapturing");
    find(all.unsupported, "heddle_library_unsupported");
    find(all.failed, "heddle_library_failed");
    return all;
  }();
  return found;
}

} // namespace heddle_torch
