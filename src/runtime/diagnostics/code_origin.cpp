// Implements code_origin.h.
#include "runtime/diagnostics/code_origin.h"

#include <link.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <vector>

namespace heddle::runtime {
namespace {

struct Extent { // of a loaded object
  std::uintptr_t low = 0, high = 0;
  CodeOrigin origin = CodeOrigin::Other;
};

std::shared_mutex extents_mutex;
std::vector<Extent> extents; // by address

/// Does the object ask for the functions that instrumented code calls?
bool is_instrumented(const dl_phdr_info& object) {
  const char* text = nullptr;
  std::size_t bytes = 0;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) {
      continue;
    }
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) {
        text = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      } else if (entry->d_tag == DT_STRSZ) {
        bytes = entry->d_un.d_val;
      }
    }
  }
  // The loader makes addresses of these, but for the kernel's own object.
  return text != nullptr && reinterpret_cast<std::uintptr_t>(text) > object.dlpi_addr &&
         std::string_view(text, bytes).find("__tsan_func_entry") != std::string_view::npos;
}

CodeOrigin classify(const dl_phdr_info& object, std::uintptr_t low, std::uintptr_t high) {
  const std::string_view path = object.dlpi_name != nullptr ? object.dlpi_name : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto here = reinterpret_cast<std::uintptr_t>(&origin_of);
  if ((here >= low && here < high) || name.starts_with("libheddle") ||
      name.starts_with("libLLVM") || name.starts_with("libcudart.so") ||
      name.starts_with("libcuda.so")) {
    return CodeOrigin::Heddle;
  }
  if (name.starts_with("libstdc++.so") || name.starts_with("libc++.so") ||
      name.starts_with("libtsan.so")) {
    return CodeOrigin::Instrumented;
  }
  return is_instrumented(object) ? CodeOrigin::Instrumented : CodeOrigin::Other;
}

int add_extent(dl_phdr_info* object, std::size_t /*bytes*/, void* to) {
  Extent extent{~std::uintptr_t{0}, 0};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) {
      const std::uintptr_t at = object->dlpi_addr + part.p_vaddr;
      extent.low = std::min(extent.low, at);
      extent.high = std::max<std::uintptr_t>(extent.high, at + part.p_memsz);
    }
  }
  if (extent.low < extent.high) {
    extent.origin = classify(*object, extent.low, extent.high);
    static_cast<std::vector<Extent>*>(to)->push_back(extent);
  }
  return 0;
}

const Extent* extent_of(std::uintptr_t pc) {
  const auto next = std::ranges::upper_bound(extents, pc, {}, &Extent::low);
  return next != extents.begin() && pc < std::prev(next)->high ? &*std::prev(next) : nullptr;
}

} // namespace

CodeOrigin origin_of(const void* pc) {
  const auto at = reinterpret_cast<std::uintptr_t>(pc);
  {
    const std::shared_lock lock(extents_mutex);
    if (const Extent* known = extent_of(at)) {
      return known->origin;
    }
  }
  std::vector<Extent> found;
  ::dl_iterate_phdr(add_extent, &found);
  std::ranges::sort(found, {}, &Extent::low);
  const std::lock_guard lock(extents_mutex);
  extents = std::move(found);
  const Extent* known = extent_of(at);
  return known != nullptr ? known->origin : CodeOrigin::Other;
}

} // namespace heddle::runtime
