// Implements host_place.h.
#include "runtime/diagnostics/host_place.h"

#include "base/closed_libraries.h"
#include "explore/search/explorer.h"
#include "explore/verdict/source_places.h"
#include "report/names.h"
#include "runtime/diagnostics/python_place.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>

namespace heddle::runtime {
namespace {

struct Object {
  std::string file; // as it is called
  std::string path;
  std::uintptr_t bias = 0; // what the loader has added to addresses
  const void* base = nullptr;
  const char* symbol = nullptr;
  const void* symbol_at = nullptr;
};

/// Where the program lies. argv[0], which dladdr gives, is what it is called.
const std::string& program() {
  static const std::string path = [] {
    std::error_code failure;
    return std::filesystem::read_symlink("/proc/self/exe", failure).string();
  }();
  return path;
}

std::optional<Object> object_of(const void* address) {
  Dl_info info{};
  void* map = nullptr;
  if (::dladdr1(const_cast<void*>(address), &info, &map, RTLD_DL_LINKMAP) == 0 ||
      info.dli_fname == nullptr || map == nullptr) {
    return std::nullopt;
  }
  const auto* const loaded = static_cast<const link_map*>(map);
  return Object{
      info.dli_fname,
      *loaded->l_name != '\0' ? loaded->l_name : program(),
      loaded->l_addr,
      info.dli_fbase,
      info.dli_sname,
      info.dli_saddr
  };
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status),
      std::free
  );
  return status == 0 && text != nullptr ? text.get() : name;
}

/// "main (./app+0x1a42)"
std::string name_of(const Object& object, const void* address) {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(object.base);
  const std::string place = fmt::format("{}+{:#x}", object.file, offset);
  return object.symbol != nullptr ? fmt::format("{} ({})", demangled(object.symbol), place) : place;
}

bool is_library_of_the_system(const std::string& file) {
  return is_closed_library(std::string_view(file).substr(file.rfind('/') + 1)) ||
         file.find("/libc.so") != std::string::npos ||
         file.find("/libstdc++.so") != std::string::npos ||
         file.find("/libgcc_s.so") != std::string::npos;
}

} // namespace

namespace {

constexpr std::size_t most_frames = 24;

/// What the stack looked like when it was unwound last, and where its return addresses lie. Without
/// a destructor: what static objects free as the process ends asks, too, and by then the main
/// thread's own variables have been destroyed.
struct Unwound {
  const void* stack = nullptr;
  std::size_t count = 0;
  std::array<const void*, most_frames> frames{};
  std::array<const void* const*, most_frames> slots{};
  bool complete = false; // each slot held its return address

  /// Is it still the same? The innermost frame is: it is the same code at the same depth. Its
  /// return address says which code the next one is, and so on, so equal addresses mean equal
  /// frames. (A function that allocates on its stack could move them; then a slot holds something
  /// else.)
  bool fits(const void* now) const {
    if (!complete || now != stack) {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (*slots[i] != frames[i]) {
        return false;
      }
    }
    return true;
  }
};

_Unwind_Reason_Code add_frame(struct _Unwind_Context* context, void* argument) {
  auto& unwound = *static_cast<Unwound*>(argument);
  const auto address = _Unwind_GetIP(context);
  const auto cfa = _Unwind_GetCFA(context);
  if (address == 0 || unwound.count == most_frames) {
    return _URC_NORMAL_STOP;
  }
  const auto* const frame = reinterpret_cast<const void*>(address);
  if (cfa > reinterpret_cast<std::uintptr_t>(unwound.stack)) { // not callers() itself
    const auto* const slot = reinterpret_cast<const void* const*>(cfa) - 1;
    unwound.complete = unwound.complete && *slot == frame;
    unwound.frames[unwound.count] = frame;
    unwound.slots[unwound.count++] = slot;
  }
  return _URC_NO_REASON;
}

} // namespace

