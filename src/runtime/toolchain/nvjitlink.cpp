// libheddle_nvrtc.so, second half: nvJitLink's calls that hand out a linked cubin hand out what it
// was linked from, as an image that Heddle loads.
//
// NVIDIA's library still links, so that its errors and logs are what they are; the inputs are kept
// beside it. Code for link time optimisation (LTO IR) is no PTX: a second link by NVIDIA's library,
// with -ptx, makes PTX of it. Wrong where a program looks into the cubin itself, and where LTO IR
// and PTX that refer to each other are linked: functions of the LTO IR that only PTX calls are
// gone.
#include "runtime/registration/linked_image.h"
#include "runtime/toolchain/compiler_symbols.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace {

using heddle::runtime::join_inputs;

constexpr int success = 0;
constexpr int internal_error = 6; // NVJITLINK_ERROR_INTERNAL
constexpr int lto_ir = 3;         // NVJITLINK_INPUT_LTOIR

struct Input {
  int type = 0;
  std::string bytes;
};

/// What a program has given to one linker.
struct Linker {
  std::vector<std::string> options;
  std::vector<Input> inputs;
  std::optional<std::string> image;
};

struct Linkers {
  std::mutex mutex;
  std::map<void*, Linker> of; // by handle
};

/// Entry points take no context, so this has to be process-wide.
Linkers& linkers() {
  static Linkers all;
  return all;
}

/// The functions of NVIDIA's library carry its version in their names for those who are linked with
/// it, and none for those who load it.
class Library {
public:
  explicit Library(const char* version) : version_(version) {}

  template <class... Arguments> int call(const char* name, Arguments... arguments) const {
    const std::string full =
        std::string(*version_ == '\0' ? "nvJitLink" : "__nvJitLink") + name + version_;
    const auto next = reinterpret_cast<int (*)(Arguments...)>(
        heddle::runtime::next_compiler_symbol(full.c_str())
    );
    return next != nullptr ? next(arguments...) : internal_error;
  }

private:
  const char* version_;
};

int create(const Library& library, void** handle, std::uint32_t count, const char** options) {
  const int result = library.call("Create", handle, count, options);
  if (result == success) {
    const std::scoped_lock lock(linkers().mutex);
    linkers().of[*handle] = {.options = {options, options + count}, .inputs = {}, .image = {}};
  }
  return result;
}

int destroy(const Library& library, void** handle) {
  if (handle != nullptr) {
    const std::scoped_lock lock(linkers().mutex);
    linkers().of.erase(*handle);
  }
  return library.call("Destroy", handle);
}

void keep(void* handle, int type, std::string bytes) {
  const std::scoped_lock lock(linkers().mutex);
  linkers().of[handle].inputs.push_back({type, std::move(bytes)});
}

int add_data(
    const Library& library,
    void* handle,
    int type,
    const void* data,
    std::size_t size,
    const char* name
) {
  // What an earlier link has handed out is known to nobody but us.
  const std::string bytes(static_cast<const char*>(data), data != nullptr ? size : 0);
  const bool ours = bytes.starts_with(heddle::runtime::linked_magic);
  const int result = ours ? success : library.call("AddData", handle, type, data, size, name);
  if (result == success) {
    keep(handle, type, bytes);
  }
  return result;
}

int add_file(const Library& library, void* handle, int type, const char* path) {
  const int result = library.call("AddFile", handle, type, path);
  if (result == success) {
    std::ifstream file(path, std::ios::binary);
    keep(handle, type, {std::istreambuf_iterator<char>(file), {}});
  }
  return result;
}

/// What NVIDIA's library makes of these inputs as PTX.
std::optional<std::string>
ptx_of(const Library& library, const Linker& linker, const std::vector<const Input*>& inputs) {
  std::vector<const char*> options;
  for (const std::string& option : linker.options) {
    options.push_back(option.c_str());
  }
  options.push_back("-ptx");
  void* handle = nullptr;
  if (library.call("Create", &handle, static_cast<std::uint32_t>(options.size()), options.data()) !=
      success) {
    return std::nullopt;
  }
  bool works = true;
  for (const Input* input : inputs) {
    const void* data = input->bytes.data();
    works = works && library.call(
                         "AddData",
                         handle,
                         input->type,
                         data,
                         input->bytes.size(),
                         static_cast<const char*>("input")
                     ) == success;
  }
  std::size_t size = 0;
  works = works && library.call("Complete", handle) == success &&
          library.call("GetLinkedPtxSize", handle, &size) == success;
  std::string text(size, '\0');
  works = works && library.call("GetLinkedPtx", handle, text.data()) == success;
  library.call("Destroy", &handle);
  return works ? std::optional(text.c_str()) : std::nullopt;
}

