// Every entry point of the driver API by its name: for libcuda.so.1, whose functions jump here
// (library.cpp), and for programs that ask at run time (cuGetProcAddress, cudaGetDriverEntryPoint).
//
// A name may stand for several functions: programs compiled with a newer CUDA mean the newer form
// (version.def), and those whose default stream is the thread's own mean …_ptsz or …_ptds.
#include "runtime/diagnostics/announce.h"
#include "runtime/driver/driver.h"
#include "runtime/version.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

// This file names functions without NVIDIA's macros, which rename them.
namespace {
namespace entry {
extern "C" {
#define HEDDLE_ENTRY(name) void heddle_entry_##name() __asm__(#name);
#define HEDDLE_UNSUPPORTED(name) HEDDLE_ENTRY(name)
#include "runtime/driver/entry.def"
#include "runtime/driver/unsupported.def"
#undef HEDDLE_ENTRY
#undef HEDDLE_UNSUPPORTED
}
} // namespace entry

using Code = void (*)();
using Table = std::map<std::string_view, Code>;

const Table& table() {
  static const auto* const all = new Table{
#define HEDDLE_ENTRY(name) {#name, &entry::heddle_entry_##name},
#define HEDDLE_UNSUPPORTED(name) HEDDLE_ENTRY(name)
#include "runtime/driver/entry.def"
#include "runtime/driver/unsupported.def"
#undef HEDDLE_ENTRY
#undef HEDDLE_UNSUPPORTED
  };
  return *all;
}

struct Version {
  std::string_view base;
  int since;
  std::string_view name;
};
constexpr Version versions[] = {
#define HEDDLE_DRIVER_VERSION(base, since, name) {#base, since, #name},
#include "runtime/driver/version.def"
#undef HEDDLE_DRIVER_VERSION
};

Code find(const std::string& name) {
  const auto it = table().find(name);
  return it == table().end() ? nullptr : it->second;
}

} // namespace

namespace heddle::runtime {

EntryPoint find_entry_point(const char* symbol, int version, bool per_thread_stream) {
  std::string name = symbol;
  int newest = 0;
  for (const Version& v : versions) {
    if (v.base == symbol && v.since <= version && v.since > newest) {
      newest = v.since;
      name = v.name;
    }
  }
  Code found = nullptr;
  if (per_thread_stream) {
    found = find(name + "_ptsz");
    if (found == nullptr) {
      found = find(name + "_ptds");
    }
  }
  if (found == nullptr) {
    found = find(name);
  }
  if (found == nullptr) {
    return {};
  }
  return {reinterpret_cast<void*>(found), CU_GET_PROC_ADDRESS_SUCCESS};
}

} // namespace heddle::runtime

using namespace heddle::runtime;

namespace {

/// The name of the library or program that this code belongs to.
std::string file_of(const void* code) {
  Dl_info info{};
  if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
    return "a library";
  }
  return std::filesystem::path(info.dli_fname).filename();
}

/// Compilers and tools ask, and do their work all the same.
bool does_without(std::string_view library) {
  return std::ranges::any_of(
      std::to_array<std::string_view>({"libnvrtc", "libnvJitLink", "libnvvm", "libcupti"}),
      [&](std::string_view name) { return library.starts_with(name); }
  );
}

constexpr cuuint64_t per_thread_flag = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

CUresult look_up(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags,
    CUdriverProcAddressQueryResult* found
) {
  if (symbol == nullptr || function == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EntryPoint entry = find_entry_point(symbol, version, (flags & per_thread_flag) != 0);
  *function = entry.address;
  if (found != nullptr) { // then that tells, as a driver 580 does
    *found = entry.found;
    return CUDA_SUCCESS;
  }
  return entry.address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

cudaError_t look_up(
    const char* symbol,
    void** function,
    int version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* status
) {
  return api("cudaGetDriverEntryPoint", [&](Runtime&, ThreadState&) {
    if (symbol == nullptr || function == nullptr) {
      return cudaErrorInvalidValue;
    }
    const bool mine = (flags & cudaEnablePerThreadDefaultStream) != 0;
    const EntryPoint entry = find_entry_point(symbol, version, mine);
    *function = entry.address;
    if (status != nullptr) {
      *status = static_cast<cudaDriverEntryPointQueryResult>(entry.found);
      return cudaSuccess;
    }
    return entry.address != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return look_up(symbol, function, version, flags, nullptr);
}
CUresult cuGetProcAddress_v2(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags,
    CUdriverProcAddressQueryResult* found
) {
  return look_up(symbol, function, version, flags, found);
}

// Tables of functions that NVIDIA's libraries agreed on among themselves: there are none here. A
// library with a runtime of its own (cuBLAS, cuFFT) asks for them when it is to use the device, and
// its calls fail with codes that tell nothing, so this does.
CUresult cuGetExportTable(const void** table, const CUuuid* /*id*/) {
  if (table == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::string asks = file_of(__builtin_return_address(0));
  if (!does_without(asks)) {
    complain_closed(asks);
  }
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol,
    void** function,
    unsigned int version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* status
) {
  return look_up(symbol, function, static_cast<int>(version), flags, status);
}
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol,
    void** function,
    unsigned int version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* status
) {
  if ((flags & cudaEnableLegacyStream) == 0) {
    flags |= cudaEnablePerThreadDefaultStream;
  }
  return look_up(symbol, function, static_cast<int>(version), flags, status);
}
cudaError_t cudaGetDriverEntryPoint(
    const char* symbol,
    void** function,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* status
) {
  return look_up(symbol, function, cudart_version(), flags, status);
}
cudaError_t cudaGetDriverEntryPoint_ptsz(
    const char* symbol,
    void** function,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* status
) {
  return cudaGetDriverEntryPointByVersion_ptsz(
      symbol,
      function,
      static_cast<unsigned>(cudart_version()),
      flags,
      status
  );
}

/// What libcuda.so.1 calls: the function of exactly this name.
void* heddle_driver_entry(const char* name) {
  return reinterpret_cast<void*>(find(name));
}

} // extern "C"
#pragma GCC visibility pop