// A launch would take a third longer if each of them unwound the stack.
std::vector<const void*> callers() {
  thread_local Unwound last;
  static_assert(std::is_trivially_destructible_v<Unwound>);
  const void* const stack = __builtin_frame_address(0);
  if (!last.fits(stack)) {
    last = {.stack = stack, .complete = true};
    _Unwind_Backtrace(add_frame, &last);
  }
  const void* const* const first = last.frames.data();
  return std::vector<const void*>(first, first + last.count); // in braces: two addresses
}

std::vector<const void*> callers_of_api() {
  std::vector<const void*> frames = callers();
  if (const void* const script = explore::is_exploring() ? nullptr : python_caller()) {
    frames.insert(frames.begin(), script);
  }
  return frames;
}

std::vector<const void*> callers_in_call() {
  std::vector<const void*> frames = callers();
  if (const void* const script = python_line_here()) {
    frames.insert(frames.begin(), script);
  }
  return frames;
}

void add_host_place(
    report::Diagnostic& d,
    std::span<const void* const> frames,
    std::string_view what
) {
  if (const PythonPlace* const script = frames.empty() ? nullptr : python_place(frames.front())) {
    d.labels.push_back(
        {{script->file, static_cast<std::uint32_t>(script->line), 0, 0}, std::string(what)}
    );
    if (!d.place.known()) {
      d.place = d.labels.back().place;
    }
    return;
  }
  const auto own = object_of(reinterpret_cast<const void*>(&callers));
  std::optional<Object> object;
  const void* innermost = nullptr;
  std::string addresses = "@";
  for (const void* frame : frames) {
    const auto in = object_of(frame);
    if (!in || (own && in->base == own->base) || is_library_of_the_system(in->file)) {
      continue;
    }
    if (!object) {
      object = in;
      innermost = frame;
    }
    if (in->base == object->base) {
      const std::uintptr_t link = reinterpret_cast<std::uintptr_t>(frame) - in->bias;
      addresses += fmt::format("{}{:x}", addresses.size() == 1 ? "" : ",", link - 1);
    }
  }
  if (!object) {
    return;
  }
  explore::HostSources sources(object->path);
  const explore::Site site = sources.resolve({addresses, 0, 0, "inside"});
  if (site.line == 0) {
    d.notes.push_back(fmt::format("{}: {}", what, name_of(*object, innermost)));
    return;
  }
  d.labels.push_back({{site.file, site.line, 0, 0}, std::string(what)});
  if (!d.place.known()) {
    d.place = d.labels.back().place;
  }
  for (const explore::Site::Call& call : site.calls) {
    d.labels.push_back({{call.file, call.line, 0, 0}, call.how});
  }
}

void add_call(report::Diagnostic& d) {
  if (!explore::is_exploring()) {
    add_host_place(d, callers_of_api(), "called here");
  }
}

void add_launches(
    report::Diagnostic& d,
    std::span<const std::pair<std::string, std::vector<const void*>>> launches
) {
  std::vector<std::pair<std::string, std::vector<const void*>>> distinct;
  for (const auto& launch : launches) {
    if (!launch.second.empty() && std::ranges::find(distinct, launch) == distinct.end()) {
      distinct.push_back(launch);
    }
  }
  report::Diagnostic places(d.finding, "");
  for (const auto& [kernel, frames] : distinct) {
    const std::string name = report::kernel_in(kernel);
    add_host_place(
        places,
        frames,
        distinct.size() == 1 ? "launched from here"
                             : fmt::format("kernel '{}' is launched from here", name)
    );
  }
  d.notes.insert(d.notes.end(), places.notes.begin(), places.notes.end());
  const bool library = d.place.known() && explore::is_system_file(d.place.file);
  if (library && places.place.known()) {
    d.place = places.place; // what the user can change
  }
  d.labels.insert(
      library ? d.labels.begin() : d.labels.end(),
      places.labels.begin(),
      places.labels.end()
  );
}

} // namespace heddle::runtime