std::string image_of(const Library& library, const Linker& linker) {
  bool optimises = false;
  for (const std::string& option : linker.options) {
    optimises = optimises || option == "-lto" || option == "--lto";
  }
  std::vector<const Input*> all;
  std::vector<const Input*> intermediate;
  for (const Input& input : linker.inputs) {
    all.push_back(&input);
    if (input.type == lto_ir) {
      intermediate.push_back(&input);
    }
  }
  if (optimises) {
    if (const auto text = ptx_of(library, linker, all)) {
      return join_inputs({*text});
    }
  }
  std::vector<std::string> parts;
  if (!intermediate.empty()) {
    if (const auto text = ptx_of(library, linker, intermediate)) {
      parts.push_back(*text);
    }
  }
  for (const Input* input : all) {
    if (input->type != lto_ir || input->bytes.starts_with(heddle::runtime::linked_magic)) {
      parts.push_back(input->bytes);
    }
  }
  return join_inputs(parts);
}

/// Nothing where the handle is not known, or was linked in a way that gives no cubin.
template <class Use> std::optional<int> with_image(const Library& library, void* handle, Use use) {
  const std::scoped_lock lock(linkers().mutex);
  const auto found = linkers().of.find(handle);
  if (found == linkers().of.end()) {
    return std::nullopt;
  }
  Linker& linker = found->second;
  if (!linker.image) {
    linker.image = image_of(library, linker);
  }
  use(*linker.image);
  return success;
}

int cubin_size(const Library& library, void* handle, std::size_t* size) {
  const int result = library.call("GetLinkedCubinSize", handle, size);
  if (result != success) {
    return result;
  }
  return with_image(library, handle, [&](const std::string& image) { *size = image.size(); })
      .value_or(result);
}

int cubin_bytes(const Library& library, void* handle, void* bytes) {
  return with_image(
             library,
             handle,
             [&](const std::string& image) { std::memcpy(bytes, image.data(), image.size()); }
  ).value_or(internal_error);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): NVIDIA's names
#define HEDDLE_JIT_LINK(prefix, version)                                                           \
  int prefix##nvJitLinkCreate##version(void** handle, std::uint32_t count, const char** options) { \
    return create(Library(#version), handle, count, options);                                      \
  }                                                                                                \
  int prefix##nvJitLinkDestroy##version(void** handle) {                                           \
    return destroy(Library(#version), handle);                                                     \
  }                                                                                                \
  int prefix##nvJitLinkAddData##version(                                                           \
      void* handle,                                                                                \
      int type,                                                                                    \
      const void* data,                                                                            \
      std::size_t size,                                                                            \
      const char* name                                                                             \
  ) {                                                                                              \
    return add_data(Library(#version), handle, type, data, size, name);                            \
  }                                                                                                \
  int prefix##nvJitLinkAddFile##version(void* handle, int type, const char* path) {                \
    return add_file(Library(#version), handle, type, path);                                        \
  }                                                                                                \
  int prefix##nvJitLinkGetLinkedCubinSize##version(void* handle, std::size_t* size) {              \
    return cubin_size(Library(#version), handle, size);                                            \
  }                                                                                                \
  int prefix##nvJitLinkGetLinkedCubin##version(void* handle, void* bytes) {                        \
    return cubin_bytes(Library(#version), handle, bytes);                                          \
  }

HEDDLE_JIT_LINK(, )
HEDDLE_JIT_LINK(__, _12_4)
HEDDLE_JIT_LINK(__, _12_5)
HEDDLE_JIT_LINK(__, _12_6)
HEDDLE_JIT_LINK(__, _12_7)
HEDDLE_JIT_LINK(__, _12_8)
HEDDLE_JIT_LINK(__, _12_9)
HEDDLE_JIT_LINK(__, _13_0)
HEDDLE_JIT_LINK(__, _13_1)
#undef HEDDLE_JIT_LINK
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"
#pragma GCC visibility pop
