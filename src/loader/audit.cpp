// libheddle_audit.so: what Heddle does when the dynamic linker loads a program or library.
//
//   la_objopen     a runtime library inside (nvcc's default): its functions become Heddle's
//   la_objsearch   libcudart, libcuda and their kind are Heddle's, wherever a program looks for
//   them
//
// The interface is rtld-audit(7). An audit library sees each object before its constructors run,
// and those that are loaded later by dlopen, too, which a preloaded library would not.
#include "loader/redirect.h"
#include "loader/system.h"

#include <link.h>

namespace heddle::loader {
namespace {

constexpr std::size_t longest_path = 4096;

const char* file_name(const char* path) {
  const char* name = path;
  for (const char* c = path; *c != '\0'; ++c) {
    name = *c == '/' ? c + 1 : name;
  }
  return name;
}

bool ends_with(const char* text, const char* end) {
  const std::size_t n = length(text);
  const std::size_t m = length(end);
  return n >= m && compare(text + n - m, end) == 0;
}

[[noreturn]] void no_bind() {
  say("heddle: internal error: libheddle_bind.so is not loaded\n");
  for (;;) {
    system_call(SYS_exit_group, 70);
  }
}

/// The dynamic linker calls functions without a context, so this has to be process-wide.
struct State {
  void* bind = reinterpret_cast<void*>(&no_bind);
  char folder[longest_path] = {}; // of Heddle's libraries; ends with a slash
  char found[longest_path] = {};  // what la_objsearch has answered
};
State state;

/// The folder of this library, from LD_AUDIT in the environment that the process began with.
void find_own_folder() {
  const int file = open_file("/proc/self/environ");
  if (file < 0) {
    return;
  }
  constexpr char variable[] = "LD_AUDIT=";
  constexpr char own_name[] = "libheddle_audit.so";
  char text[longest_path];
  std::size_t used = 0; // of `text`: one variable
  char part[512];
  for (long n = 0; (n = system_call(SYS_read, file, address(part), sizeof part)) > 0;) {
    for (long i = 0; i < n; ++i) {
      if (used < sizeof text) {
        text[used++] = part[i];
      }
      if (part[i] != '\0') {
        continue;
      }
      text[sizeof text - 1] = '\0';
      used = 0;
      if (!begins_with(text, variable)) {
        continue;
      }
      // A list with colons: the element that ends with our name.
      for (char* element = text + sizeof variable - 1; *element != '\0';) {
        char* end = element;
        while (*end != '\0' && *end != ':') {
          ++end;
        }
        const bool last = *end == '\0';
        *end = '\0';
        if (ends_with(element, own_name)) {
          copy(state.folder, element, length(element) - (sizeof own_name - 1));
        }
        element = last ? end : end + 1;
      }
    }
  }
  system_call(SYS_close, file);
}

/// libcudart.so.13 of any folder is Heddle's, and so are the libraries of src/libraries.
bool has_stand_in(const char* name) {
  constexpr const char* all[] = {
      "libcudart.so.12",
      "libcudart.so.13",
      "libcuda.so.1",
      "libcuda.so",
      "libcublas.so.12",
      "libcublas.so.13"
  };
  for (const char* ours : all) {
    if (compare(name, ours) == 0) {
      return true;
    }
  }
  return false;
}

/// heddle_bind_first of libheddle_bind.so, whose only function it is.
void* find_bind(const link_map& object) {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // Not relocated yet: the dynamic linker does that after it has asked us, if at all.
    const std::uintptr_t value =
        entry->d_un.d_ptr < object.l_addr ? object.l_addr + entry->d_un.d_ptr : entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const Elf64_Sym*>(value);
    } else if (entry->d_tag == DT_STRTAB) {
      names = reinterpret_cast<const char*>(value);
    }
  }
  if (symbols == nullptr || names == nullptr) {
    return nullptr;
  }
  // The string table follows the symbols in what linkers make.
  for (const Elf64_Sym* s = symbols; reinterpret_cast<const char*>(s + 1) <= names; ++s) {
    if (s->st_shndx != SHN_UNDEF && compare(names + s->st_name, "heddle_bind_first") == 0) {
      return reinterpret_cast<void*>(object.l_addr + s->st_value);
    }
  }
  return nullptr;
}

} // namespace
} // namespace heddle::loader

using namespace heddle::loader;

#pragma GCC visibility push(default)
extern "C" {

unsigned la_version(unsigned /*version*/) {
  find_own_folder();
  return LAV_CURRENT;
}

unsigned la_objopen(link_map* object, Lmid_t space, std::uintptr_t* /*cookie*/) {
  if (space != LM_ID_BASE || object->l_name == nullptr) {
    return 0;
  }
  const bool program = object->l_name[0] == '\0';
  const char* const path = program ? "/proc/self/exe" : object->l_name;
  if (compare(file_name(path), "libheddle_bind.so") == 0) {
    if (void* const bind = find_bind(*object)) {
      state.bind = bind;
    }
    return 0;
  }
  redirect_static_runtime(path, object->l_addr, &state.bind);
  return 0;
}

char* la_objsearch(const char* name, std::uintptr_t* /*cookie*/, unsigned flag) {
  auto* const same = const_cast<char*>(name); // the interface's own signature
  if (flag != LA_SER_ORIG || state.folder[0] == '\0' || !has_stand_in(file_name(name))) {
    return same;
  }
  const std::size_t folder = length(state.folder);
  const std::size_t file = length(file_name(name));
  if (folder + file + 1 > sizeof state.found) {
    return same;
  }
  copy(state.found, state.folder, folder);
  copy(state.found + folder, file_name(name), file + 1);
  const bool there = !failed(system_call(SYS_faccessat, AT_FDCWD, address(state.found), 4));
  return there ? state.found : same;
}

} // extern "C"
#pragma GCC visibility pop
