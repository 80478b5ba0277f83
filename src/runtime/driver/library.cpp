// libcuda.so.1: the names of the driver API, and nothing behind them.
//
// The implementation is in libcudart (driver/), so that a program which uses both APIs has one
// machine. Each function here jumps through a slot; the slots are filled when the library is
// loaded, from the libcudart of ours that the process has or else from the one beside this file.
// Found late, and therefore not shared: a libcudart that a program opens by itself afterwards, if
// it is of another major version.
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {

// In the order of the two lists, like the jumps below.
__attribute__((visibility("hidden"))) void* heddle_driver_slots[] = {
#define HEDDLE_ENTRY(name) nullptr,
#define HEDDLE_UNSUPPORTED(name) nullptr,
#include "runtime/driver/entry.def"
#include "runtime/driver/unsupported.def"
#undef HEDDLE_ENTRY
#undef HEDDLE_UNSUPPORTED
};
}

#define HEDDLE_TEXT_(x) #x
#define HEDDLE_TEXT(x) HEDDLE_TEXT_(x)
#define HEDDLE_JUMP(name, number)                                                                  \
  __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name                \
          ":\n  endbr64\n  jmp *heddle_driver_slots+8*" HEDDLE_TEXT(number) "(%rip)\n.size " #name \
                                                                            ", .-" #name "\n");

namespace {
enum : int {
  first_slot = __COUNTER__ // the next value is one more
};
} // namespace
#define HEDDLE_ENTRY(name) HEDDLE_JUMP(name, (__COUNTER__ - 1))
#define HEDDLE_UNSUPPORTED(name) HEDDLE_ENTRY(name)
#include "runtime/driver/entry.def"
#include "runtime/driver/unsupported.def"
#undef HEDDLE_ENTRY
#undef HEDDLE_UNSUPPORTED

namespace {

static_assert(first_slot == 0, "the first number that a jump uses is 0");

constexpr const char* names[] = {
#define HEDDLE_ENTRY(name) #name,
#define HEDDLE_UNSUPPORTED(name) #name,
#include "runtime/driver/entry.def"
#include "runtime/driver/unsupported.def"
#undef HEDDLE_ENTRY
#undef HEDDLE_UNSUPPORTED
};

using FindEntry = void* (*)(const char*);

FindEntry entries_of(const char* library, int flags) {
  void* handle = ::dlopen(library, flags);
  return handle == nullptr ? nullptr
                           : reinterpret_cast<FindEntry>(::dlsym(handle, "heddle_driver_entry"));
}

/// The library of this name beside this one.
std::string beside(const char* name) {
  Dl_info info{};
  if (::dladdr(static_cast<const void*>(heddle_driver_slots), &info) == 0) {
    return name;
  }
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

/// What a slot holds if there is no implementation: CUDA_ERROR_SHARED_OBJECT_INIT_FAILED.
int missing() {
  return 303;
}

__attribute__((constructor)) void loaded() {
  FindEntry find = nullptr;
  for (const char* library : {"libcudart.so.12", "libcudart.so.13"}) {
    if (find == nullptr) {
      find = entries_of(library, RTLD_LAZY | RTLD_NOLOAD);
    }
  }
  if (find == nullptr) {
    find = entries_of(beside("libcudart.so.13").c_str(), RTLD_NOW);
  }
  if (find == nullptr) {
    constexpr char text[] = "heddle: error: Heddle's libcuda.so.1 found no libcudart of Heddle\n";
    static_cast<void>(!::write(STDERR_FILENO, text, sizeof text - 1));
  }
  for (std::size_t i = 0; i < std::size(names); ++i) {
    void* entry = find != nullptr ? find(names[i]) : nullptr;
    heddle_driver_slots[i] = entry != nullptr ? entry : reinterpret_cast<void*>(&missing);
  }
}

} // namespace
