// libheddle_bind.so: gives the redirected functions of a statically linked runtime library
// (static_runtime.h) their places in Heddle's libcudart, at the first call of one of them.
//
// At that time every library that the call needs can be loaded and initialised, which is not so
// when the audit library sees the program. A name that Heddle's library of this version does not
// have ends the process when it is called (exit code 3, with a word).
#include "loader/static_runtime.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

using heddle::loader::StaticRuntime;

namespace {

/// The library of this name beside this one.
void* open_beside(const char* name) {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&open_beside), &info) == 0) {
    return nullptr;
  }
  const std::string_view own = info.dli_fname;
  char path[4096];
  const auto folder = static_cast<int>(own.rfind('/') + 1); // 0: none
  std::snprintf(path, sizeof path, "%.*s%s", folder, info.dli_fname, name);
  return ::dlopen(path, RTLD_NOW);
}

/// Of one process, one libcudart: the one that is there, whoever has brought it.
void* open_runtime(std::uint32_t major) {
  char name[32];
  std::snprintf(name, sizeof name, "libcudart.so.%u", major);
  void* const loaded = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  return loaded != nullptr ? loaded : open_beside(name);
}

} // namespace

extern "C" {

__attribute__((used, visibility("hidden"))) void*
heddle_bind(StaticRuntime* runtime, std::uint32_t index) {
  // What stdio has buffered is the program's.
  void* const library = open_runtime(runtime->major);
  if (library == nullptr) {
    std::fprintf(
        stderr,
        "heddle: error: this installation is incomplete: libcudart.so.%u cannot be loaded (%s)\n",
        runtime->major,
        ::dlerror()
    );
    std::_Exit(70);
  }
  for (std::uint32_t i = 0; i < runtime->count; ++i) {
    if (void* const function = ::dlsym(library, runtime->functions[i].name)) {
      __atomic_store_n(&runtime->functions[i].target, function, __ATOMIC_RELEASE);
    }
  }
  void* const wanted = ::dlsym(library, runtime->functions[index].name);
  if (wanted == nullptr) {
    std::fprintf(
        stderr,
        "heddle: unsupported: %s of the runtime library in '%s' is not in Heddle's "
        "libcudart.so.%u\n",
        runtime->functions[index].name,
        runtime->file,
        runtime->major
    );
    std::fflush(nullptr);
    std::_Exit(3);
  }
  return wanted;
}

} // extern "C"

// Keeps every register that may hold an argument. On the stack: runtime, index, return address.
asm(R"(
    .text
    .globl heddle_bind_first
    .type heddle_bind_first, @function
heddle_bind_first:
    push %rax
    push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    sub $128, %rsp
    movups %xmm0, (%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    mov 184(%rsp), %rdi
    mov 192(%rsp), %rsi
    call heddle_bind
    mov %rax, %r11
    movups (%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    add $128, %rsp
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    pop %rax
    add $16, %rsp
    jmp *%r11
    .size heddle_bind_first, . - heddle_bind_first
)");
