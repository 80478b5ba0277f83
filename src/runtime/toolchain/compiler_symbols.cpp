#include "runtime/toolchain/compiler_symbols.h"

#include <dlfcn.h>

#include <atomic>
#include <string_view>

namespace {

using Find = void* (*)(void* handle, const char* name);

/// What dlsym is without us. dlvsym is not replaced, and glibc knows this version everywhere.
/// No guarded variable: what stands in for the guard's functions (hostwatch) calls dlsym.
Find real_dlsym() {
  static std::atomic<Find> known = nullptr;
  Find real = known.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<Find>(::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
    known.store(real, std::memory_order_relaxed);
  }
  return real;
}

/// Functions that take no context, so these have to be process-wide.
std::atomic<void*> nvrtc_handle = nullptr;
std::atomic<void*> linker_handle = nullptr;

/// nullptr: no library whose functions we replace has functions of such names.
std::atomic<void*>* library_of(std::string_view name) {
  if (name.starts_with("nvrtc")) {
    return &nvrtc_handle;
  }
  return name.starts_with("nvJitLink") || name.starts_with("__nvJitLink") ? &linker_handle
                                                                          : nullptr;
}

/// Ours; found through a name of ours, as the file may have been moved.
void* own_handle() {
  Dl_info info = {};
  return ::dladdr(reinterpret_cast<const void*>(&real_dlsym), &info) != 0
             ? ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
             : nullptr;
}

} // namespace

namespace heddle::runtime {

void* next_compiler_symbol(const char* name) {
  if (void* const linked = real_dlsym()(RTLD_NEXT, name)) {
    return linked;
  }
  const std::atomic<void*>* const handle = library_of(name);
  return handle != nullptr && *handle != nullptr ? real_dlsym()(*handle, name) : nullptr;
}

} // namespace heddle::runtime

extern "C" {

/// Ours in the place of what dlsym(handle, name) would find; nullptr: we have none.
__attribute__((used, visibility("hidden"))) void*
heddle_replaced_symbol(void* handle, const char* name) {
  std::atomic<void*>* const library = library_of(name);
  if (library == nullptr || handle == RTLD_NEXT || real_dlsym()(handle, name) == nullptr) {
    return nullptr;
  }
  void* const ours = real_dlsym()(own_handle(), name);
  if (ours != nullptr && handle != RTLD_DEFAULT) {
    *library = handle;
  }
  return ours;
}

__attribute__((used, visibility("hidden"))) Find heddle_real_dlsym() {
  return real_dlsym();
}

} // extern "C"

// A jump and no call: RTLD_NEXT and RTLD_DEFAULT depend on who called, which glibc takes from the
// return address.
asm(R"(
    .text
    .globl dlsym
    .type dlsym, @function
dlsym:
    push %rdi
    push %rsi
    sub $8, %rsp
    call heddle_replaced_symbol
    test %rax, %rax
    jne 1f
    call heddle_real_dlsym
    add $8, %rsp
    pop %rsi
    pop %rdi
    jmp *%rax
1:  add $24, %rsp
    ret
    .size dlsym, . - dlsym
)");
