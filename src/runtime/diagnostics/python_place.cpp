// Implements python_place.h.
#include "runtime/diagnostics/python_place.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace heddle::runtime {
namespace {

using Object = void*;

/// The functions of the interpreter in this process.
struct Python {
  int (*initialised)() = nullptr;
  int (*has_lock)() = nullptr;
  Object (*thread)() = nullptr;
  int (*take_lock)() = nullptr;
  void (*give_lock)(int) = nullptr;
  Object (*error)() = nullptr;
  Object (*frame)() = nullptr;
  Object (*code)(Object) = nullptr;
  Object (*outer)(Object) = nullptr;
  int (*line)(Object) = nullptr;
  Object (*attribute)(Object, const char*) = nullptr;
  const char* (*text)(Object) = nullptr;
  void (*clear_error)() = nullptr;
  void (*hold)(Object) = nullptr;
  void (*release)(Object) = nullptr;
};

template <class Function> bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

std::optional<Python> find_python() {
  Python p;
  const bool complete =
      find(p.initialised, "Py_IsInitialized") && find(p.has_lock, "PyGILState_Check") &&
      find(p.thread, "PyGILState_GetThisThreadState") && find(p.take_lock, "PyGILState_Ensure") &&
      find(p.give_lock, "PyGILState_Release") && find(p.error, "PyErr_Occurred") &&
      find(p.frame, "PyEval_GetFrame") && find(p.code, "PyFrame_GetCode") &&
      find(p.outer, "PyFrame_GetBack") && find(p.line, "PyFrame_GetLineNumber") &&
      find(p.attribute, "PyObject_GetAttrString") && find(p.text, "PyUnicode_AsUTF8") &&
      find(p.clear_error, "PyErr_Clear") && find(p.hold, "Py_IncRef") &&
      find(p.release, "Py_DecRef");
  return complete ? std::optional(p) : std::nullopt;
}

bool is_installed(std::string_view file) {
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos ||
         file.find("/lib/python") != std::string_view::npos || file.starts_with("<");
}

PythonPlace place_of(const Python& python, Object frame) {
  PythonPlace place;
  const Object code = python.code(frame);
  if (const Object name = python.attribute(code, "co_filename")) {
    const char* text = python.text(name);
    place.file = text != nullptr ? text : "";
    python.release(name);
  }
  place.line = python.line(frame);
  python.release(code);
  return place;
}

/// With Python's lock.
std::optional<PythonPlace> innermost(const Python& python) {
  constexpr int most_frames = 64;
  Object frame = python.error() == nullptr ? python.frame() : nullptr;
  if (frame == nullptr) {
    return std::nullopt;
  }
  python.hold(frame);
  std::optional<PythonPlace> first;
  for (int i = 0; i < most_frames && frame != nullptr; ++i) {
    PythonPlace place = place_of(python, frame);
    const bool users = !place.file.empty() && !is_installed(place.file);
    if (users || !first) {
      first = std::move(place);
    }
    const Object outer = users ? nullptr : python.outer(frame);
    python.release(frame);
    frame = outer;
  }
  if (frame != nullptr) {
    python.release(frame);
  }
  python.clear_error(); // there was none before
  return first;
}

/// Places live as long as the process: their addresses are kept like return addresses.
struct Places {
  std::mutex mutex;
  std::map<std::pair<std::string, int>, PythonPlace> by_line;
  std::set<const void*> known;
};
Places& places() {
  static auto* const all = new Places;
  return *all;
}

/// nullptr: there is none, or this thread does not execute Python.
const Python* interpreter() {
  static const std::optional<Python> python = find_python();
  const bool here = python && python->initialised() != 0 && python->thread() != nullptr;
  return here ? &*python : nullptr;
}

const void* keep(const std::optional<PythonPlace>& place) {
  if (!place || place->file.empty()) {
    return nullptr;
  }
  const std::lock_guard lock(places().mutex);
  const PythonPlace& kept =
      places().by_line.try_emplace({place->file, place->line}, *place).first->second;
  places().known.insert(&kept);
  return &kept;
}

} // namespace

const void* python_caller() {
  const Python* const python = interpreter();
  if (python == nullptr) {
    return nullptr;
  }
  if (python->has_lock() != 0) {
    return keep(innermost(*python));
  }
  const int state = python->take_lock();
  const std::optional<PythonPlace> place = innermost(*python);
  python->give_lock(state);
  return keep(place);
}

const void* python_line_here() {
  const Python* const python = interpreter();
  return python != nullptr && python->has_lock() != 0 ? keep(innermost(*python)) : nullptr;
}

const PythonPlace* python_place(const void* address) {
  const std::lock_guard lock(places().mutex);
  return places().known.contains(address) ? static_cast<const PythonPlace*>(address) : nullptr;
}

} // namespace heddle::runtime
